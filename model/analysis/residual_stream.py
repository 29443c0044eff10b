"""Direct logit attribution, logit lens, jamo lens: the residual stream read linearly.

Shapes: N questions, L layers, H heads, S source and T target tokens, J and K key positions, D d_model, d =
D/H, V vocabulary. The decoder's stream has 3L + 1 places, its beginning and one behind each sub-layer; the
encoder's has 2L + 1. A question is a contrast of two tokens in one row; its score is their logit difference,
log p(written) - log p(instead), in nats.

Direct logit attribution: the logit difference is linear in the normalised end of the stream, which is a sum
of the outputs of all parts. With the last layer normalisation held at the scale of this pass (without
``norm_first`` all of the decoder's), the score is an exact sum over the parts. An attention's part is split
over its heads and over key positions, because a head's output is a sum of weight times value. These are
direct effects: a part may also act through later parts, and the encoder is taken as given.

Logit lens: each place of the stream is read through the last normalisation and the unembedding. At the last
place it is the network's own distribution; before it, a guess that is biased toward the token written before.
``docs/experiments.md`` has the agreement of each place with the end. The jamo lens reads initial, medial and
final apart: in the decoder, the probabilities of all syllables with a jamo are added up; in the encoder, the
softmax of the stream's dot products with the jamo vectors of one part of the syllable.

References:
    Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021).
    Kobayashi et al., "Attention is Not Only a Weight" (EMNLP 2020).
    nostalgebraist, "interpreting GPT: the logit lens" (2020).
    Belrose et al., "Eliciting Latent Predictions from Transformers with the Tuned Lens" (2023).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.drafting import log_softmax
from model.activations.walk import ActivationWalk
from model.analysis.contrasts import Metric, contrasts_of_sentence, score_gradient, score_of
from model.analysis.saving import Result
from model.analysis.statistics import settled_from
from model.correction.answers import Network
from model.text import hangul
from model.text.changes import Change
from model.trace.interventions import ATTENTIONS, Contrast, Node, OutputWeights, sublayer_at, tap

EMBEDDING, POSITION, BIAS = "embedding", "position", "bias"
KINDS = ATTENTIONS["decoder"]  # in the order of a layer's sub-layers; feed-forward is the third
ATTRIBUTION_TAPS = (
    "logits",
    "decoder_embedding",
    "decoder_residual",
    "decoder_output",
    *KINDS,
    *(tap(kind, "value") for kind in KINDS),
)
SIDES = ("encoder", "decoder")
LENS_TAPS = ("logits", *(tap(side, "residual") for side in SIDES))
JAMO = {"initial": tuple(hangul.INITIALS), "medial": tuple(hangul.MEDIALS), "final": hangul.FINALS}
LIKELIEST = 3  # tokens kept for each place and row


class ResidualComponent(NamedTuple):
    """A part of the decoder and its direct contribution to a score, positive in favour of the written token.

    >>> ResidualComponent("cross_attention", layer=3, head=0, nats=2.5).name
    'cross_attention'
    """

    name: str  # embedding, position, a kind of attention, feed_forward, projection_bias or output_bias
    layer: int | None  # from 0
    head: int | None
    nats: float


@dataclass(frozen=True)
class LogitAttribution(Result):
    """The direct contributions of the decoder's parts to the scores of N questions, in nats.

    The first T ``questions`` are the rows of the sentence: the written token against the likeliest other one.
    The questions of the changes follow: the fix against the typed text.
    """

    questions: tuple[Contrast, ...]  # (N,)
    changes: tuple[int | None, ...]  # the number of each change's question; None where fix and source agree
    score: np.ndarray  # (N,) float64, of the pass itself
    embedding: np.ndarray  # (N,) of the token written before
    position: np.ndarray  # (N,)
    by_key: dict[str, np.ndarray]  # by kind (N, L, H, K): of each head, by key position
    feed_forward: np.ndarray  # (N, L), their biases included
    projection_bias: np.ndarray  # (N,) biases of the output projections, which belong to no head
    output_bias: np.ndarray  # (N,) of the unembedding, and the biases of the normalisations

    def matrix(self) -> np.ndarray:
        """(N, P) float64 nats:

        the contributions of all P parts, in the order in which data passes them, as in ``parts``.
        """
        columns = [self.embedding[:, None], self.position[:, None]]
        for layer in range(self.feed_forward.shape[1]):
            columns += [each[:, layer].sum(axis=-1) for each in self.by_key.values()]
            columns.append(self.feed_forward[:, layer, None])
        return np.concatenate([*columns, self.projection_bias[:, None], self.output_bias[:, None]], axis=1)

    def parts(self, number: int) -> tuple[ResidualComponent, ...]:
        """The P parts of the score of one question, in nats, in the order in which data passes them."""
        heads = range(self.by_key[KINDS[0]].shape[2])
        names: list[tuple[str, int | None, int | None]] = [(EMBEDDING, None, None), (POSITION, None, None)]
        for layer in range(self.feed_forward.shape[1]):
            names += [(kind, layer, head) for kind in self.by_key for head in heads]
            names.append(("feed_forward", layer, None))
        names += [("projection_bias", None, None), ("output_bias", None, None)]
        row = self.matrix()[number].tolist()
        return tuple(ResidualComponent(*name, nats) for name, nats in zip(names, row, strict=True))

    def remainder(self, number: int) -> float:
        """The score minus the sum of the parts, in nats: a rounding error, or a metric's curvature."""
        return float(self.score[number] - self.matrix()[number].sum())

    def rows(self) -> list[int]:
        """(T,) the question that a picture of the whole sentence shows in each row:

        that of a change where one begins.
        """
        count = len(self.questions) - sum(number is not None for number in self.changes)
        found = list(range(count))
        for number in reversed([each for each in self.changes if each is not None]):
            found[self.questions[number].row] = number
        return found

    def maps(self, kind: str) -> np.ndarray:
        """(L, H, T, K) nats:

        the contribution of each cell of each head's attention. Heads and layers add up.
        """
        return self.by_key[kind][self.rows()].transpose(1, 2, 0, 3)


