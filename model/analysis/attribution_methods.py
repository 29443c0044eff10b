"""Input attribution methods: attention rollout, ALTI, integrated gradients and others.

Each gives a score to every source token, and to every token read before, for one produced token.

Shapes: L layers, H heads, S source and T target tokens, N tokens of a decoder alone, Q query and K key
positions, D d_model. A method scores one row of the decoder: its contrast, that is, the logit of the written
token minus that of another one.

To add a method, write a function from ``AttributedRow`` to ``TokenScores``, or by ``in_row`` to ``ByToken``,
and an entry of ``METHODS``; the app shows it under the text ``method_<name>``.

References:
    rollout: Abnar & Zuidema, "Quantifying Attention Flow in Transformers" (ACL 2020), section 3.
    norms: Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020), section 3.
    alti: Ferrando, Gállego & Costa-jussà, "Measuring the Mixing of Contextual Information in the
        Transformer" (EMNLP 2022), equations 8 to 10; its decoder: Ferrando et al., "Towards Opening the
        Black Box of Neural Machine Translation" (EMNLP 2022).
    value_zeroing: Mohebbi et al., "Quantifying Context Mixing in Transformers" (EACL 2023), section 3, for
        an encoder; a decoder's row mixes the tokens read before and the source, which is our extension.
    integrated_gradients: Sundararajan, Taly & Yan, "Axiomatic Attribution for Deep Networks" (ICML 2017),
        section 3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from model.activations.token_network import insides_of, zero_values
from model.analysis.contrasts import AskedRow, CleanRun
from model.correction.answers import Network
from model.stored.config import GRADIENTS, INTERVENTIONS, STREAM
from model.trace.interventions import Insides, Intervention, Slopes, Zeroed
from model.trace.trace import AttentionTrace

# The cost of a method: one pass over the sentence, one for each token, or many along a path. Cheap ones are
# shown first.
ONE_PASS, EACH_TOKEN, PATH = range(3)
TOLERATED_GAP = 0.01  # the largest relative error of the sum of integrated gradients
_TOLERATED_ERRORS = 0.1  # the same for the sum of the sizes of all intervals' errors, which may cancel out
_FIRST, _SPLIT, _MOST = 8, 8, 160  # intervals at first, intervals split at a time, points at most
_ROUNDING = 1e-5  # largest sum of the cosine distances of float32 vectors that do not differ

ByToken = tuple[np.ndarray, np.ndarray]  # by source token (T, S), by token read before (T, T)
Slope = Callable[[Sequence[float]], tuple[np.ndarray, np.ndarray]]


class AttributedRow(AskedRow):
    """One produced token of one sentence; arrays of the pass that several methods need are computed once."""

    @cached_property
    def trace(self) -> AttentionTrace:
        """The trace of the whole pair."""
        return self.corrector.trace(self.edit.source, self.edit.target)

    @property
    def network(self) -> Network:
        """The same corrector with its laboratory, which ``AttributionMethod.needs`` guarantees."""
        return cast(Network, self.corrector)

    @cached_property
    def ids(self) -> tuple[list[int], list[int]]:
        """The ids (S,) of the source and (T,) of the target up to this row; later ones do not matter."""
        tokenizer, read = self.network.tokenizer, self.contrast.row + 1
        return tokenizer.encode_source(self.edit.source), tokenizer.encode_target(self.edit.target)[:read]

    @cached_property
    def insides(self) -> Insides:
        """Values (L, H, K, D/H), residual streams and output projections of the pass up to this row."""
        return insides_of(self.network.patched, *self.ids)

    def slopes(self, points: Sequence[float]) -> Slopes:
        """The derivatives of the score, which may be a metric, by the embeddings."""
        if self.edit.metric is not None:
            return CleanRun(self.network, self.edit).slopes(points)
        asked = self.contrast.row, self.contrast.written, self.contrast.instead
        return self.network.laboratory.slopes(*self.ids, asked, points)


class TokenScores(NamedTuple):
    """The scores that a method gives to the tokens before one produced token."""

    source: np.ndarray  # (S,) the end mark last
    before: np.ndarray  # (row + 1,) the start mark first
    gap: float | None = None  # of integrated gradients: the relative error of their sum


@dataclass(frozen=True)
class AttributionMethod:
    """One input attribution method.

    ``signed`` scores are in nats of log p(written) - log p(instead): positive ones favour the written token.
    The others are shares: none is negative, and ``source`` and ``before`` together sum to 1.
    """

    scores: Callable[[AttributedRow], TokenScores]
    cost: int = ONE_PASS  # or EACH_TOKEN, PATH
    signed: bool = False
    intervenes: bool = False  # whether it compares passes with something changed
    needs: str = GRADIENTS  # the ability of ``model.stored.config.ABILITIES`` that it needs


def in_row(by_token: Callable[[AttributedRow], ByToken]) -> Callable[[AttributedRow], TokenScores]:
    """The scores of one row by a method that scores all of them.

    A decoder alone has read the source as its prompt, and no start mark.
    """

    def scores(row: AttributedRow) -> TokenScores:
        source, before = by_token(row)
        prompt, at = row.trace.prompt, row.contrast.row
        if not prompt:
            return TokenScores(source[at], before[at, : at + 1])
        asked = before[prompt - 1 + at]
        return TokenScores(asked[:prompt], np.concatenate([[0.0], asked[prompt : prompt + at]]))

    return scores


def _attention(row: AttributedRow) -> ByToken:
    """Raw attention: the mean of the weights over layers and heads; source and target share one half each."""
    mean = {kind: weights.mean(axis=(0, 1)) for kind, weights in _maps(row.trace).items()}
    if row.trace.prompt:
        return _of_decoder(mean["decoder_attention"])
    source = mean["cross_attention"] / 2
    return source, mean.get("decoder_attention", np.zeros((len(source), len(source)))) / 2


def _maps(trace: AttentionTrace) -> dict[str, np.ndarray]:
    return {kind: trace.attention(kind) for kind in trace.kinds}


def _of_decoder(before: np.ndarray) -> ByToken:
    """The scores (N, N) of a decoder alone, which has no source (N, 0)."""
    return before[:, :0], before


def norms(insides: Insides) -> ByToken:
    """Norm-weighted attention by source token (T, S) and by token read before (T, T).

    The length of ``added_vectors``, the mean over layers. Both attentions of the decoder add to one stream,
    so their lengths compare; rows are divided by the sum of both.
    """
    kinds = [kind for kind in ("cross_attention", "decoder_attention") if kind in insides.attention]
    *source, before = _shares(*(_mean_lengths(insides, kind) for kind in kinds))
    return (source[0], before) if source else _of_decoder(before)


def _mean_lengths(insides: Insides, kind: str) -> np.ndarray:
    layers = range(len(insides.attention[kind]))
    return np.mean([np.linalg.norm(added_vectors(insides, kind, layer), axis=-1) for layer in layers], axis=0)


def added_vectors(insides: Insides, kind: str, layer: int) -> np.ndarray:
    """(Q, K, D) float64:

    the vectors that an attention layer adds to each row, by the key that they come from.

    Each is weight times value vector, through the output projection; over K they sum to the layer's output
    without its bias.
    Reference: Kobayashi et al. (2020), equation 3.
    """
    weights = insides.attention[kind][layer].astype(np.float64)  # (H, Q, K)
    projected = insides.values[kind][layer].astype(np.float64) @ insides.output_kernels[kind][layer]
    return np.einsum("hqk,hkd->qkd", weights, projected, optimize=True)  # projected: (H, K, D)


def rollout(attention: dict[str, np.ndarray]) -> ByToken:
    """Attention rollout, by source token (T, S) and by token read before (T, T).

    Each attention is averaged over its heads, and half of each row is the residual connection. Feed-forward
    layers mix no tokens.
    """
    mean = {kind: weights.mean(axis=1, dtype=np.float64) for kind, weights in attention.items()}
    own = {kind: (mean[kind] + np.eye(mean[kind].shape[1])) / 2 for kind in mean if kind != "cross_attention"}
    if "cross_attention" not in mean:
        return _rolled_through(own["decoder_attention"])
    both = own["decoder_attention"] / 2, mean["cross_attention"] / 2
    return _rolled_through(*both, own["encoder_attention"])


def _rolled_through(
    own: np.ndarray, cross: np.ndarray | None = None, encoder: Sequence[np.ndarray] = ()
) -> ByToken:
    """Multiply the mixing matrices of all layers.

    Args:
        own: (L, T, T), cross: (L, T, S); of both together each row sums to 1. A decoder alone has no cross.
        encoder: (L, S, S), rows that sum to 1.
    """
    cross = own[..., :0] if cross is None else cross
    read = np.eye(cross.shape[2])
    for layer in encoder:
        read = layer @ read  # (S, S): the input from which each encoder state comes
    before, source = np.eye(own.shape[1]), np.zeros(cross.shape[1:])
    for layer, from_source in zip(own, cross, strict=True):
        before, source = layer @ before, layer @ source + from_source @ read
    return source, before


def alti(insides: Insides) -> ByToken:
    """ALTI by source token (T, S) and by token read before (T, T).

    A row of an attention's output is a sum of vectors: one for each key, and the residual connection. The
    nearer one of them comes to the sum, in the Manhattan distance, the more it contributes; the shares of all
    layers are multiplied.
    """
    own, cross = _self_shares(insides, "decoder_attention"), []
    if "cross_attention" not in insides.attention:
        return _rolled_through(np.stack(own))
    for layer, read in enumerate(own):
        vectors = added_vectors(insides, "cross_attention", layer)
        passing = insides.entering["cross_attention"][layer].astype(np.float64)
        shares = _nearness(insides, "cross_attention", layer, np.append(vectors, passing[:, None], axis=1))
        cross.append(shares[:, :-1])
        own[layer] = shares[:, -1:] * read
    return _rolled_through(np.stack(own), np.stack(cross), _self_shares(insides, "encoder_attention"))


def _self_shares(insides: Insides, kind: str) -> list[np.ndarray]:
    """(N, N) of each layer of self-attention:

    the shares of the tokens, with the residual connection on the diagonal.
    """
    found = []
    for layer in range(len(insides.attention[kind])):
        vectors = added_vectors(insides, kind, layer)
        diagonal = np.arange(len(vectors))
        vectors[diagonal, diagonal] += insides.entering[kind][layer]
        found.append(_nearness(insides, kind, layer, vectors))
    return found


def _nearness(insides: Insides, kind: str, layer: int, vectors: np.ndarray) -> np.ndarray:
    """(Q, N, D) vectors -> (Q, N): how near each comes to their sum, rows that sum to 1."""
    bias = insides.output_biases[kind][layer]
    if insides.norm_scales is not None:  # the normalisation that follows, made linear; its length cancels out
        scale = insides.norm_scales[kind][layer]
        vectors = (vectors - vectors.mean(axis=-1, keepdims=True)) * scale
        bias = (bias - bias.mean()) * scale
    whole = vectors.sum(axis=1) + bias  # (Q, D)
    apart = np.abs(whole[:, None] - vectors).sum(axis=-1)  # (Q, N)
    near = np.maximum(np.abs(whole).sum(axis=-1, keepdims=True) - apart, 0)
    total = near.sum(axis=1, keepdims=True)
    # Cancellation may leave a sum that no vector comes near to: then all share alike.
    return np.where(total > 0, near / np.where(total > 0, total, 1), 1 / near.shape[1])


def _gradient(row: AttributedRow) -> TokenScores:
    """Gradient times input embedding, summed over D. Positional encodings get no share."""
    found = row.slopes([1.0])
    return TokenScores(found.source[0], found.target[0])


def _integrated_gradients(row: AttributedRow) -> TokenScores:
    """The mean gradient on the straight path from no token embeddings (positions only) to the embeddings."""

    def slope(points: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        found = row.slopes(points)
        return found.score, np.concatenate([found.source, found.target], axis=1)

    summed, gap = integrate(slope)
    source, before = np.split(summed, [len(row.ids[0])])
    return TokenScores(source, before, gap)


def integrate(slope: Slope) -> tuple[np.ndarray, float]:
    """Integrate a gradient over 0..1 by Simpson's rule, with more points where it changes fast.

    Args:
        slope: points (P,) of the path -> the score (P,) and its derivatives (P, N) there.

    Returns:
        The integral (N,) float64, and the relative error of its sum: the sum should be the change of the
        score (fundamental theorem); the absolute error where the score does not change. ReLU makes kinks in
        the path: intervals with the largest errors are halved until ``TOLERATED_GAP`` is met or 160 points
        are known.

    Example:
        >>> integral, gap = integrate(lambda points: (np.square(points), 2 * np.array(points)[:, None]))
        >>> integral.round(6).tolist()
        [1.0]
    """
    known: dict[float, tuple[float, np.ndarray]] = {}

    def evaluate(points: list[float]) -> None:
        for point, score, row in zip(points, *slope(points), strict=True):
            known[point] = float(score), row.astype(np.float64)

    def simpson(start: float, end: float) -> np.ndarray:
        rows = [known[point][1] for point in (start, (start + end) / 2, end)]
        return (end - start) / 6 * (rows[0] + 4 * rows[1] + rows[2])

    edges = np.linspace(0, 1, _FIRST + 1).tolist()
    intervals = list(pairwise(edges))
    evaluate([*edges, *(sum(each) / 2 for each in intervals)])
    whole = known[1.0][0] - known[0.0][0]
    scale = abs(whole) or 1.0
    while True:
        sums = [simpson(*interval) for interval in intervals]
        errors = [
            part.sum() - (known[end][0] - known[start][0])
            for part, (start, end) in zip(sums, intervals, strict=True)
        ]
        gap, rough = sum(errors) / scale, sum(map(abs, errors)) / scale
        if (abs(gap) <= TOLERATED_GAP and rough <= _TOLERATED_ERRORS) or len(known) >= _MOST:
            return np.sum(sums, axis=0), float(gap)
        worst = np.argsort(-np.abs(errors))[:_SPLIT].tolist()
        middles = {place: sum(intervals[place]) / 2 for place in worst}
        halves = [pair for n in worst for pair in pairwise((intervals[n][0], middles[n], intervals[n][1]))]
        intervals = [each for place, each in enumerate(intervals) if place not in worst] + halves
        evaluate([sum(half) / 2 for half in halves])


def _value_zeroing(row: AttributedRow) -> ByToken:
    return zeroed_shares(zero_values(row.network.patched, *row.ids))


def zeroed_shares(zeroed: Zeroed) -> ByToken:
    """Value zeroing by source token (T, S) and by token read before (T, T).

    A row's cosine distances over all positions whose values were zeroed, the mean over the decoder's layers,
    divided by their sum. Layers are not multiplied as in ``rollout``: the distances do not tell the share of
    the residual connection, without which a product loses the lower layers. A row in which no value has an
    effect is all 0.
    """
    decoder, cross = (each.mean(axis=0, dtype=np.float64) for each in zeroed)
    source, before = _shares(cross, decoder, least=_ROUNDING)
    return source, before


def _occlusion(row: AttributedRow) -> TokenScores:
    """Leave out each token in turn:

    the drop of the logit difference. The other methods are compared with this one.
    """
    length = len(row.trace.source_tokens) or row.trace.prompt  # of a decoder alone the prompt
    gone = [Intervention(without_source=frozenset([place])) for place in range(length)]
    gone += [Intervention(without_target=frozenset([place])) for place in range(row.contrast.row + 1)]
    scores, _ = row.under([Intervention(), *gone])
    lost = scores[0] - scores[1:]
    return TokenScores(lost[:length], lost[length:])


def _shares(*parts: np.ndarray, least: float = 0.0) -> list[np.ndarray]:
    """Divide rows by the sum over all ``parts``; rows whose sum is at most ``least`` are 0."""
    total = sum(part.sum(axis=1) for part in parts)[:, None]
    return [np.divide(part, total, out=np.zeros_like(part), where=total > least) for part in parts]


METHODS: dict[str, AttributionMethod] = {
    "attention": AttributionMethod(in_row(_attention), needs=INTERVENTIONS),
    "norms": AttributionMethod(in_row(lambda row: norms(row.insides)), needs=STREAM),
    "rollout": AttributionMethod(in_row(lambda row: rollout(_maps(row.trace)))),
    "alti": AttributionMethod(in_row(lambda row: alti(row.insides)), needs=STREAM),
    "gradient": AttributionMethod(_gradient, signed=True),
    "integrated_gradients": AttributionMethod(_integrated_gradients, PATH, signed=True),
    "value_zeroing": AttributionMethod(in_row(_value_zeroing), EACH_TOKEN, intervenes=True, needs=STREAM),
    "occlusion": AttributionMethod(_occlusion, EACH_TOKEN, signed=True, intervenes=True, needs=INTERVENTIONS),
}
