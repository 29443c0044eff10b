"""Data for the documents' tables: measured numbers, read, chosen, ordered and summed.

``Sources`` reads the data files: those of the shipped models, and those of ``docs/numbers``. The functions
choose rows from them, and templates write the rows.

The earlier rows of the tables of weights are kept as text in ``docs/numbers/past/``, the latest first:
``python -m training ship`` adds the row of the weights that it is about to replace. Earlier rows are of the
errors and sets of their own time, so they are not measured again.
"""

import csv
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from model.analysis.roles import EDITED
from model.stored.config import TransformerConfig
from model.stored.folder import ASSETS, DEFAULT_MODEL, fingerprint, of_weights, read_config
from model.survey.results import ANSWERS_FILE, HEADS_FILE, AnswerSurvey, HeadSurvey, Mean
from model.survey.sums import CODA, RULE
from model.trace.interventions import Head, Node
from training.run.record import read_runs


class MissingNumbersError(Exception):
    """A data file is not there; the message names it."""


class Sources:
    """All measured numbers by name.

    Args:
        root: Folder with the documents and ``docs/numbers``.
        model: Folder of the shipped model.
        given: Contents in place of files of ``docs/numbers``, by their names.

    Example:
        >>> Sources().config.num_heads
        4
        >>> Sources(given={"attention": {"edits": 3}}).measured("attention")
        {'edits': 3}
    """

    def __init__(
        self,
        root: Path = ASSETS.parent,
        model: Path = ASSETS / DEFAULT_MODEL,
        given: Mapping[str, dict[str, Any]] | None = None,
    ):
        self.root, self.model, self.given = root, model, given or {}
        self.numbers = root / "docs" / "numbers"

    def measured(self, name: str) -> dict[str, Any]:
        """A file of ``docs/numbers``, by its path there without ``.json``. Raises MissingNumbersError."""
        return self.given[name] if name in self.given else _read(self.numbers / f"{name}.json")

    def has(self, name: str) -> bool:
        """Whether ``measured`` finds a file of this name: the newest measurements may be still to be made.

        >>> Sources(given={"attention": {}}).has("attention"), Sources().has("no such file")
        (True, False)
        """
        return name in self.given or (self.numbers / f"{name}.json").exists()

    def past(self, table: str) -> list[list[str]]:
        """The rows of the weights shipped before in a table of them, the latest first.

        >>> Sources().past("no such table")
        []
        """
        path = self.numbers / "past" / f"{table}.csv"
        return [*csv.reader(path.read_text("utf-8").splitlines())][1:] if path.exists() else []

    def evaluation(self, model: str | None = None) -> dict[str, Any]:
        """The development sentences' ``evaluation.json`` of the shipped model, or of one beside it.

        Raises MissingNumbersError.
        """
        if model is None and "evaluation" in self.given:
            return self.given["evaluation"]
        folder = self.model if model is None else self.model.parent / model
        return _read(folder / "evaluation.json")

    @cached_property
    def config(self) -> TransformerConfig:
        """The shape of the shipped network. Raises TypeError where it is no Transformer."""
        config = read_config(self.model)
        if not isinstance(config, TransformerConfig):
            raise TypeError(f"{self.model} should hold a Transformer, received {config.architecture}")
        return config

    @cached_property
    def weights(self) -> str:
        """The fingerprint of the shipped weights alone, 12 hexadecimal digits.

        Raises ModelFolderError where the folder holds no model.
        """
        return of_weights(fingerprint(self.model))

    @cached_property
    def name(self) -> str:
        """The name of these weights, such as "run 61". Raises MissingNumbersError."""
        return self.measured("weights")["name"]

    @property
    def called(self) -> str:
        """Name and minimum confidence of the shipped weights, as tables name them: "run 61; 0.8"."""
        return f"{self.name}; {self.evaluation()['minimum_confidence']:g}"

    @property
    def parameters(self) -> int:
        """How many numbers the shipped network has.

        >>> Sources().parameters > 1_000_000
        True
        """
        with np.load(self.model / "weights.npz") as arrays:
            return sum(arrays[name].size for name in arrays.files)

    def megabytes(self, name: str) -> float:
        """The size of a file of the shipped model, in MB of 10^6 bytes. Raises FileNotFoundError."""
        return (self.model / name).stat().st_size / 1e6

    def taken(self, quantity: str) -> float:
        """The sum of ``quantity`` ("pairs", "seconds") over all trainings of the shipped weights."""
        return sum(run["taken"][quantity] for run in read_runs(self.model))

    @cached_property
    def survey(self) -> HeadSurvey:
        """Roles and effects of the heads: ``heads.json``. Raises MissingNumbersError."""
        return HeadSurvey(_read(self.model / HEADS_FILE))

    @cached_property
    def answers(self) -> AnswerSurvey:
        """Attention, attribution, ablation over many edits: ``answers.json``. Raises MissingNumbersError."""
        return AnswerSurvey(_read(self.model / ANSWERS_FILE))


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise MissingNumbersError(f"{path} is missing: python -m training ship makes it") from error