def direct_logit_attribution(
    corrector: Network,
    source: str,
    target: str,
    changes: Sequence[Change | Contrast] = (),
    metric: Metric | None = None,
) -> LogitAttribution:
    """Attribute the logit difference of each row, and of each change, to the parts of the decoder.

    Args:
        changes: some of ``find_changes(source, target)``, or contrasts of any rows.
        metric: the score of all these rows in place of the logit difference. Attributed is its gradient at
            the end of the stream, so ``remainder`` has the rest of a metric that is not linear.

    Raises:
        ValueError: for a network without a residual stream.

    Example:
        >>> from model.text.changes import find_changes
        >>> found = direct_logit_attribution(corrector, "머거요", "먹어요", find_changes("머거요", "먹어요"))
        >>> parts = found.parts(found.changes[0])  # of log p(먹) - log p(머)
        >>> bool(np.isclose(sum(part.nats for part in parts), found.score[found.changes[0]], atol=1e-3))
        True
    """
    network, tokenizer = corrector.patched, corrector.tokenizer
    found = network.taps(tokenizer.encode_source(source), tokenizer.encode_target(target), ATTRIBUTION_TAPS)
    questions, numbers = contrasts_of_sentence(corrector, source, target, changes, found["logits"])
    return attribute_contrasts(found, network.output_weights, questions, numbers, metric)


