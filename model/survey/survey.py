"""Roles and effects of all heads over many sentences, chunk by chunk, so that a stopped run goes on.

L layers, H heads. Four parts, each of which may be stopped after any chunk: ``roles`` looks at plain passes,
``effects`` takes each head away, ``answers`` asks who wrote each fix (``answer_sums``), ``pruning`` takes away more and more heads.
``survey_sums`` holds the sums of the first two.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import numpy as np

from model.activations.replacements import every_head
from model.analysis.head_effects import TextPair, pruning_curve, random_order
from model.analysis.statistics import Tally
from model.correction.answers import Network
from model.stored.folder import of_weights, write_atomically
from model.survey.answer_sums import sums_of_answers
from model.survey.survey_sums import ANY_KIND, LOSS, Sums, sums_of_effects, sums_of_roles
from model.trace.interventions import Head

STATE = "state.npz"
_CHUNK = 64  # sentences of one batch
_EFFECTS_CHUNK = 4
_ANSWERS_CHUNK = 4


@dataclass(frozen=True)
class SurveyPlan:
    """What a survey measures. A saved state of another plan is not resumed, unless only ``answers`` differs."""

    pairs: tuple[TextPair, ...]  # (source, target) of every sentence
    effects: int  # sentences with changes whose heads are taken away
    pruning: int  # sentences that are judged at each point of the pruning curve
    pruning_step: int = 4  # heads removed from one point to the next
    random_orders: int = 3
    answers: int = 0  # sentences with changes of which it is asked who wrote the fixes
    circuits: int = 0  # of them, those whose circuits are found

    @property
    def edited(self) -> tuple[TextPair, ...]:
        """The pairs that effects are measured on."""
        return self._with_changes[: self.effects]

    @property
    def asked(self) -> tuple[TextPair, ...]:
        """The pairs of which it is asked who wrote the fixes."""
        return self._with_changes[: self.answers]

    @property
    def _with_changes(self) -> tuple[TextPair, ...]:
        return tuple(pair for pair in self.pairs if pair[0] != pair[1])

    @property
    def judged(self) -> tuple[TextPair, ...]:
        """The pairs that the pruning curve is measured on: the last ones. In a long file the order of the heads comes from
        other sentences."""
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
        """How many sentences, or points of a curve, each part has."""
        points = len(self._counts) * (1 + self.plan.random_orders) if self.plan.pruning else 0
        plan = self.plan
        sentences = {"roles": len(plan.pairs), "effects": len(plan.edited), "answers": len(plan.asked)}
        return sentences | {"pruning": points}

    def run(self) -> Iterator[tuple[str, int]]:
        """Do what is left. After each chunk: the name of its part, and how far that is."""
        while self.done["roles"] < len(self.plan.pairs):
            first = self.done["roles"]
            pairs = self.plan.pairs[first : first + _CHUNK]
            self.add("roles", sums_of_roles(self.corrector, pairs, first), len(pairs))
            yield "roles", self.done["roles"]
        while self.done["effects"] < len(self.plan.edited):
            first = self.done["effects"]
            pairs = self.plan.edited[first : first + _EFFECTS_CHUNK]
            self.add("effects", sums_of_effects(self.corrector, pairs), len(pairs))
            yield "effects", self.done["effects"]
        while self.done["answers"] < len(self.plan.asked):
            first = self.done["answers"]
            pairs = self.plan.asked[first : first + _ANSWERS_CHUNK]
            circuits = max(self.plan.circuits - first, 0)
            self.add("answers", sums_of_answers(self.corrector, pairs, circuits), len(pairs))
            yield "answers", self.done["answers"]
        if self.plan.pruning and self.plan.edited:
            for name, order in self._orders():
                curve = self.curves.setdefault(name, [])
                counts = self._counts[len(curve) :]
                for point in pruning_curve(self.corrector, self.plan.judged, order, counts):
                    curve.append(list(point))
                    yield "pruning", sum(map(len, self.curves.values()))

    def add(self, part: str, sums: Sums, sentences: int) -> None:
        """What the next ``sentences`` add to a part."""
        self.sums = self.sums + sums
        self.done[part] += sentences

    @property
    def _counts(self) -> list[int]:
        return [*range(0, len(self.heads), self.plan.pruning_step), len(self.heads)]

    def loss(self) -> np.ndarray:
        """(N,) of all heads: by how many nats the whole target gets less probable without each, on average."""
        return -self.sums.tallies[f"{ANY_KIND}/{LOSS}"].estimate().mean

    def _orders(self) -> Iterator[tuple[str, Sequence[Head]]]:
        order = np.argsort(self.loss(), kind="stable").tolist()
        yield "effect", [self.heads[place] for place in order]
        for seed in range(self.plan.random_orders):
            yield f"random {seed + 1}", random_order(self.heads, seed)

    def join(self, other: Survey) -> None:
        """Add the sums of a survey of the same network over other sentences. Of the sentences only those are kept that are
        examples.
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
        """Write all sums into ``folder``, so that ``restore`` can go on."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / STATE, lambda file: file.write(self.packed()))

    def packed(self) -> bytes:
        """All sums, for ``unpack``."""
        arrays = {f"tally/{name}": tally.sums for name, tally in self.sums.tallies.items()}
        arrays |= {f"best/{name}": best for name, best in self.sums.best.items()}
        sentences = {name: tally.sentences for name, tally in self.sums.tallies.items()}
        head = {"key": self._key, "done": self.done, "curves": self.curves, "sentences": sentences}
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
        packed = BytesIO()
        np.savez(packed, allow_pickle=False, **arrays)
        return packed.getvalue()

    def restore(self, folder: Path) -> bool:
        """Take up what ``save`` left there; False where nothing is left or it belongs to another survey."""
        return (folder / STATE).is_file() and self.unpack((folder / STATE).read_bytes())

    def unpack(self, data: bytes) -> bool:
        """Take up what ``packed`` gave; False where that was another survey."""
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
        # ``answers`` is left out: a plan that asks more sentences resumes the survey that asked fewer.
        numbers = plan.effects, plan.pruning, plan.pruning_step, plan.random_orders, plan.circuits
        told = repr((of_weights(self.corrector.fingerprint), numbers, plan.pairs))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()
