"""Resumable survey of all heads over many sentences, chunk by chunk.

Four parts, each of which may be stopped after any chunk: ``roles`` reads plain passes, ``effects`` ablates
each head, ``answers`` attributes each fix (``sums``), ``pruning`` ablates more and more heads. The sentences
are pairs: as typed, and corrected.

Shapes: L layers, H heads, N all heads.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np

from model.activations.replacements import every_head
from model.analysis.head_effects import TextPair, pruning_curve, random_order
from model.analysis.statistics import Tally
from model.correction.answers import AnswersMany, Network
from model.stored.folder import of_weights, write_atomically
from model.survey.sums import (
    ANY_KIND,
    LOSS,
    GivenText,
    Sums,
    pairs_of,
    sums_of_answers,
    sums_of_effects,
    sums_of_roles,
)
from model.tables.reading import FORMATS, read_rows
from model.tables.rows import TableError
from model.trace.interventions import Head

TARGET = "tgt"  # the column of the targets


def read_pairs(
    path: Path, corrector: AnswersMany, limit: int | None = None
) -> tuple[tuple[TextPair, ...], int]:
    """Read ((source, target), …) of a file, and the number of rows that are too long, empty or unreadable.

    A file whose name ends in none of FORMATS holds one sentence a line.

    Raises:
        TableError: for a table without a column of texts, and for a damaged file.
    """
    name = path.name if path.suffix.lower() in FORMATS else f"{path.name}.txt"
    with path.open("rb") as file:
        return pairs_of([*islice(read_given(file, name), limit)], corrector)


def read_given(file: BinaryIO, name: str) -> Iterator[GivenText]:
    """The rows of a CSV, TXT or XLSX file that hold a text (``model.tables.reading.read_rows``).

    If a header has a column ``tgt``, its cells are the targets, and rows without a target are left out. A row
    that cannot be read is a pair of empty texts.

    Raises:
        TableError: for any other file.
    """
    content = file.read()
    targets: dict[int, str] | None = None
    if not name.lower().endswith(".txt"):
        with suppress(TableError):  # no such column: all rows are texts
            targets = {row.number: row.text for row in read_rows(io.BytesIO(content), name, TARGET)}
    for row in read_rows(io.BytesIO(content), name):
        if row.problem is not None:
            yield "", ""
        elif targets is None or targets.get(row.number):
            yield row.text, targets[row.number] if targets else None


def made_pairs(texts: Sequence[str], corrector: AnswersMany) -> list[TextPair]:
    """Every sentence with its correction.

    Example:
        >>> made_pairs(["손니미 왔다."], corrector)
        [('손니미 왔다.', '손님이 왔다.')]
    """
    made = (each for correction in corrector.correct_batch(texts) for each in correction.sentences)
    return [(each.source, each.text) for each in made]


STATE = "state.npz"
_CHUNKS = {"roles": 64, "effects": 4, "answers": 4}  # sentences of one batch


@dataclass(frozen=True)
class SurveyPlan:
    """The measurements of a survey.

    A saved state of another plan is not resumed, unless only ``answers`` differs.
    """

    pairs: tuple[TextPair, ...]  # (source, target) of every sentence
    effects: int  # sentences with changes in which heads are ablated
    pruning: int  # sentences that are judged at each point of the pruning curve
    pruning_step: int = 4  # heads ablated from one point to the next
    random_orders: int = 3
    answers: int = 0  # sentences with changes whose fixes are attributed
    circuits: int = 0  # of them, those with a circuit

    @property
    def edited(self) -> tuple[TextPair, ...]:
        """The pairs that effects are measured on: the first with changes.

        >>> pairs = (("네", "네"), ("머거요", "먹어요"), ("가치", "같이"))
        >>> SurveyPlan(pairs, effects=1, pruning=0).edited
        (('머거요', '먹어요'),)
        """
        return self._with_changes[: self.effects]

    @property
    def asked(self) -> tuple[TextPair, ...]:
        """The pairs whose fixes are attributed: the first with changes.

        >>> pairs = (("네", "네"), ("머거요", "먹어요"), ("가치", "같이"))
        >>> SurveyPlan(pairs, effects=0, pruning=0, answers=9).asked
        (('머거요', '먹어요'), ('가치', '같이'))
        """
        return self._with_changes[: self.answers]

    @property
    def _with_changes(self) -> tuple[TextPair, ...]:
        return tuple(pair for pair in self.pairs if pair[0] != pair[1])

    @property
    def judged(self) -> tuple[TextPair, ...]:
        """The pairs that the pruning curve is measured on: the last ones.

        In a long file the order of the heads comes from other sentences.

        >>> pairs = (("네", "네"), ("머거요", "먹어요"), ("가치", "같이"))
        >>> SurveyPlan(pairs, effects=1, pruning=1).judged
        (('가치', '같이'),)
        """
        return self.pairs[-self.pruning :] if self.pruning else ()


class Survey:
    """The running sums of one survey; ``run`` adds to them, ``save`` and ``restore`` keep them in a file."""

    def __init__(self, corrector: Network, plan: SurveyPlan):
        self.corrector, self.plan = corrector, plan
        self.kinds, config = corrector.config.attention_kinds, corrector.config
        self.shape = config.attention_layers, config.num_heads
        self.heads = every_head(config)
        self.sums = Sums()
        self.curves: dict[str, list[list[float]]] = {}  # by name of the order: removed, exact, untouched
        self.done = {"roles": 0, "effects": 0, "answers": 0}

    @property
    def sizes(self) -> dict[str, int]:
        """The number of sentences, or of points of a curve, of each part."""
        points = len(self._counts) * (1 + self.plan.random_orders) if self.plan.pruning else 0
        return {part: len(pairs) for part, pairs in self._parts.items()} | {"pruning": points}

    @property
    def _parts(self) -> dict[str, tuple[TextPair, ...]]:
        """The pairs of each part that adds sums."""
        return {"roles": self.plan.pairs, "effects": self.plan.edited, "answers": self.plan.asked}

    def run(self) -> Iterator[tuple[str, int]]:
        """Do the remaining work. After each chunk: the name of its part, and its progress."""
        for part, pairs in self._parts.items():
            while (first := self.done[part]) < len(pairs):
                chunk = pairs[first : first + _CHUNKS[part]]
                self.add(part, self._sums(part, chunk, first), len(chunk))
                yield part, self.done[part]
        if self.plan.pruning and self.plan.edited:
            for name, order in self._orders():
                curve = self.curves.setdefault(name, [])
                counts = self._counts[len(curve) :]
                for point in pruning_curve(self.corrector, self.plan.judged, order, counts):
                    curve.append(list(point))
                    yield "pruning", sum(map(len, self.curves.values()))

    def _sums(self, part: str, pairs: Sequence[TextPair], first: int) -> Sums:
        """The sums of a part over pairs, which are numbered from ``first``."""
        if part == "roles":
            return sums_of_roles(self.corrector, pairs, first)
        if part == "effects":
            return sums_of_effects(self.corrector, pairs)
        return sums_of_answers(self.corrector, pairs, circuits=max(self.plan.circuits - first, 0))

    def add(self, part: str, sums: Sums, sentences: int) -> None:
        """Add the sums of the next ``sentences`` of a part."""
        self.sums = self.sums + sums
        self.done[part] += sentences

    @property
    def _counts(self) -> list[int]:
        return [*range(0, len(self.heads), self.plan.pruning_step), len(self.heads)]

    def loss(self) -> np.ndarray:
        """(N,) nats: the mean loss of log p of the whole target by ablation of each head."""
        return -self.sums.tallies[f"{ANY_KIND}/{LOSS}"].estimate().mean

    def _orders(self) -> Iterator[tuple[str, Sequence[Head]]]:
        order = np.argsort(self.loss(), kind="stable").tolist()
        yield "effect", [self.heads[place] for place in order]
        for seed in range(self.plan.random_orders):
            yield f"random {seed + 1}", random_order(self.heads, seed)

    def join(self, other: Survey) -> None:
        """Add the sums of a survey of the same network over other sentences.

        Of the sentences only examples are kept.
        """
        # Of the value, the sentence's number and the row.
        shift = np.array([0, len(self.plan.pairs), 0])[:, None, None]
        moved = {name: best + shift for name, best in other.sums.best.items()}
        self.sums = self.sums + Sums(other.sums.tallies, moved)
        for part, done in other.done.items():
            self.done[part] += done
        pairs = self.plan.pairs + other.plan.pairs
        shown = sorted({int(number) for best in self.sums.best.values() for number in best[1].flat})
        for name, best in self.sums.best.items():
            self.sums.best[name] = np.stack([best[0], np.searchsorted(shown, best[1]), best[2]])
        self.plan = replace(self.plan, pairs=tuple(pairs[number] for number in shown))

    def save(self, folder: Path) -> None:
        """Write all sums into ``folder``, so that ``restore`` can resume them."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / STATE, lambda file: file.write(self.packed()))

    def packed(self) -> bytes:
        """All sums as bytes, for ``unpack``."""
        arrays = {f"tally/{name}": tally.sums for name, tally in self.sums.tallies.items()}
        arrays |= {f"best/{name}": best for name, best in self.sums.best.items()}
        sentences = {name: tally.sentences for name, tally in self.sums.tallies.items()}
        head = {"key": self._key, "done": self.done, "curves": self.curves, "sentences": sentences}
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
        packed = BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        return packed.getvalue()

    def restore(self, folder: Path) -> bool:
        """Resume the state that ``save`` wrote; False without one, and for that of another survey."""
        return (folder / STATE).is_file() and self.unpack((folder / STATE).read_bytes())

    def unpack(self, data: bytes) -> bool:
        """Resume the bytes of ``packed``; False for those of another survey."""
        with np.load(BytesIO(data), allow_pickle=False) as archive:
            head = json.loads(archive["head"].tobytes())
            if head["key"] != self._key:
                return False
            for name in archive.files:
                group, _, rest = name.partition("/")
                if group == "tally":
                    self.sums.tallies[rest] = Tally(archive[name], head["sentences"][rest])
                elif group == "best":
                    self.sums.best[rest] = archive[name]
        self.done, self.curves = head["done"], head["curves"]
        return True

    @property
    def _key(self) -> str:
        plan = self.plan
        # ``answers`` is left out: a plan with more of them resumes a survey with fewer.
        numbers = plan.effects, plan.pruning, plan.pruning_step, plan.random_orders, plan.circuits
        plain = repr((of_weights(self.corrector.fingerprint), numbers, plan.pairs))
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