def attribute_contrasts(
    found: Mapping[str, np.ndarray],
    weights: OutputWeights,
    questions: Sequence[Contrast],
    changes: Sequence[int | None] = (),
    metric: Metric | None = None,
) -> LogitAttribution:
    """Attribute the scores (N,) of ``questions`` in a pass over one sentence.

    Args:
        found: the activations ATTRIBUTION_TAPS of the pass.
        changes: the number of each change's question.
    """
    asked_rows = [each.row for each in questions]
    # In front of the rows of the logits, a decoder alone has the positions of the prompt.
    before = found["decoder_residual"].shape[1] - len(found["logits"])
    rows = [row + before for row in asked_rows]
    logits = found["logits"][asked_rows]
    gradients = [score_gradient(*each, metric, weights) for each in zip(logits, questions, strict=True)]
    towards_end, along_bias = (np.array(each) for each in zip(*gradients, strict=True))  # (N, D), (N,)
    directions, shifted = _directions(found, weights, rows, towards_end)
    embedding = found["decoder_embedding"][rows]
    biases = np.zeros(len(rows))
    by_key = {}
    for place, kind in enumerate(KINDS):
        if kind not in weights.kernels:
            continue
        towards = directions[place::3]  # (L, N, D)
        biases += np.einsum("ld,lnd->n", weights.biases[kind], towards)
        by_key[kind] = _by_key(found, weights.kernels[kind], kind, rows, towards)
    return LogitAttribution(
        questions=tuple(questions),
        changes=tuple(changes),
        score=np.concatenate([score_of(*each, metric) for each in zip(logits[:, None], questions)]),
        embedding=_dot(embedding, directions[0]),
        position=_dot(found["decoder_residual"][0][rows] - embedding, directions[0]),
        by_key=by_key,
        feed_forward=_dot(found["decoder_output"][2::3][:, rows], directions[2::3]).T,
        projection_bias=biases,
        output_bias=shifted + along_bias,
    )


