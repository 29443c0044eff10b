"""Head ablation: effects on one change and on a whole sentence, and pruning curves.

An ablated head puts out zeros, or its mean over many sentences, which disturbs the network less;
``heads.json`` of a model holds such means.

Shapes: N heads, kind by kind and layer by layer; L layers, H heads of a layer, E changes, C copied
characters, T target tokens, V vocabulary, D d_model.

References:
    Michel, Levy & Neubig, "Are Sixteen Heads Really Better than One?" (2019); section 4 for pruning.
    Voita et al., "Analyzing Multi-Head Self-Attention" (ACL 2019).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.drafting import log_softmax
from model.activations.replacements import every_head
from model.activations.token_network import insides_of
from model.analysis.contrasts import AskedRow, Edit, contrast_of_edit
from model.analysis.edits import asked_row, attention_to_edit, changed_rows, in_tokens
from model.analysis.saving import Result
from model.analysis.statistics import rank_correlation, ranks
from model.correction.answers import Intervenes, Network
from model.text.changes import Change, find_changes
from model.trace.interventions import Contrast, Head, Intervention
from model.trace.trace import AttentionTrace

STRONGEST = 5  # heads that the laboratory switches off until others are chosen
TextPair = tuple[str, str]
Means = Mapping[str, np.ndarray]  # outputs of ablated heads by kind (L, H, D/H)


@dataclass(frozen=True)
class HeadEffects(Result):
    """One change with each of N heads ablated in turn; arrays in the order of ``heads``.

    ``observed`` and ``attention`` come from the plain pass, all other arrays from passes with one head
    ablated.
    """

    contrast: Contrast
    heads: tuple[Head, ...]  # (N,) kind by kind, layer by layer
    observed: float  # log p(fix) - log p(keep) of the plain pass, in nats
    observed_fix: float  # p(fix) of the plain pass, of the token with which the fix begins
    without: np.ndarray  # (N,) float32, log p(fix) - log p(keep) without the head
    ablated_fix_probability: np.ndarray  # (N,) float32, p(fix) without the head
    attention: np.ndarray  # (N,) float32 in 0..1, from the token in question to the change; else NaN

    @property
    def effect(self) -> np.ndarray:
        """(N,) float32 nats:

        the change of log p(fix) - log p(keep) by ablation; negative where the head favours the fix.
        """
        return self.without - np.float32(self.observed)

    def grid(self, kind: str, values: np.ndarray | None = None) -> np.ndarray:
        """(L, H) of one kind of attention: of ``values`` (N,), by default the effects."""
        values = self.effect if values is None else values
        chosen = [(head, value) for head, value in zip(self.heads, values, strict=True) if head.kind == kind]
        layers = 1 + max((head.layer for head, _ in chosen), default=-1)
        return np.array([value for _, value in chosen], np.float32).reshape(layers, -1)

    def correlation(self, kind: str | None = None) -> float:
        """Rank correlation in -1..1 of attention (N,) to the change and size of the effect (N,).

        Over all heads or those of a kind; nan where either does not vary.
        """
        rows = [i for i, head in enumerate(self.heads) if kind in (None, head.kind)]
        return rank_correlation(self.attention[rows], np.abs(self.effect[rows]))

    def strongest(self, count: int = STRONGEST) -> tuple[Head, ...]:
        """The heads with the largest effects, the strongest first."""
        order = np.argsort(-np.abs(self.effect), kind="stable")[:count]
        return tuple(self.heads[i] for i in order)

    def supporters(self, count: int = STRONGEST) -> tuple[Head, ...]:
        """The heads that favour the fix, the one whose ablation takes most from it first."""
        order = np.argsort(self.effect, kind="stable")[:count]
        return tuple(self.heads[i] for i in order if self.effect[i] < 0)

    def rank_of_looker(self) -> tuple[Head, int]:
        """The head with the most attention to the change, and the rank of its effect: 1 is the largest.

        Raises ValueError for a question that is not about a change.
        """
        if np.isnan(self.attention).all():
            raise ValueError("heads attend to a change, but the question is about none")
        return self.heads[int(self.attention.argmax())], rank_of_largest(self.attention, np.abs(self.effect))


def rank_of_largest(values: np.ndarray, sizes: np.ndarray) -> int:
    """The rank among ``sizes`` (N,) of the place where ``values`` (N,) is largest: 1 is the largest size.

    >>> rank_of_largest(np.array([0.1, 0.9]), np.array([5.0, 2.0]))
    2
    """
    return int(len(sizes) - np.floor(ranks(sizes)[int(values.argmax())]))


def head_effects(corrector: Intervenes, edit: Edit, means: Means | None = None) -> HeadEffects:
    """Ablate each head in turn, and measure one question.

    Args:
        edit: about one of ``corrector.changes(source, target)``, or a contrast or metric of any row.
        means: outputs of ablated heads, such as ``mean_outputs``; zeros by default.

    Raises:
        ValueError: for a change that does not lead from source to target, and for a network that takes no
            interventions.

    Example:
        >>> effects = head_effects(corrector, *edits_of("머거요", "먹어요"))
        >>> len(effects.heads), effects.grid("cross_attention").shape
        (48, (4, 4))
    """
    source, target, asked = edit.source, edit.target, AskedRow(corrector, edit)
    trace = corrector.trace(source, target)
    attention = np.full(len(trace.heads), np.nan, np.float32)
    if isinstance(edit.about, Change):
        placed, changes = in_tokens(trace, edit.about, corrector.changes(source, target))
        attention = attention_of_heads(trace, placed, changes, of_question=True)
    off = [Intervention(off=frozenset([head]), means=means) for head in trace.heads]
    scores, tokens = asked.under([Intervention(), *off])
    return HeadEffects(
        contrast=asked.contrast,
        heads=trace.heads,
        observed=float(scores[0]),
        observed_fix=float(np.exp(tokens.log_written[0])),
        without=scores[1:],
        ablated_fix_probability=np.exp(tokens.log_written[1:]),
        attention=attention,
    )


def attention_of_heads(
    trace: AttentionTrace, change: Change, changes: Sequence[Change], *, of_question: bool = False
) -> np.ndarray:
    """(N,) float32 in 0..1: the attention of all heads to one of ``changes``, whose offsets count tokens; the
    mean over its rows, or ``of_question`` from the token in question alone.
    """
    rows = {kind: asked_row(trace, kind, change) if of_question else None for kind in trace.kinds}
    found = (attention_to_edit(trace, kind, change, changes, row) for kind, row in rows.items())
    return np.concatenate([each.share.ravel() for each in found])


def ablated_fix_probability(
    corrector: Intervenes, edit: Edit, sets: Iterable[Collection[Head]], means: Means | None = None
) -> tuple[float, ...]:
    """p(written), of a change p(fix), with each of these sets of heads ablated; the empty set ablates none.

    Raises:
        ValueError: as ``head_effects`` does.
    """
    contrast = contrast_of_edit(corrector, edit)
    off = [Intervention(off=frozenset(heads), means=means) for heads in sets]
    found = corrector.logit_differences(edit.source, edit.target, contrast, off)
    return tuple(np.exp(found.log_written).tolist())


@dataclass(frozen=True)
class AblatedText:
    """The text of free decoding with some heads ablated; ``text`` is None where it reaches no end mark."""

    heads: frozenset[Head]
    text: str | None


def ablate_heads(
    corrector: Intervenes, source: str, sets: Iterable[Collection[Head]], means: Means | None = None
) -> tuple[AblatedText, ...]:
    """Correct one sentence with each of these sets of heads ablated, by free decoding.

    Args:
        sets: plain tuples will do as heads.

    Raises:
        ValueError: for a head that the network does not have, and for a source that is longer than it can
            read.

    Example:
        >>> [ablated] = ablate_heads(corrector, "머거요", [[("cross_attention", 0, 0)]])
        >>> ablated.heads, type(ablated.text)
        (frozenset({Head(kind='cross_attention', layer=0, head=0)}), <class 'str'>)
    """
    interventions = [Intervention(off=frozenset(heads), means=means) for heads in sets]
    texts = corrector.written_under(source, interventions)
    return tuple(AblatedText(each.off, text) for each, text in zip(interventions, texts, strict=True))


@dataclass(frozen=True)
class PairEffects(Result):
    """The effects of N heads on one sentence:

    on each of its E changes, on its C copied characters, and on the whole text.

    ``attention`` and ``written`` are observed; the others are in nats, from passes with one head ablated.
    """

    heads: tuple[Head, ...]
    changes: tuple[Change, ...]  # (E,) those of the pair that change a token
    attention: np.ndarray  # (E, N) float32, observed: the share that each head gives to the change
    written: np.ndarray  # (E,) bool, observed: whether the fix is more probable than the typed text
    edits: np.ndarray  # (E, N) float32, the change of log p(fix) - log p(keep), as ``HeadEffects.effect``
    copied: np.ndarray  # (C, N) float32, the change of log p of each copied target character
    whole: np.ndarray  # (N,) float32, the change of log p of the whole target given the source


def pair_effects(corrector: Network, source: str, target: str) -> PairEffects:
    """Measure all of ``PairEffects`` for one sentence, from one batch of teacher-forced passes.

    Raises:
        ValueError: for a network that takes no interventions, and for a source that is longer than it can
            read.

    Example:
        >>> effects = pair_effects(corrector, "머거요", "먹어요")
        >>> effects.edits.shape, effects.copied.shape  # one change, one copied character; 48 heads
        ((1, 48), (1, 48))
    """
    heads = every_head(corrector.config)
    ids = corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    interventions = [Intervention(), *(Intervention(off=frozenset([head])) for head in heads)]
    count = len(interventions)
    logits = corrector.laboratory.pass_over(
        [ids[0]] * count, [ids[1]] * count, interventions
    ).logits  # (1 + N, T, V)
    logs = log_softmax(logits)[:, np.arange(len(ids[1])), ids[1]]  # (1 + N, T)
    lost = logs[1:] - logs[0]  # (N, T)
    changes = find_changes(source, target)
    copied = ~changed_rows(changes, len(ids[1]))
    copied[-1] = False  # the end mark is no character
    asked: list[tuple[Change, Contrast]] = []
    for change in changes:
        try:
            asked.append((change, contrast_of_edit(corrector, Edit(source, target, change))))
        except ValueError:
            continue  # it writes the same tokens as the source, such as one emoji for another
    trace = corrector.trace(source, target) if asked else None
    attention = np.zeros((len(asked), len(heads)), np.float32)
    scores = np.zeros((len(asked), count), np.float32)
    for number, (change, contrast) in enumerate(asked):
        assert trace is not None
        attention[number] = attention_of_heads(trace, change, changes)
        scores[number] = logits[:, contrast.row, contrast.written] - logits[:, contrast.row, contrast.instead]
    return PairEffects(
        heads=heads,
        changes=tuple(change for change, _ in asked),
        attention=attention,
        written=scores[:, 0] > 0,
        edits=scores[:, 1:] - scores[:, :1],
        copied=lost[:, copied].T,
        whole=lost.sum(axis=1),
    )


def mean_outputs(corrector: Network, source: str, target: str) -> dict[str, np.ndarray]:
    """The output of each head in one sentence, the mean over its rows: (L, H, D/H) float32 by kind.

    Averaged over a corpus it serves as ``Intervention.means``.
    """
    ids = corrector.tokenizer.encode_source(source), corrector.tokenizer.encode_target(target)
    insides = insides_of(corrector.patched, *ids)
    return {
        kind: np.einsum("lhqk,lhkd->lhd", weights, insides.values[kind]) / weights.shape[2]
        for kind, weights in insides.attention.items()
    }


class PruningPoint(NamedTuple):
    """A network without ``removed`` heads; shares in 0..1, nan where nothing could be judged."""

    removed: int
    exact: float  # sentences with errors that come out as they should
    untouched: float  # correct sentences that come out as they went in


def pruning_curve(
    corrector: Network, pairs: Sequence[TextPair], order: Sequence[Head], counts: Sequence[int]
) -> Iterator[PruningPoint]:
    """Measure how well a network still corrects with the first heads of ``order`` ablated.

    Judged is the network's own text, before a ``Corrector`` leaves unsure changes undone: greedy decoding
    writes a text exactly where each of its tokens is the most probable one after those before it, so one
    teacher-forced pass decides.

    Args:
        pairs: (wrong, right). Correct sentences are the right sides, each judged once.
        counts: the numbers of ablated heads.

    Raises:
        ValueError: with the first result, for a count outside 0..``len(order)``.

    Example:
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
        yield PruningPoint(count, *(_share_written(corrector, some, off) for some in (wrong, clean)))


