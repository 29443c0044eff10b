"""The sums that some sentences contribute to a survey of heads. Sums of several chunks can be added.

L layers, H heads. ``sums_of_roles`` looks at plain passes, ``sums_of_effects`` takes each head away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from model.analysis.head_effects import PairEffects, TextPair, mean_outputs, pair_effects
from model.analysis.kinds import KINDS, kind_of
from model.analysis.roles import BREADTH, COPIED, EDITED, LIAISON, chance, measure, rows_of
from model.analysis.statistics import Tally, rank_correlation, ranks
from model.correction.answers import Network
from model.trace.interventions import Intervention

EFFECT, LOSS, MEANS, CHANCE = "effect", "loss", "means", "chance"
CORRELATION = "correlation"  # over all heads, of the attention to an edit with the effect on it
LOOKER = "looker"  # how the head that looks most at an edit ranks by its effect on it; 1 is the largest
ANY_KIND = "all"
ERROR_KINDS = (ANY_KIND, *KINDS)  # what CORRELATION and LOOKER are tallied by
_LEAST_ROWS = 8  # of a sentence that may be an example


@dataclass(frozen=True)
class Sums:
    """What was added up over some sentences. ``tallies`` are named "kind/role/class" and the like. ``best``, by "kind/role", is an array
    (3, L, H): the value, the number of the sentence and the row where each head plays the role most. A role that no sentence was asked
    about is missing."""

    tallies: dict[str, Tally] = field(default_factory=dict)
    best: dict[str, np.ndarray] = field(default_factory=dict)

    def __add__(self, other: Sums) -> Sums:
        tallies, best = dict(self.tallies), dict(self.best)
        for name, tally in other.tallies.items():
            tallies[name] = tallies[name] + tally if name in tallies else tally
        for name, found in other.best.items():
            best[name] = _better(best[name], found) if name in best else found
        return Sums(tallies, best)

    def tally(self, name: str, rows: np.ndarray) -> None:
        """Add the rows (R, …) of one sentence."""
        if name not in self.tallies:
            self.tallies[name] = Tally.empty(rows.shape[1:])
        self.tallies[name].add(rows)

    def propose(self, name: str, found: np.ndarray) -> None:
        """An example (3, L, H) that is kept where it is better than the one known."""
        self.best[name] = _better(self.best[name], found) if name in self.best else found


def _better(known: np.ndarray, found: np.ndarray) -> np.ndarray:
    return np.where(found[0] > known[0], found, known)


def sums_of_roles(corrector: Network, pairs: Sequence[TextPair], first: int) -> Sums:
    """How much the heads play each role in (source, target) pairs, which are numbered from ``first``. Observed."""
    sums, tokenizer = Sums(), corrector.tokenizer
    sources = [tokenizer.encode_source(source) for source, _ in pairs]
    targets = [tokenizer.encode_target(target) for _, target in pairs]
    looked = corrector.laboratory.pass_over(sources, targets, [Intervention()] * len(pairs))
    for place, pair in enumerate(pairs):
        weights = looked.row(place, sources[place], targets[place]).attention
        for kind in corrector.config.attention_kinds:
            _add_sentence(sums, kind, weights[kind], pair, first + place)
    return sums


def _add_sentence(sums: Sums, kind: str, weights: np.ndarray, pair: TextPair, number: int) -> None:
    rows = rows_of(kind, *pair)
    by_chance = chance(kind, rows)
    for role, (concerned, values) in measure(kind, weights, rows).items():
        edited = rows.edited[concerned]
        for name, chosen in ((COPIED, ~edited), (EDITED, edited)):
            if chosen.any():
                sums.tally(f"{kind}/{role}/{name}", values[chosen])
                sums.tally(f"{kind}/{role}/{name}/{CHANCE}", by_chance[role][chosen])
        if role != BREADTH and (role == LIAISON or len(concerned) >= _LEAST_ROWS) and len(concerned):
            mean = values.mean(axis=0)  # (L, H)
            standing = concerned[values.argmax(axis=0)]
            sums.propose(f"{kind}/{role}", np.stack([mean, np.full_like(mean, number), standing]))


def sums_of_effects(corrector: Network, pairs: Sequence[TextPair]) -> Sums:
    """What becomes of pairs with changes without each head, and what heads put out on average."""
    sums = Sums()
    for source, target in pairs:
        found = pair_effects(corrector, source, target)
        sums.tally(f"{ANY_KIND}/{EFFECT}/{EDITED}", found.edits)
        sums.tally(f"{ANY_KIND}/{EFFECT}/{EDITED}/size", np.abs(found.edits))
        sums.tally(f"{ANY_KIND}/{EFFECT}/{COPIED}", found.copied)
        sums.tally(f"{ANY_KIND}/{LOSS}", found.whole[None])
        _compare(sums, found, source, target)
        for kind, means in mean_outputs(corrector, source, target).items():
            sums.tally(f"{kind}/{MEANS}", means[None])
    return sums


def _compare(sums: Sums, found: PairEffects, source: str, target: str) -> None:
    """Add CORRELATION and LOOKER of each change."""
    for change, looked, effect in zip(found.changes, found.attention, found.edits, strict=True):
        sizes = np.abs(effect)
        correlation = rank_correlation(looked, sizes)
        rank = len(sizes) - np.floor(ranks(sizes))[looked.argmax()]
        for name in (ANY_KIND, kind_of(change, source, target)):
            if np.isfinite(correlation):
                sums.tally(f"{CORRELATION}/{name}", np.array([correlation]))
            sums.tally(f"{LOOKER}/{name}", np.array([rank]))