def _directions(
    found: Mapping[str, np.ndarray], weights: OutputWeights, rows: Sequence[int], asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Directions (3L, N, D) and shifts (N,) of the scores, with all later normalisations held at their scale.

    The dot product of a sub-layer's output with its direction is its contribution. A shift is the
    contribution of the normalisations' biases. ``asked`` (N, D): the direction at the end of the stream,
    after the last normalisation.
    """
    stream, added = found["decoder_residual"].astype(np.float64), found["decoder_output"]
    norms = weights.norms["decoder"].astype(np.float64)
    if weights.norm_first:
        towards = weights.normalisation.before(asked, stream[-1][rows], norms[0, 0])
        return np.repeat(towards[None], len(added), axis=0), asked @ norms[0, 1]
    directions, shifted = [], np.zeros(len(asked))
    # From the end, because each normalisation turns the direction behind it into the one before it.
    for n in reversed(range(len(added))):
        shifted = shifted + asked @ norms[n, 1]
        if norms[n].any():  # else no normalisation follows
            asked = weights.normalisation.before(asked, (stream[n] + added[n])[rows], norms[n, 0])
        directions.append(asked)
    return np.stack(directions[::-1]), shifted


def _by_key(
    found: Mapping[str, np.ndarray], kernels: np.ndarray, kind: str, rows: Sequence[int], towards: np.ndarray
) -> np.ndarray:
    """(N, L, H, K): the weight of each key times the contribution of its value."""
    # Directions in the space of the values
    read = np.einsum("lhdo,lno->lhdn", kernels, towards, optimize=True)
    # (L, H, K, d) @ (L, H, d, N) -> (L, H, K, N).
    values = found[tap(kind, "value")] @ read.astype(np.float32)
    weighed = found[kind][:, :, rows] * values.swapaxes(-1, -2)  # (L, H, N, K)
    return np.ascontiguousarray(weighed.transpose(2, 0, 1, 3))


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(..., D), (..., D) -> (...)."""
    return np.einsum("...d,...d->...", one, other)


def stream_taps(*parts: str) -> tuple[str, ...]:
    """The activations of both residual streams, and these parts of every kind of attention.

    >>> stream_taps("heads")[:4]
    ('encoder_embedding', 'encoder_residual', 'encoder_output', 'encoder_heads')
    """
    return tuple(
        name
        for side, kinds in ATTENTIONS.items()
        for name in (
            *(tap(side, part) for part in ("embedding", "residual", "output")),
            *(tap(kind, part) for kind in kinds for part in parts),
        )
    )


def decompose_residual(
    network: ActivationWalk,
    found: Mapping[str, np.ndarray],
    place: tuple[str, int],
    asked: np.ndarray,
    norm: tuple[np.ndarray, np.ndarray] | None,
) -> dict[Node | str, np.ndarray]:
    """Decompose the dot product of a direction with a place of the stream over the parts that wrote it.

    Args:
        found: the activations ``stream_taps("heads")`` of a pass.
        place: side, and place of its stream.
        asked: (D,) the direction, or (J, D) one for each position.
        norm: gamma and beta of the normalisation through which the place is read, held at its scale; None for
            none.

    Returns:
        By part (J,): its contribution at each position. They sum to the dot product.

    Example:
        >>> network = corrector.patched
        >>> found = network.taps(corrector.tokenizer.encode_source("밥"), [3], stream_taps("heads"))
        >>> parts = decompose_residual(network, found, ("encoder", 2), np.ones(128, np.float32), None)
        >>> bool(np.allclose(sum(parts.values()), found["encoder_residual"][2].sum(axis=-1), atol=1e-3))
        True
    """
    side, last = place
    residual, output, embedding = (found[tap(side, part)] for part in ("residual", "output", "embedding"))
    towards = np.broadcast_to(asked, residual.shape[1:]).astype(np.float64)  # (J, D)
    shifted = np.zeros(len(towards))
    if norm is not None:
        shifted += towards @ norm[1]
        towards = network.normalisation.before(towards, residual[last], norm[0])
    parts: dict[Node | str, np.ndarray] = {}
    for sublayer in reversed(range(last)):
        kind, layer = sublayer_at(side, sublayer)
        added = output[sublayer]
        if not network.has(kind):
            continue
        if not network.config.norm_first:
            gamma, beta = network.norm_weights(kind, layer)
            shifted += towards @ beta
            towards = network.normalisation.before(towards, residual[sublayer] + added, gamma)
        if kind not in ATTENTIONS[side]:
            parts[Node(kind, layer)] = _dot(added, towards)
            continue
        for head, values in enumerate(found[tap(kind, "heads")][layer]):
            node = Node(kind, layer, head)
            written = network.written(node, values)
            parts[node] = _dot(written, towards)
            added = added - written
        shifted += _dot(added, towards)  # the bias of the output projection
    parts[POSITION] = _dot(residual[0] - embedding, towards)
    parts[EMBEDDING] = _dot(embedding, towards)
    return dict(reversed(parts.items())) | {BIAS: shifted}


@dataclass(frozen=True)
class JamoLens:
    """The likeliest jamo of one part of the syllable, by place and position; nan outside of syllables.

    >>> found = logit_lens(corrector, "머거요", "먹어요").jamo["decoder final"]
    >>> found.probability.shape == found.likeliest.shape
    True
    """

    likeliest: np.ndarray  # (places, positions) int16, numbers in JAMO; -1 outside of syllables
    probability: np.ndarray  # (places, positions) float32, of the likeliest
    expected: np.ndarray  # the same of the jamo that was written there, or in the encoder typed


@dataclass(frozen=True)
class LogitLens(Result):
    """The logit lens at all places of one pass.

    ``questions`` and ``changes`` are those of ``LogitAttribution``.
    """

    questions: tuple[Contrast, ...]  # (N,)
    changes: tuple[int | None, ...]
    likeliest: np.ndarray  # (3L+1, T, LIKELIEST) int32, token ids
    probabilities: np.ndarray  # (3L+1, T, LIKELIEST) float32
    written: np.ndarray  # (3L+1, T) float32, the probability of the written token
    scores: np.ndarray  # (3L+1, N) float32 nats, log p(written) - log p(instead)
    names: dict[int, str]  # token id -> label, of all ids in ``likeliest``
    # By "side part", such as "encoder final"; empty where tokens are not sums of jamo
    jamo: dict[str, JamoLens]

    def labels(self) -> list[list[str]]:
        """The likeliest token at each place and row (P, T), of P = 3L+1 places."""
        return [[self.names[token] for token in row] for row in self.likeliest[..., 0].tolist()]

    def is_answer(self, row: int) -> bool:
        """Whether the written token is the likeliest one at the last place.

        It is not where a word list chose among the candidates, and where a change was not made.
        """
        return int(self.likeliest[-1, row, 0]) == self.questions[row].written

    def settled(self, row: int) -> int:
        """The first place from which on the likeliest token at ``row`` is the one at the end."""
        return settled_from(self.likeliest[:, row, 0])


def logit_lens(
    corrector: Network,
    source: str,
    target: str,
    changes: Sequence[Change | Contrast] = (),
    metric: Metric | None = None,
) -> LogitLens:
    """Read all places of the residual stream by the logit lens, for each row and each change.

    Args:
        changes: some of ``find_changes(source, target)``, or contrasts of any rows.
        metric: the scores of all these rows in place of the logit differences.

    Raises:
        ValueError: for a network without a residual stream.

    Example:
        >>> lens = logit_lens(corrector, "머거요", "먹어요")
        >>> lens.labels()[-1][0]  # the likeliest first character at the last place
        '먹'
        >>> lens.jamo["decoder final"].likeliest.shape  # where its ㄱ appears: places by characters written
        (13, 4)
    """
    network, tokenizer = corrector.patched, corrector.tokenizer
    found = network.taps(tokenizer.encode_source(source), tokenizer.encode_target(target), LENS_TAPS)
    weights = network.output_weights
    questions, numbers = contrasts_of_sentence(corrector, source, target, changes, found["logits"])
    ids = tokenizer.encode_target(target)
    stream = found["decoder_residual"][:, -len(ids) :]  # of a decoder alone without the prompt
    read = weights.read("decoder", stream)
    logits = read @ weights.vocabulary.T + weights.bias  # (3L+1, T, V)
    logs = log_softmax(logits)
    probabilities = np.exp(logs)
    likeliest = _likeliest(logs)
    named = np.unique(likeliest).tolist()
    jamo = {}
    if weights.jamo:
        jamo = _encoder_jamo(found["encoder_residual"], weights, source)
        jamo |= _decoder_jamo(probabilities, tokenizer.features()[: logs.shape[-1], 1:], target)
    return LogitLens(
        questions=questions,
        changes=numbers,
        likeliest=likeliest,
        probabilities=np.take_along_axis(probabilities, likeliest, axis=-1),
        written=probabilities[:, np.arange(len(ids)), ids],
        scores=np.stack(
            [score_of(logits[:, one.row], one, metric) for one in questions], -1, dtype=np.float32
        ),
        names=dict(zip(named, tokenizer.labels(named), strict=True)),
        jamo=jamo,
    )


def _likeliest(logs: np.ndarray) -> np.ndarray:
    """(..., V) -> (..., LIKELIEST) int32, the likeliest first."""
    some = np.argpartition(-logs, LIKELIEST - 1, axis=-1)[..., :LIKELIEST]
    order = np.argsort(-np.take_along_axis(logs, some, axis=-1), axis=-1)
    return np.take_along_axis(some, order, axis=-1).astype(np.int32)


def _encoder_jamo(stream: np.ndarray, weights: OutputWeights, text: str) -> dict[str, JamoLens]:
    """The similarity of the stream (2L+1, S, D) to the vectors of each jamo."""
    read = weights.read("encoder", stream)
    return {
        f"encoder {part}": _jamo_lens(np.exp(log_softmax(read @ weights.jamo[part].T)), part, text)
        for part in JAMO
    }


def _decoder_jamo(probabilities: np.ndarray, features: np.ndarray, text: str) -> dict[str, JamoLens]:
    """The summed probability (3L+1, T, V) of all syllables with each jamo.

    ``features`` (V, 3): each token's jamo as numbers from 1, 0 where it is no syllable.
    """
    sizes = [len(names) for names in JAMO.values()]
    belongs = [
        np.equal.outer(column, np.arange(1, size + 1)) for column, size in zip(features.T, sizes, strict=True)
    ]
    summed = probabilities @ np.concatenate(belongs, axis=1).astype(np.float32)  # (3L+1, T, all jamo)
    each = np.split(summed, np.cumsum(sizes)[:-1], axis=-1)
    return {f"decoder {part}": _jamo_lens(found, part, text) for part, found in zip(JAMO, each, strict=True)}


def _jamo_lens(probabilities: np.ndarray, part: str, text: str) -> JamoLens:
    """The lens of probabilities (places, positions, jamo), whose positions hold ``text`` and the end mark."""
    number = tuple(JAMO).index(part)
    expected = [hangul.indices(each)[number] if hangul.is_syllable(each) else -1 for each in text] + [-1]
    is_syllable = np.array(expected) >= 0
    values = probabilities.max(axis=-1), probabilities[:, np.arange(len(expected)), expected]
    return JamoLens(
        np.where(is_syllable, probabilities.argmax(axis=-1), -1).astype(np.int16),
        *(np.where(is_syllable, each, np.nan).astype(np.float32) for each in values),
    )