def _share_written(
    corrector: Network, pairs: Sequence[TextPair], off: Intervention, batch: int = 64
) -> float:
    tokenizer = corrector.tokenizer
    encoded = ((tokenizer.encode_source(one), tokenizer.encode_target(other)) for one, other in pairs)
    ids = sorted(encoded, key=lambda both: len(both[0]))
    parts = (ids[first : first + batch] for first in range(0, len(ids), batch))
    written = sum(sum(agreeing(corrector, part, off)) for part in parts)
    return written / len(ids) if ids else float("nan")


def agreeing(
    corrector: Network, ids: Sequence[tuple[list[int], list[int]]], intervention: Intervention
) -> list[bool]:
    """Of each source (S,) and target (T,), whether greedy decoding under an intervention writes the target.

    It does where each token of the target is the most probable one after those before it.
    """
    if not ids:
        return []
    sources, targets = zip(*ids, strict=True)
    logits = corrector.laboratory.pass_over(sources, targets, [intervention] * len(ids)).logits
    likeliest = logits.argmax(axis=-1)  # (B, T)
    return [row[: len(each)].tolist() == each for row, each in zip(likeliest, targets, strict=True)]


def random_order(heads: Sequence[Head], seed: int) -> tuple[Head, ...]:
    """The same heads in an order that only ``seed`` decides."""
    return tuple(heads[place] for place in np.random.default_rng(seed).permutation(len(heads)))