# The sets of ``python -m training sets``, each of one question.
QUESTIONS = ("everyday", "general", "rare", "several", "spaces")
FAMILIES = ("clean", "mixed", "native", "pronunciation", "spacing", "typing")
SHOWN = (0, 0.2, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # minimum confidences in the tables
_NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf-8"))
METHODS, KINDS, SIDES, MISTAKES, CHANGED = (
    _NAMES[table] for table in ("methods", "kinds", "sides", "mistakes", "changed")
)
ALL, LOSS = "all", "loss"
NOTHING = "–"  # where there is no number
PARTS = 12  # rows in the table of parts
WRITERS = 3  # parts that are named for each rule
FEWEST = 10  # edits of a group that has a row


def in_language(names: Sequence[str], language: str) -> str:
    """The Korean or the English one of two names.

    >>> in_language(("헤드", "head"), "ko")
    '헤드'
    """
    return names[0 if language == "ko" else 1]


def head_name(head: Head, language: str = "en") -> str:
    """A head in words: its kind of attention, then layer and head, counted from 1.

    >>> head_name(Head("cross_attention", 0, 2)), head_name(Head("cross_attention", 0, 2), "ko")
    ('decoder→encoder 1·3', '디코더→인코더 1·3')
    """
    kind = head.kind.removesuffix("_attention")
    return f"{in_language(SIDES.get(kind, (kind, kind)), language)} {head.layer + 1}·{head.head + 1}"


def node_name(node: Node, language: str = "en") -> str:
    """A head, or a feed-forward network, in words; layers and heads count from 1.

    >>> node_name(Node("cross_attention", 3, 0)), node_name(Node("decoder_feed_forward", 3))
    ('decoder→encoder 4·1', 'decoder feed-forward 4')
    """
    if node.head is not None:
        return head_name(Head(node.kind, node.layer, node.head), language)
    network = in_language(("피드포워드", "feed-forward"), language)
    return f"{in_language(SIDES[node.side], language)} {network} {node.layer + 1}"


@cache
def _texts(language: str, file: str = "kinds") -> dict[str, str]:
    return json.loads((ASSETS / "texts" / language / f"{file}.json").read_text("utf-8"))


def claim_name(claim: str, language: str = "en") -> str:
    """A kind of claim as the app's picture names it.

    >>> claim_name("circuit")
    'Circuit'
    """
    return _texts(language, "circuits")[f"receipt_{claim}_short"]


def group_name(group: str, language: str = "en") -> str:
    """A group of edits in words.

    >>> group_name("rule:liaison", "ko"), group_name("coda:ㄱ"), group_name("all")
    ('연음', 'coda ㄱ put back', 'all')
    """
    if group.startswith(RULE):
        return _texts(language)[f"rule_{group.removeprefix(RULE)}"]
    if group.startswith(CODA):
        name = in_language(("받침 {}을 되찾음", "coda {} put back"), language)
        return name.format(group.removeprefix(CODA))
    return in_language(("모두", "all") if group == ALL else KINDS[group], language)


def kinds_of(survey: AnswerSurvey) -> list[str]:
    """All edits together, then the kinds of mistakes that have any.

    >>> kinds_of(Sources().answers)[0]
    'all'
    """
    return [ALL, *(kind for kind in KINDS if survey.edits(kind))]


def groups_of(survey: AnswerSurvey) -> list[str]:
    """Kinds of mistakes, rules of pronunciation and final consonants with at least ``FEWEST`` edits.

    >>> "copied" in groups_of(Sources().answers)
    False
    """
    others = [name for name in survey.groups if name.startswith((RULE, CODA))]
    return [group for group in [*kinds_of(survey), *others] if survey.edits(group) >= FEWEST]


def parts_that_matter(survey: AnswerSurvey) -> list[Node]:
    """The ``PARTS`` heads and feed-forward networks with the largest effect of ablation, the largest first.

    >>> len(parts_that_matter(Sources().answers)) == PARTS
    True
    """
    total = survey.of(ALL, "mattered")
    if total is None:
        return []
    return [survey.acting[place] for place in np.argsort(-np.abs(total.mean), kind="stable")[:PARTS]]


def _order(survey: AnswerSurvey, quantity: str) -> tuple[Any, ...]:
    return {"looked": survey.looking, "wrote": survey.writing}.get(quantity, survey.acting)


def of_part(survey: AnswerSurvey, group: str, quantity: str, node: Node) -> Mean | None:
    """A quantity of one part ("looked", a share; else nats); None where it was not measured."""
    found, order = survey.of(group, quantity), _order(survey, quantity)
    if found is None or node not in order:
        return None
    place = order.index(node)
    return Mean(found.mean[place], found.margin[place], found.rows)


def of_layer(survey: AnswerSurvey, group: str, quantity: str, kind: str, layer: int) -> float | None:
    """The sum of a quantity over the parts of one kind in one layer, in nats; None if it was not measured."""
    found, order = survey.of(group, quantity), _order(survey, quantity)
    nodes = [node for node in survey.acting if (node.kind, node.layer) == (kind, layer)]
    return None if found is None else float(sum(found.mean[order.index(node)] for node in nodes))


def writers_of(survey: AnswerSurvey, group: str) -> list[tuple[Node, float]]:
    """The ``WRITERS`` parts with the largest direct logit attribution for the fix, each with its nats."""
    found = survey.of(group, "wrote")
    assert found is not None, "a group with edits has this"
    nats = zip(survey.writing, map(float, found.mean), strict=True)
    named = [(part, each) for part, each in nats if isinstance(part, Node)]
    return sorted(named, key=lambda each: -each[1])[:WRITERS]


def heads_of_stories(survey: HeadSurvey) -> dict[str, Head]:
    """Three heads: without "loss" most is lost; "for" speaks most for fixes, "against" most against them.

    Raises ValueError where an effect was not measured.
    """

    def best(name: str, sign: int) -> Head:
        values = np.concatenate([_effect(survey, kind, name).mean.ravel() for kind in survey.kinds])
        return survey.heads[int((sign * values).argmax())]

    return {LOSS: best(LOSS, 1), "for": best(EDITED, -1), "against": best(EDITED, 1)}


def _effect(survey: HeadSurvey, kind: str, name: str) -> Mean:
    found = survey.effect(kind, name)
    if found is None:
        raise ValueError(f"the survey did not measure the effect {name} of {kind}")
    return found


Measure = tuple[float, float] | None  # a mean, and half its 95% interval


def shares_of(survey: HeadSurvey, heads: Mapping[str, Head], role: str, at: str) -> list[Measure]:
    """The share of attention that each head spends on a role, at copied or at edited characters.

    Of heads (H,); a mean with half its 95% interval, or None.
    """
    return [_of_head(survey.role(head.kind, role, at), head) for head in heads.values()]


def effects_of(survey: HeadSurvey, heads: Mapping[str, Head], name: str) -> list[Measure]:
    """The effect of each head's ablation, in nats."""
    return [_of_head(survey.effect(head.kind, name), head) for head in heads.values()]


def _of_head(found: Mean | None, head: Head) -> Measure:
    at = head.layer, head.head
    return None if found is None else (found.mean[at], found.margin[at])


def second_loss(survey: HeadSurvey) -> float | None:
    """The second largest loss of a right sentence's log probability without one head, in nats."""
    losses = np.concatenate([_effect(survey, kind, LOSS).mean.ravel() for kind in survey.kinds])
    return float(np.sort(losses)[-2]) if losses.size > 1 else None


def pruning_rows(survey: HeadSurvey) -> Iterator[tuple[int, list[float | None]]]:
    """(heads removed, shares): exact and untouched, each for the least effective first and for the mean of
    random orders.

    >>> next(pruning_rows(Sources().survey))[0]
    0
    """
    orders = [rows for name, rows in survey.pruning.items() if name != "effect"]
    random = np.mean(orders, axis=0) if orders else np.array(survey.pruning["effect"]) * np.nan
    both = zip(survey.pruning["effect"], random, strict=True)
    for (removed, exact, left), (_, by_chance, left_by_chance) in both:
        shares = (exact, by_chance, left, left_by_chance)
        yield int(removed), [None if np.isnan(each) else float(each) for each in shares]


def in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    """The names in the order of ``order``; unknown ones come last.

    >>> in_order(["c", "b", "a"], ["a", "b"])
    ['a', 'b', 'c']
    """
    known = list(order)
    return sorted(names, key=lambda name: known.index(name) if name in known else len(known))


def nearest(thresholds: Iterable[dict[str, Any]], minimum: float) -> dict[str, Any]:
    """The measures at the minimum confidence that is nearest to ``minimum``.

    >>> nearest([{"minimum_confidence": 0.7}, {"minimum_confidence": 0.8}], 0.79)
    {'minimum_confidence': 0.8}
    """
    return min(thresholds, key=lambda each: abs(each["minimum_confidence"] - minimum))


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent; 0 and 1 without decimals.

    >>> percent(0.8347), percent(0.00392, 2), percent(1), percent(0), percent(None)
    ('83.5%', '0.39%', '100%', '0%', '–')
    """
    if share is None:
        return NOTHING
    return f"{100 * share:.0f}%" if share in (0, 1) else f"{100 * share:.{digits}f}%"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many decimals; a dash if there is none.

    >>> number(0.97221), number(None)
    ('0.972', '–')
    """
    return NOTHING if value is None else f"{value:.{digits}f}"
