"""Ablation of attention heads: effects on one change, on a sentence, and pruning curves."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.replacements import every_head
from model.analysis.counterfactuals import contrast_of_change
from model.analysis.edits import attention_to_edit, changed_rows, in_tokens
from model.analysis.statistics import rank_correlation, ranks
from model.correction.answers import Intervenes, Network
from model.text.changes import Change, find_changes
from model.trace.interventions import Contrast, Head, Intervention


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
    zero, by kind (L, H, D/H), such as ``model.analysis.head_effects.mean_outputs`` has of a sentence.

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


@dataclass(frozen=True)
class PairEffects:
    """N heads in the order of ``heads``; each is taken away alone. ``attention`` and ``written`` are observed, the rest is in nats and
    comes from these passes.

    ``changes``: those of the pair that change a token.
    ``edits``: how log p(fix) - log p(keep) changes where each of E changes begins, as ``HeadEffects.effect``.
    ``copied``: how log p changes, for each of the C target characters that are copied from the source.
    ``whole``: how log p of the whole target given the source changes.
    """

    heads: tuple[Head, ...]
    changes: tuple[Change, ...]
    attention: np.ndarray  # (E, N) float32, observed: the share each head gives to the edit
    written: np.ndarray  # (E,) bool, observed: whether the fix is more probable than keeping what was typed
    edits: np.ndarray  # (E, N) float32
    copied: np.ndarray  # (C, N) float32
    whole: np.ndarray  # (N,) float32


def pair_effects(corrector: Network, source: str, target: str) -> PairEffects:
    """All of ``PairEffects`` for one sentence, from one batch of teacher-forced passes.

    Raises ValueError for a network that takes no interventions and for a source that is longer than it can read.

    >>> effects = pair_effects(corrector, "머거요", "먹어요")
    >>> effects.edits.shape, effects.copied.shape  # one edit and one copied character, without each of 48 heads
    ((1, 48), (1, 48))
    """
    heads = every_head(corrector.config)
    ids = corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    interventions = [Intervention(), *(Intervention(off=frozenset([head])) for head in heads)]
    count = len(interventions)
    looked = corrector.laboratory.pass_over([ids[0]] * count, [ids[1]] * count, interventions)
    logits = looked.logits  # (1 + N, T, V)
    written = np.take_along_axis(logits, np.array(ids[1])[None, :, None], axis=-1)[..., 0]  # (1 + N, T)
    highest = logits.max(axis=-1, keepdims=True)
    logs = written - highest[..., 0] - np.log(np.exp(logits - highest).sum(axis=-1))
    changes = find_changes(source, target)
    asked = list(_contrasts(corrector, source, target, changes))
    copied = ~changed_rows(changes, len(ids[1]))
    copied[-1] = False  # the end mark is no character
    lost = logs[1:] - logs[0]  # (N, T)
    odds = np.zeros((len(asked), len(interventions)), np.float32)
    for number, (_, contrast) in enumerate(asked):
        odds[number] = logits[:, contrast.row, contrast.written] - logits[:, contrast.row, contrast.instead]
    return PairEffects(
        heads,
        tuple(change for change, _ in asked),
        _attention(corrector, source, target, [change for change, _ in asked], len(heads)),
        odds[:, 0] > 0,
        odds[:, 1:] - odds[:, :1],
        lost[:, copied].T,
        lost.sum(axis=1),
    )


def _contrasts(
    corrector: Network, source: str, target: str, changes: Iterable[Change]
) -> Iterator[tuple[Change, Contrast]]:
    """Each change with the contrast that is asked about it. A change that writes the same tokens as the source, such as one emoji for
    another, has no contrast and is left out.
    """
    for change in changes:
        with suppress(ValueError):
            yield change, contrast_of_change(corrector, source, target, change)


def _attention(corrector: Network, source: str, target: str, asked: list[Change], count: int) -> np.ndarray:
    if not asked:
        return np.zeros((0, count), np.float32)
    trace, changes = corrector.trace(source, target), find_changes(source, target)
    return np.stack(
        [
            np.concatenate(
                [attention_to_edit(trace, kind, change, changes).share.ravel() for kind in trace.kinds]
            )
            for change in asked
        ]
    )


def mean_outputs(corrector: Network, source: str, target: str) -> dict[str, np.ndarray]:
    """What each head puts out in one sentence, the mean over its rows: (L, H, D/H) float32 by kind.

    Averaged over a corpus it can stand in for a head that is switched off (``Intervention.means``).
    """
    insides = corrector.laboratory.insides(
        corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    )
    return {
        kind: np.einsum("lhqk,lhkd->lhd", weights, insides.values[kind]) / weights.shape[2]
        for kind, weights in insides.attention.items()
    }


TextPair = tuple[str, str]


class PruningPoint(NamedTuple):
    """What is left of a network without ``removed`` heads; shares in 0..1, nan where there was nothing to judge."""

    removed: int
    exact: float  # sentences with errors that come out as they should
    untouched: float  # correct sentences that come out as they went in


def pruning_curve(
    corrector: Network,
    pairs: Sequence[TextPair],
    order: Sequence[Head],
    counts: Sequence[int],
    batch: int = 64,
) -> Iterator[PruningPoint]:
    """Remove the first heads of ``order``, as many as each of ``counts`` says.

    ``pairs`` are (wrong, right). Judged is the network's own text, before a ``Corrector`` leaves unsure changes
    undone: greedy decoding writes a text just where each of its tokens is the most probable one after those
    before it, so that one teacher-forced pass decides. Correct sentences are the right sides, each judged once.

    Raises ValueError, as soon as the first result is asked for, for a count outside 0..``len(order)``.

    >>> order = [Head("cross_attention", 3, head) for head in range(4)]
    >>> [point.removed for point in pruning_curve(corrector, [("머거요", "먹어요")], order, [0, 4])]
    [0, 4]
    """
    if strange := [count for count in counts if not 0 <= count <= len(order)]:
        raise ValueError(f"a count should lie in 0..{len(order)}, the length of order, received {strange[0]}")
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    clean = [(right, right) for right in dict.fromkeys(right for _, right in pairs)]
    for count in counts:
        off = Intervention(off=frozenset(order[:count]))
        shares = (_share_written(corrector, some, off, batch) for some in (wrong, clean))
        yield PruningPoint(count, *shares)


def _share_written(corrector: Network, pairs: Sequence[TextPair], off: Intervention, batch: int) -> float:
    tokenizer, written = corrector.tokenizer, 0
    ids = sorted(
        ((tokenizer.encode_source(one), tokenizer.encode_target(other)) for one, other in pairs),
        key=lambda both: len(both[0]),
    )
    for first in range(0, len(ids), batch):
        sources, targets = zip(*ids[first : first + batch], strict=True)
        looked = corrector.laboratory.pass_over(sources, targets, [off] * len(sources))
        said = looked.logits.argmax(axis=-1)  # (B, T)
        written += sum(
            said[row, : len(target)].tolist() == list(target) for row, target in enumerate(targets)
        )
    return written / len(ids) if ids else float("nan")


def random_order(heads: Sequence[Head], seed: int) -> tuple[Head, ...]:
    """The same heads in an order that only ``seed`` decides."""
    return tuple(heads[place] for place in np.random.default_rng(seed).permutation(len(heads)))
