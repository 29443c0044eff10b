"""``HeadSurvey``, ``AnswerSurvey``, ``CorpusAgreement``: results of surveys in JSON files.

They hold numbers, and no text but examples.

``heads.json``: roles and effects of all heads; roles and direct contributions are observed, effects come from
passes with one head ablated. ``answers.json``: attention, direct contributions and effects over many edits.
``agreement.json``: the agreement of attribution methods with occlusion.

Shapes: L layers, H heads, D d_model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from model.analysis.roles import COPIED, ROLES, leading_role
from model.stored.folder import ModelFolderError, write_atomically
from model.trace.interventions import Head, Node, every_node

HEADS_FILE = "heads.json"


class Mean(NamedTuple):
    """A mean of each head or part, and half the width of its 95% interval; nan where unknown."""

    mean: np.ndarray  # float64, of heads (L, H)
    margin: np.ndarray  # of the same shape; nan where one sentence alone gives none
    rows: int
    chance: float | None = None  # of a role: its mean in a head that looks evenly at all it may see

    @classmethod
    def of(cls, found: dict) -> Mean:
        """The numbers of a file. Raises ValueError where mean and margin have different shapes.

        >>> Mean.of({"mean": [0.5], "margin": [None], "rows": 1}).rows
        1
        """
        mean, margin = (np.array(found[name], float) for name in ("mean", "margin"))
        if mean.shape != margin.shape:
            raise ValueError(f"a mean should have the shape {margin.shape}, received {mean.shape}")
        chance = found.get("chance")
        return cls(mean, margin, int(found["rows"]), None if chance is None else float(chance))


def _means(found: dict, *names: str) -> dict[tuple[str, ...], Mean]:
    """All means of nested mappings, by the names that lead to each."""
    if "mean" in found:
        return {names: Mean.of(found)}
    return {place: mean for name, each in found.items() for place, mean in _means(each, *names, name).items()}


class HeadSurvey:
    """The survey of heads, from the JSON of ``heads.json`` or from a survey that is still running.

    Raises:
        KeyError, TypeError, ValueError: for anything else.
    """

    def __init__(self, found: dict):
        self.fingerprint: str = found["fingerprint"]  # of the weights alone: ``folder.of_weights``
        self.kinds: tuple[str, ...] = tuple(found["kinds"])
        self.sentences, self.effect_sentences = int(found["sentences"]), int(found["effect_sentences"])
        self.judged, self.judged_right = int(found["pruning_sentences"]), int(found["pruning_right"])
        self.overlap = int(found["pruning_overlap"])
        self.pruning: dict[str, list[list[float]]] = found["pruning"]
        self._roles, self._effects = _means(found["roles"]), _means(found["effects"])
        self.answer_sentences = int(found.get("answer_sentences", 0))  # 0 without attributed fixes
        self._written = _means(found.get("written", {}))
        self._examples, self._shown = found["examples"], found["sentences_shown"]
        # (L, H, D/H)
        self.means = {kind: np.array(each, np.float32) for kind, each in found["means"].items()}

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(L, H) of each kind of attention; (0, 0) without any measurement."""
        return next((each.mean.shape for each in self._roles.values()), (0, 0))

    @property
    def heads(self) -> list[Head]:
        """All heads, kind by kind and layer by layer.

        >>> from assets import FOLDER
        >>> survey = read_head_survey(FOLDER / "transformer")
        >>> len(survey.heads), survey.heads[0]
        (48, Head(kind='encoder_attention', layer=0, head=0))
        """
        return [Head(kind, *place) for kind in self.kinds for place in np.ndindex(self.shape)]

    def role(self, kind: str, role: str, name: str) -> Mean | None:
        """The share (L, H) of a role in heads of a kind at rows of a class; None if no row could show it."""
        return self._roles.get((kind, role, name))

    def effect(self, kind: str, name: str) -> Mean | None:
        """The effect (L, H) of ablating each head, in nats: "edited", "copied" or "loss".

        None without a measurement.
        """
        return self._effects.get((kind, name))

    def written(self, kind: str, name: str) -> Mean | None:
        """The direct contribution of heads to the score of a fix, or of a copied character, in nats.

        None without a measurement, and for the encoder's heads, which contribute nothing directly.
        """
        return self._written.get((kind, name))

    def leading(self, head: Head, name: str = COPIED) -> str:
        """The leading role of the head at rows of a class, ``roles.leading_role``.

        >>> from assets import FOLDER
        >>> survey = read_head_survey(FOLDER / "transformer")
        >>> survey.leading(Head("cross_attention", 3, 0)) in ROLES
        True
        """
        known = {role: each for role in ROLES if (each := self.role(head.kind, role, name)) is not None}
        means = {role: float(each.mean[head.layer, head.head]) for role, each in known.items()}
        return leading_role(
            means, {role: each.chance for role, each in known.items() if each.chance is not None}
        )

    def leading_roles(self, name: str = COPIED) -> dict[str, list[list[str]]]:
        """By kind, for each layer the leading role of each head.

        >>> from assets import FOLDER
        >>> survey = read_head_survey(FOLDER / "transformer")
        >>> {kind: np.shape(roles) for kind, roles in survey.leading_roles().items()}["cross_attention"]
        (4, 4)
        """
        leading = [self.leading(head, name) for head in self.heads]
        grids = np.reshape(leading, (len(self.kinds), *self.shape))
        return dict(zip(self.kinds, grids.tolist(), strict=True))

    def example(self, head: Head, role: str) -> tuple[str, int] | None:
        """The typed sentence in which the head plays the role most, and the row (Q) there.

        >>> from assets import FOLDER
        >>> survey = read_head_survey(FOLDER / "transformer")
        >>> sentence, row = survey.example(Head("cross_attention", 3, 0), ROLES[0])
        >>> 0 <= row <= len(sentence)
        True
        """
        grid = self._examples.get(head.kind, {}).get(role)
        if grid is None:
            return None
        place, row = grid[head.layer][head.head]
        return self._shown[place][0], row


