"""Roles and effects of all heads over many sentences, chunk by chunk, so that a stopped run goes on.

L layers, H heads. Three parts, each of which may be stopped after any chunk: ``roles`` looks at plain passes,
``effects`` takes each head away, ``pruning`` takes away more and more of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from model.analysis.kinds import KINDS, kind_of
from model.analysis.pair_effects import mean_outputs, pair_effects
from model.analysis.pruning import Pair, pruning_curve, random_order
from model.analysis.ranks import rank_correlation, ranks
from model.analysis.roles import BREADTH, COPIED, EDITED, LIAISON, chance, measure, rows_of
from model.analysis.tally import Tally
from model.folder import write_atomically
from model.interventions import Intervention, every_head

if TYPE_CHECKING:
    from model.corrector import Corrector

STATE = "state.npz"
EFFECT, LOSS, MEANS, CHANCE = "effect", "loss", "means", "chance"
CORRELATION, LOOKER = "correlation", "looker"  # of attention to an edit with the effect on it
ANY_KIND = "all"
_CHUNK = 64  # sentences of one batch
_EFFECTS_CHUNK = 4
_LEAST_ROWS = 8  # of a sentence that may be an example


@dataclass(frozen=True)
class Plan:
    """What a survey asks for; a state that was made by another plan is not gone on with."""

    pairs: tuple[Pair, ...]  # (source, target) of every sentence
    effects: int  # sentences with changes whose heads are taken away
    pruning: int  # sentences that are judged at each point of the pruning curve
    pruning_step: int = 4  # heads removed from one point to the next
    random_orders: int = 3

    @property
    def edited(self) -> tuple[Pair, ...]:
        """The pairs that effects are measured on."""
        return tuple(pair for pair in self.pairs if pair[0] != pair[1])[: self.effects]

    @property
    def judged(self) -> tuple[Pair, ...]:
        """The pairs that the pruning curve is measured on: the last ones, so that in a long file the order of the heads
        was chosen on others."""
        return self.pairs[-self.pruning :] if self.pruning else ()


class Survey:
    """The running sums of one survey; ``run`` adds to them, ``save`` and ``restore`` keep them in a file."""

    def __init__(self, corrector: Corrector, plan: Plan):
        self.corrector, self.plan = corrector, plan
        self.kinds, config = corrector.config.attention_kinds, corrector.config
        self.shape = config.attention_layers, config.num_heads
        self.heads = every_head(config)
        self.tallies: dict[str, Tally] = {}  # by "kind/role/class"
        self.best: dict[str, np.ndarray] = {}  # by "kind/role": (3, L, H) value, sentence, row
        self.curves: dict[str, list[list[float]]] = {}  # by name of the order: removed, exact, untouched
        self.done = {"roles": 0, "effects": 0}

    @property
    def sizes(self) -> dict[str, int]:
        """How many sentences, or points of a curve, each part has."""
        points = len(self._counts) * (1 + self.plan.random_orders) if self.plan.pruning else 0
        return {"roles": len(self.plan.pairs), "effects": len(self.plan.edited), "pruning": points}

    def run(self) -> Iterator[tuple[str, int]]:
        """Do what is left, telling after each chunk which part is how far."""
        while self.done["roles"] < len(self.plan.pairs):
            self._add_roles(self.done["roles"])
            yield "roles", self.done["roles"]
        while self.done["effects"] < len(self.plan.edited):
            self._add_effects(self.done["effects"])
            yield "effects", self.done["effects"]
        if self.plan.pruning and self.plan.edited:
            for name, order in self._orders():
                curve = self.curves.setdefault(name, [])
                counts = self._counts[len(curve) :]
                for point in pruning_curve(
                    self.corrector, self.plan.pairs[: self.plan.pruning], order, counts
                ):
                    curve.append(list(point))
                    yield "pruning", sum(map(len, self.curves.values()))

    @property
    def _counts(self) -> list[int]:
        return [*range(0, len(self.heads), self.plan.pruning_step), len(self.heads)]

    def loss(self) -> np.ndarray:
        """(N,) of all heads: by how many nats the whole target gets less probable without each, on average."""
        return -self.tallies[f"{ANY_KIND}/{LOSS}"].estimate().mean

    def _orders(self):
        order = np.argsort(self.loss(), kind="stable").tolist()
        yield "effect", [self.heads[place] for place in order]
        for seed in range(self.plan.random_orders):
            yield f"random {seed + 1}", random_order(self.heads, seed)

    def _tally(self, name: str, rows: np.ndarray) -> None:
        if name not in self.tallies:
            self.tallies[name] = Tally.empty(rows.shape[1:])
        self.tallies[name].add(rows)

    def _add_roles(self, first: int) -> None:
        numbers = range(first, min(first + _CHUNK, len(self.plan.pairs)))
        pairs = [self.plan.pairs[number] for number in numbers]
        tokenizer = self.corrector.tokenizer
        sources = [tokenizer.encode_source(source) for source, _ in pairs]
        targets = [tokenizer.encode_target(target) for _, target in pairs]
        looked = self.corrector.laboratory.look(sources, targets, [Intervention()] * len(pairs))
        for place, (number, pair) in enumerate(zip(numbers, pairs, strict=True)):
            weights = looked.row(place, sources[place], targets[place]).attention
            for kind in self.kinds:
                self._add_sentence(kind, weights[kind], pair, number)
        self.done["roles"] = numbers.stop

    def _add_sentence(self, kind: str, weights: np.ndarray, pair: Pair, number: int) -> None:
        rows = rows_of(kind, *pair)
        by_chance = chance(kind, rows)
        for role, (concerned, values) in measure(kind, weights, rows).items():
            edited = rows.edited[concerned]
            for name, chosen in ((COPIED, ~edited), (EDITED, edited)):
                if chosen.any():
                    self._tally(f"{kind}/{role}/{name}", values[chosen])
                    self._tally(f"{kind}/{role}/{name}/{CHANCE}", by_chance[role][chosen])
            if role != BREADTH and (role == LIAISON or len(concerned) >= _LEAST_ROWS) and len(concerned):
                self._keep_example(f"{kind}/{role}", concerned, values, number)

    def _keep_example(self, name: str, concerned: np.ndarray, values: np.ndarray, number: int) -> None:
        """Of each head the sentence in which it plays a role most, and there the row."""
        mean = values.mean(axis=0)
        rows = concerned[values.argmax(axis=0)]  # (L, H)
        found = np.stack([mean, np.full_like(mean, number), rows])
        known = self.best.setdefault(name, np.full((3, *self.shape), -1.0))
        self.best[name] = np.where(mean > known[0], found, known)

    def _add_effects(self, first: int) -> None:
        pairs = self.plan.edited[first : first + _EFFECTS_CHUNK]
        for source, target in pairs:
            found = pair_effects(self.corrector, source, target)
            self._tally(f"{ANY_KIND}/{EFFECT}/{EDITED}", found.edits)
            self._tally(f"{ANY_KIND}/{EFFECT}/{EDITED}/size", np.abs(found.edits))
            self._tally(f"{ANY_KIND}/{EFFECT}/{COPIED}", found.copied)
            self._tally(f"{ANY_KIND}/{LOSS}", found.whole[None])
            for change, looked, effect in zip(found.changes, found.attention, found.edits, strict=True):
                self._compare(kind_of(change, source, target), looked, effect)
            for kind, means in mean_outputs(self.corrector, source, target).items():
                self._tally(f"{kind}/{MEANS}", means[None])
        self.done["effects"] = first + len(pairs)

    def _compare(self, error: str, looked: np.ndarray, effect: np.ndarray) -> None:
        sizes = np.abs(effect)
        correlation = rank_correlation(looked, sizes)
        rank = len(sizes) - np.floor(ranks(sizes))[looked.argmax()]
        for name in (ANY_KIND, error):
            if np.isfinite(correlation):
                self._tally(f"{CORRELATION}/{name}", np.array([correlation]))
            self._tally(f"{LOOKER}/{name}", np.array([rank]))

    def join(self, other: Survey) -> None:
        """Take up the sums of a survey of the same network over other sentences. Of all sentences only those that are
        examples are kept."""
        for name, tally in other.tallies.items():
            self.tallies.setdefault(name, Tally.empty(tally.sums.shape[1:])).join(tally)
        for part, done in other.done.items():
            self.done[part] += done
        pairs = self.plan.pairs + other.plan.pairs
        for name, best in other.best.items():
            moved = best + np.array([0, len(self.plan.pairs), 0])[:, None, None]
            known = self.best.get(name, np.full_like(best, -1.0))
            self.best[name] = np.where(moved[0] > known[0], moved, known)
        shown = sorted({int(number) for best in self.best.values() for number in best[1][best[0] >= 0]})
        for best in self.best.values():
            best[1] = np.where(best[0] >= 0, np.searchsorted(shown, best[1]), -1)
        self.plan = replace(self.plan, pairs=tuple(pairs[number] for number in shown))

    def save(self, folder: Path) -> None:
        """Write all sums into ``folder``, so that ``restore`` can go on."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / STATE, lambda file: file.write(self.packed()))

    def packed(self) -> bytes:
        """All sums, for ``unpack``."""
        arrays = {f"tally/{name}": tally.sums for name, tally in self.tallies.items()}
        arrays |= {f"best/{name}": best for name, best in self.best.items()}
        sentences = {name: tally.sentences for name, tally in self.tallies.items()}
        head = {"key": self._key, "done": self.done, "curves": self.curves, "sentences": sentences}
        arrays["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
        packed = BytesIO()
        np.savez(packed, **arrays)
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
                    self.tallies[rest] = Tally(archive[name], head["sentences"][rest])
                elif group == "best":
                    self.best[rest] = archive[name]
        self.done, self.curves = head["done"], head["curves"]
        return True

    @property
    def _key(self) -> str:
        plan = self.plan
        numbers = plan.effects, plan.pruning, plan.pruning_step, plan.random_orders
        told = repr((self.corrector.fingerprint, numbers, plan.pairs))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


ERROR_KINDS = (ANY_KIND, *KINDS)  # what CORRELATION and LOOKER are tallied by
