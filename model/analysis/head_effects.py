"""What each head does for one edit: switch it off and ask the network again.

A head that is off puts out zeros, or its mean over many sentences (``means``), which disturbs the network less. The shipped means
stand in ``heads.json``.

L layers, H heads, D d_model. Sources: Michel, Levy & Neubig, "Are Sixteen Heads Really Better than One?" (2019);
Voita et al. (2019) prune heads of encoder-decoder models in the same way.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from model.analysis.contrasts import contrast_of_change
from model.analysis.edits import attention_to_edit
from model.analysis.places import in_tokens
from model.analysis.ranks import rank_correlation, ranks
from model.correction.answers import Intervenes
from model.text.changes import Change
from model.trace.interventions import Head, Intervention
from model.trace.odds import Contrast


@dataclass(frozen=True)
class HeadEffects:
    """What becomes of one edit without each of N heads.

    ``observed`` and ``attention`` come from the plain pass, all other arrays from passes in which one head was
    off. Arrays are in the order of ``heads``.
    """

    contrast: Contrast
    heads: tuple[Head, ...]  # (N,) kind by kind, layer by layer
    observed: float  # log p(fix) - log p(keep) of the plain pass, in nats
    observed_fix: float  # p(fix) of the plain pass, of the token with which the fix begins
    without: np.ndarray  # (N,) float32, log p(fix) - log p(keep) without the head
    ablated_fix_probability: np.ndarray  # (N,) float32, p(fix) without the head
    # (N,) float32 in 0..1, how much the head attends to the edit (edits.attention_to_edit).
    attention: np.ndarray

    @property
    def effect(self) -> np.ndarray:
        """(N,) float32, in nats: how log p(fix) - log p(keep) changes when the head is removed.

        Negative: the head speaks for the fix. Positive: it speaks for what was typed.
        """
        return self.without - np.float32(self.observed)

    def grid(self, kind: str, values: np.ndarray | None = None) -> np.ndarray:
        """(L, H) of one kind of attention: of ``values`` (N,), by default the effects."""
        values = self.effect if values is None else values
        chosen = [(head, value) for head, value in zip(self.heads, values, strict=True) if head.kind == kind]
        layers = 1 + max((head.layer for head, _ in chosen), default=-1)
        return np.array([value for _, value in chosen], np.float32).reshape(layers, -1)

    def correlation(self, kind: str | None = None) -> float:
        """Rank correlation of attention to the edit and size of the effect, over the heads of a kind or over
        all; nan where either does not vary."""
        rows = [i for i, head in enumerate(self.heads) if kind in (None, head.kind)]
        return rank_correlation(self.attention[rows], np.abs(self.effect[rows]))

    def strongest(self, count: int = 5) -> tuple[Head, ...]:
        """The heads whose removal changes most, the strongest first."""
        order = np.argsort(-np.abs(self.effect), kind="stable")[:count]
        return tuple(self.heads[i] for i in order)

    def rank_of_looker(self) -> tuple[Head, int]:
        """The head that looks most at the edit, and the rank of its effect among all: 1 is the largest."""
        looker = int(self.attention.argmax())
        below = ranks(np.abs(self.effect))[looker]
        return self.heads[looker], int(len(self.heads) - np.floor(below))


def head_effects(
    corrector: Intervenes,
    source: str,
    target: str,
    change: Change,
    means: Mapping[str, np.ndarray] | None = None,
) -> HeadEffects:
    """Remove each head in turn, and ask about one edit.

    ``change``: one of ``corrector.changes(source, target)``. ``means``: what a removed head puts out instead of
    zero, by kind (L, H, D/H), such as ``model.analysis.pair_effects.mean_outputs`` has of a sentence.

    Raises ValueError for a change that does not lead from source to target, and for a network that takes no
    interventions.

    >>> from model.text.changes import find_changes
    >>> (change,) = find_changes("머거요", "먹어요")
    >>> effects = head_effects(corrector, "머거요", "먹어요", change)
    >>> len(effects.heads), effects.grid("cross_attention").shape
    (48, (4, 4))
    """
    trace = corrector.trace(source, target)
    placed, changes = in_tokens(trace, change, corrector.changes(source, target))
    contrast = contrast_of_change(corrector, source, target, change)
    attention = [attention_to_edit(trace, kind, placed, changes).share for kind in trace.kinds]
    off = [Intervention(off=frozenset([head]), means=means) for head in trace.heads]
    scores = corrector.logit_differences(source, target, contrast, [Intervention(), *off])
    return HeadEffects(
        contrast=contrast,
        heads=trace.heads,
        observed=float(scores.differences[0]),
        observed_fix=float(np.exp(scores.log_written[0])),
        without=scores.differences[1:],
        ablated_fix_probability=np.exp(scores.log_written[1:]),
        attention=np.concatenate([share.ravel() for share in attention]),
    )


def ablated_fix_probability(
    corrector: Intervenes,
    source: str,
    target: str,
    change: Change,
    sets: Iterable[Collection[Head]],
    means: Mapping[str, np.ndarray] | None = None,
) -> tuple[float, ...]:
    """p(fix) of one edit without each of these sets of heads, in teacher-forced passes; the empty set removes none.

    Raises ValueError as ``head_effects`` does.
    """
    contrast = contrast_of_change(corrector, source, target, change)
    off = [Intervention(off=frozenset(heads), means=means) for heads in sets]
    return tuple(np.exp(corrector.logit_differences(source, target, contrast, off).log_written).tolist())


@dataclass(frozen=True)
class AblatedText:
    """What the network writes of its own accord without some heads; ``text`` is None where it finds no end."""

    heads: frozenset[Head]
    text: str | None


def ablate_heads(
    corrector: Intervenes,
    source: str,
    sets: Iterable[Collection[Head]],
    means: Mapping[str, np.ndarray] | None = None,
) -> tuple[AblatedText, ...]:
    """Correct one sentence without each of these sets of heads, by free decoding; plain tuples will do as heads.

    Raises ValueError for a head that the network does not have and for a source that is longer than it can read.

    >>> [without] = ablate_heads(corrector, "머거요", [[("cross_attention", 0, 0)]])
    >>> without.heads, type(without.text)
    (frozenset({Head(kind='cross_attention', layer=0, head=0)}), <class 'str'>)
    """
    interventions = [Intervention(off=frozenset(heads), means=means) for heads in sets]
    texts = corrector.written_under(source, interventions)
    return tuple(AblatedText(each.off, text) for each, text in zip(interventions, texts, strict=True))