def read_head_survey(folder: Path) -> HeadSurvey | None:
    """The survey of a model folder; None without a file.

    Raises:
        ModelFolderError: for a damaged file.
    """
    return _read(folder / HEADS_FILE, HeadSurvey, "survey of heads")


Read = TypeVar("Read")


def _read(path: Path, made: Callable[[Any], Read], what: str) -> Read | None:
    """The object ``made`` of a file's JSON; None without a file.

    Raises ModelFolderError for a damaged one.
    """
    if not path.is_file():
        return None
    try:
        return made(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ModelFolderError(f"{path} is no {what}: {error!r}") from error


ANSWERS_FILE = "answers.json"
_DIGITS = 4


class AnswerSurvey:
    """The content of ``answers.json``, read from its JSON.

    Raises:
        KeyError, TypeError, ValueError: for anything else.
    """

    def __init__(self, found: dict):
        self.fingerprint: str = found["fingerprint"]  # of the weights alone: ``folder.of_weights``
        self.sentences, self.circuits = int(found["sentences"]), int(found["circuit_sentences"])
        self.kinds: tuple[str, ...] = tuple(found["kinds"])  # of attention
        self.layers, self.heads = map(int, found["shape"])
        self._groups: dict[str, dict] = found["groups"]

    @property
    def groups(self) -> tuple[str, ...]:
        """ "all", the kinds of mistakes, "rule:…", "coda:…" and "copied".

        >>> from assets import FOLDER
        >>> survey = AnswerSurvey(json.loads((FOLDER / "transformer" / ANSWERS_FILE).read_text("utf-8")))
        >>> survey.groups[:2]
        ('all', 'coda:ㄱ')
        """
        return tuple(self._groups)

    def of(self, group: str, quantity: str) -> Mean | None:
        """The mean of a quantity of a group; None without a measurement."""
        found = self._groups.get(group, {}).get(quantity)
        return None if found is None else Mean.of(found)

    def edits(self, group: str) -> int:
        """The number of edits, or for "copied" of characters, of a group.

        >>> from assets import FOLDER
        >>> survey = AnswerSurvey(json.loads((FOLDER / "transformer" / ANSWERS_FILE).read_text("utf-8")))
        >>> survey.edits("all") < survey.edits("copied"), survey.edits("no group")
        (True, 0)
        """
        found = self.of(group, "wrote")
        return found.rows if found else 0

    @cached_property
    def looking(self) -> tuple[Node, ...]:
        """The heads in the order of "looked".

        >>> from assets import FOLDER
        >>> survey = AnswerSurvey(json.loads((FOLDER / "transformer" / ANSWERS_FILE).read_text("utf-8")))
        >>> len(survey.looking), survey.looking[-1]
        (48, Node(kind='cross_attention', layer=3, head=3))
        """
        return tuple(
            Node(kind, *place) for kind in self.kinds for place in np.ndindex(self.layers, self.heads)
        )

    @cached_property
    def acting(self) -> tuple[Node, ...]:
        """The nodes in the order of "mattered", "direct" and "circuit_members".

        >>> from assets import FOLDER
        >>> survey = AnswerSurvey(json.loads((FOLDER / "transformer" / ANSWERS_FILE).read_text("utf-8")))
        >>> len(survey.acting)  # 48 heads, 8 feed-forward networks
        56
        """
        return every_node(self.layers, self.heads)

    @cached_property
    def writing(self) -> tuple[Node | str, ...]:
        """The parts in the order of "wrote"; other parts than nodes by their names.

        >>> from assets import FOLDER
        >>> survey = AnswerSurvey(json.loads((FOLDER / "transformer" / ANSWERS_FILE).read_text("utf-8")))
        >>> len(survey.writing), survey.writing[:2]
        (40, ('embedding', 'position'))
        """
        decoder = (node for node in self.acting if node.side == "decoder")
        return ("embedding", "position", *decoder, "projection_bias", "output_bias")


def plain_numbers(values: np.ndarray) -> list:
    """Rounded, as lists; null for nan, such as a margin of one sentence alone.

    >>> plain_numbers(np.array([0.12341, np.nan]))
    [0.1234, None]
    """
    rounded = np.round(values, _DIGITS)
    return np.where(np.isfinite(rounded), rounded.astype(object), np.array(None, object)).tolist()


def write_answers(folder: Path, found: dict) -> Path:
    """Write ``survey_files.answers`` into ``folder``, as a whole or not at all.

    Raises:
        OSError: for a folder that cannot be written to.
    """
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    write_atomically(folder / ANSWERS_FILE, lambda file: file.write(f"{text}\n".encode()))
    return folder / ANSWERS_FILE


AGREEMENT_FILE = "agreement.json"


class Agreed(NamedTuple):
    """The agreement of one method with occlusion: means, each with half the width of its 95% interval."""

    first: float  # in 0..1: how often it names the same source character first
    first_margin: float
    correlation: float  # in -1..1: rank correlation over the source characters
    correlation_margin: float


@dataclass(frozen=True)
class CorpusAgreement:
    """The agreement of all methods with occlusion over many edits."""

    fingerprint: str  # of the measured weights: ``folder.of_weights``
    edits: int
    sentences: int
    methods: dict[str, Agreed]


def write_agreement(folder: Path, found: CorpusAgreement) -> None:
    """Write ``agreement.json`` into a model folder, as a whole or not at all.

    Raises:
        OSError: for a folder that cannot be written to.
    """
    text = json.dumps(asdict(found), indent=1)
    write_atomically(folder / AGREEMENT_FILE, lambda file: file.write(f"{text}\n".encode()))


def read_agreement(folder: Path) -> CorpusAgreement | None:
    """The agreement of a model folder; None without a file.

    Raises:
        ModelFolderError: for a damaged file.
    """

    def made(read: dict) -> CorpusAgreement:
        methods = {name: Agreed(*map(float, each)) for name, each in read["methods"].items()}
        return CorpusAgreement(str(read["fingerprint"]), int(read["edits"]), int(read["sentences"]), methods)

    return _read(folder / AGREEMENT_FILE, made, "agreement of methods")
