"""The residual stream read linearly: direct logit attribution, the logit lens, and the decomposition of a direction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.activations.drafting import log_softmax
from model.activations.walk import PatchedTransformer
from model.analysis.counterfactuals import contrasts_of_sentence
from model.correction.answers import Network
from model.text import hangul
from model.text.changes import Change
from model.trace.interventions import ATTENTIONS, SUBLAYERS, Contrast, Node, OutputWeights, tap

EMBEDDING, POSITION, BIAS = "embedding", "position", "bias"


def residual_taps(side: str) -> tuple[str, ...]:
    """What ``decompose_residual`` needs of a pass for one side."""
    return (
        *(tap(side, part) for part in ("embedding", "residual", "output")),
        *(tap(kind, "heads") for kind in ATTENTIONS[side]),
    )


def decompose_residual(
    network: PatchedTransformer,
    found: Mapping[str, np.ndarray],
    side: str,
    place: int,
    asked: np.ndarray,
    norm: tuple[np.ndarray, np.ndarray] | None,
) -> dict[Node | str, np.ndarray]:
    """By part (J,): what it adds at each of J positions to the dot product of ``asked`` (D,) with what is read at ``place`` of the stream.

    ``norm``: gamma and beta of the normalisation through which it is read; None where it is read as it is.

    >>> network = corrector.patched
    >>> found = network.taps(corrector.tokenizer.encode_source("밥"), corrector.tokenizer.encode_target("밥"), taps_of("encoder"))
    >>> parts = parts_of(network, found, "encoder", 2, np.ones(128, np.float32), None)
    >>> bool(np.allclose(sum(parts.values()), found["encoder_residual"][2].sum(axis=-1), atol=1e-3))
    True
    """
    residual, output, embedding = (found[tap(side, part)] for part in ("residual", "output", "embedding"))
    towards = np.repeat(asked[None].astype(np.float64), residual.shape[1], axis=0)  # (J, D)
    shifted = np.zeros(len(towards))
    if norm is not None:
        shifted += towards @ norm[1]
        towards = network.normalisation.before(towards, residual[place], norm[0])
    parts: dict[Node | str, np.ndarray] = {}
    kinds = SUBLAYERS[side]
    for sublayer in reversed(range(place)):
        layer, kind = sublayer // len(kinds), kinds[sublayer % len(kinds)]
        if not network.config.norm_first:
            gamma, beta = network.norm_weights(kind, layer)
            shifted += towards @ beta
            towards = network.normalisation.before(towards, residual[sublayer] + output[sublayer], gamma)
        added = output[sublayer]
        if kind in ATTENTIONS[side]:
            heads = found[tap(kind, "heads")][layer]
            for head in range(len(heads)):
                node = Node(kind, layer, head)
                written = network.written(node, heads[head])
                parts[node] = _dot(written, towards)
                added = added - written
            shifted += _dot(added, towards)  # the bias of the output projection
        else:
            parts[Node(kind, layer)] = _dot(added, towards)
    parts[POSITION] = _dot(residual[0] - embedding, towards)
    parts[EMBEDDING] = _dot(embedding, towards)
    return dict(reversed(parts.items())) | {BIAS: shifted}


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("jd,jd->j", one, other)


KINDS = ATTENTIONS["decoder"]  # in the order of a layer's sub-layers; feed-forward is the third
ATTRIBUTION_TAPS = (
    "logits",
    "decoder_embedding",
    "decoder_residual",
    "decoder_output",
    *KINDS,
    *(tap(kind, "value") for kind in KINDS),
)


class ResidualComponent(NamedTuple):
    """A part of the decoder, and what it added to the score. More than 0 speaks for what was written.

    >>> Part("cross_attention", layer=3, head=0, nats=2.5).name
    'cross_attention'
    """

    name: str  # embedding, position, decoder_attention, cross_attention, feed_forward, projection_bias, output_bias
    layer: int | None  # from 0
    head: int | None
    nats: float


@dataclass(frozen=True)
class LogitAttribution:
    """N questions about one sentence, and what each part of the decoder added to their scores, in nats.

    The first T ``questions`` are the rows of the sentence: the token that was written against the likeliest other one. Those
    of the changes follow: what the fix writes against keeping what was typed.
    """

    questions: tuple[Contrast, ...]  # (N,)
    changes: tuple[int | None, ...]  # the number of each change's question; None where fix and source agree
    score: np.ndarray  # (N,) float64, of the pass itself
    embedding: np.ndarray  # (N,) the token that was written before
    position: np.ndarray  # (N,)
    by_key: dict[str, np.ndarray]  # by kind (N, L, H, K): of each head, by key position
    feed_forward: np.ndarray  # (N, L), their biases included
    projection_bias: np.ndarray  # (N,) biases of the output projections, which belong to no head
    output_bias: np.ndarray  # (N,) of the output layer, and what the normalisations shift

    def parts(self, number: int) -> tuple[ResidualComponent, ...]:
        """The parts of the score of one question, in the order in which data passes them."""
        found = [ResidualComponent("embedding", None, None, float(self.embedding[number]))]
        found.append(ResidualComponent("position", None, None, float(self.position[number])))
        for layer in range(self.feed_forward.shape[1]):
            for kind in KINDS:
                heads = self.by_key[kind][number, layer].sum(axis=-1)
                found += [
                    ResidualComponent(kind, layer, head, float(nats)) for head, nats in enumerate(heads)
                ]
            found.append(
                ResidualComponent("feed_forward", layer, None, float(self.feed_forward[number, layer]))
            )
        found.append(ResidualComponent("projection_bias", None, None, float(self.projection_bias[number])))
        found.append(ResidualComponent("output_bias", None, None, float(self.output_bias[number])))
        return tuple(found)

    def remainder(self, number: int) -> float:
        """What is missing between the score and the sum of the parts: a rounding error."""
        return float(self.score[number]) - sum(part.nats for part in self.parts(number))

    def rows(self) -> list[int]:
        """(T,) the number of the question that a picture of the whole sentence shows in each row: that of a change where one begins."""
        count = len(self.questions) - sum(number is not None for number in self.changes)
        found = list(range(count))
        for number in reversed([each for each in self.changes if each is not None]):
            found[self.questions[number].row] = number
        return found

    def maps(self, kind: str) -> np.ndarray:
        """(L, H, T, K): for each head a map like that of its attention, whose cells are nats. Heads and layers add up."""
        return self.by_key[kind][self.rows()].transpose(1, 2, 0, 3)


def direct_logit_attribution(
    corrector: Network, source: str, target: str, changes: Sequence[Change] = ()
) -> LogitAttribution:
    """Who wrote each row of a sentence, and each of ``changes``, some of ``find_changes(source, target)``.

    Raises ValueError for a network without a residual stream.

    >>> from model.text.changes import find_changes
    >>> written = direct_logit_attribution(corrector, "머거요", "먹어요", find_changes("머거요", "먹어요"))
    >>> parts = written.parts(written.changes[0])  # of log p(먹) - log p(머)
    >>> bool(np.isclose(sum(part.nats for part in parts), written.score[written.changes[0]], atol=1e-3))
    True
    """
    network, tokenizer = corrector.patched, corrector.tokenizer
    found = network.taps(tokenizer.encode_source(source), tokenizer.encode_target(target), ATTRIBUTION_TAPS)
    questions, numbers = contrasts_of_sentence(corrector, source, target, changes, found["logits"])
    return attribute_contrasts(found, network.output_weights, questions, numbers)


def attribute_contrasts(
    found: Mapping[str, np.ndarray],
    weights: OutputWeights,
    questions: Sequence[Contrast],
    changes: Sequence[int | None] = (),
) -> LogitAttribution:
    """The parts of the scores of ``questions``. ``found``: the arrays ATTRIBUTION_TAPS of a pass over one sentence."""
    rows = [each.row for each in questions]
    written, instead = ([getattr(each, name) for each in questions] for name in ("written", "instead"))
    asked = (weights.vocabulary[written] - weights.vocabulary[instead]).astype(np.float64)  # (N, D)
    directions, shifted = _directions(found, weights, rows, asked)
    embedding = found["decoder_embedding"][rows]
    logits = found["logits"].astype(np.float64)
    layers = weights.biases[KINDS[0]].shape[0]
    biases = np.zeros(len(rows))
    by_key = {}
    for place, kind in enumerate(KINDS):
        towards = directions[place::3]  # (L, N, D)
        biases += np.einsum("ld,lnd->n", weights.biases[kind], towards)
        by_key[kind] = _by_key(found, weights.kernels[kind], kind, rows, towards)
    feed_forward = found["decoder_output"][2::3][:, rows]
    return LogitAttribution(
        questions=tuple(questions),
        changes=tuple(changes),
        score=logits[rows, written] - logits[rows, instead],
        embedding=_dot(embedding, directions[0]),
        position=_dot(found["decoder_residual"][0][rows] - embedding, directions[0]),
        by_key=by_key,
        feed_forward=np.stack([_dot(feed_forward[n], directions[3 * n + 2]) for n in range(layers)], axis=1),
        projection_bias=biases,
        output_bias=shifted + weights.bias[written] - weights.bias[instead],
    )


def _directions(
    found: Mapping[str, np.ndarray], weights: OutputWeights, rows: Sequence[int], asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Directions (3L, N, D) and shifts (N,) of the scores, with all later normalisations held at their scale.

    What a sub-layer adds to the stream adds its dot product with the direction to the score. A shift is what the normalisations add by
    their biases. ``asked`` (N, D): the direction at the end of the stream, after the last normalisation.
    """
    stream, added = found["decoder_residual"].astype(np.float64), found["decoder_output"]
    norms = weights.norms["decoder"].astype(np.float64)
    sublayers = added.shape[0]
    if weights.norm_first:
        shifted = asked @ norms[0, 1]
        towards = weights.normalisation.before(asked, stream[-1][rows], norms[0, 0])
        return np.repeat(towards[None], sublayers, axis=0), shifted
    found_directions, shifted = [], np.zeros(len(asked))
    # From the end, because each normalisation turns the direction behind it into the one before it.
    for n in reversed(range(sublayers)):
        shifted = shifted + asked @ norms[n, 1]
        asked = weights.normalisation.before(asked, (stream[n] + added[n])[rows], norms[n, 0])
        found_directions.append(asked)
    return np.stack(found_directions[::-1]), shifted


def _by_key(
    found: Mapping[str, np.ndarray], kernels: np.ndarray, kind: str, rows: Sequence[int], towards: np.ndarray
) -> np.ndarray:
    """(N, L, H, K): the weight of each position times what its value adds to the score."""
    read = np.einsum("lhdo,lno->lhdn", kernels, towards, optimize=True)  # what a head's values are read with
    # (L, H, K, d) @ (L, H, d, N) -> (L, H, K, N).
    values = found[tap(kind, "value")] @ read.astype(np.float32)
    weighed = found[kind][:, :, rows] * values.swapaxes(-1, -2)  # (L, H, N, K)
    return np.ascontiguousarray(weighed.transpose(2, 0, 1, 3))


SIDES = ("encoder", "decoder")
JAMO = {"initial": tuple(hangul.INITIALS), "medial": tuple(hangul.MEDIALS), "final": hangul.FINALS}
LENS_TAPS = ("logits", *(tap(side, "residual") for side in SIDES))
LIKELIEST = 3


@dataclass(frozen=True)
class JamoLens:
    """The likeliest jamo of one part of the syllable (initial, medial or final) at each place and position. nan where no syllable stands.

    >>> found = logit_lens(corrector, "머거요", "먹어요").jamo["decoder final"]
    >>> found.probability.shape == found.likeliest.shape
    True
    """

    likeliest: np.ndarray  # (places, positions) int16, numbers in JAMO; -1 where no syllable stands
    probability: np.ndarray  # (places, positions) float32, of the likeliest
    expected: np.ndarray  # the same of the jamo that was written there, or in the encoder typed


@dataclass(frozen=True)
class LogitLens:
    """What the places of one pass say. ``questions`` and ``changes`` are those of ``writing.Written``."""

    questions: tuple[Contrast, ...]  # (N,)
    changes: tuple[int | None, ...]
    likeliest: np.ndarray  # (3L+1, T, LIKELIEST) int32, token ids
    probabilities: np.ndarray  # (3L+1, T, LIKELIEST) float32
    written: np.ndarray  # (3L+1, T) float32, the probability of what was written
    scores: np.ndarray  # (3L+1, N) float32, log p(written) - log p(instead)
    names: dict[int, str]  # token id -> label, of all that is in ``likeliest``
    # By "side part", such as "encoder final"; none where tokens are not sums of jamo
    jamo: dict[str, JamoLens]

    def labels(self) -> list[list[str]]:
        """(3L+1, T): the likeliest token at each place and step."""
        return [[self.names[token] for token in row] for row in self.likeliest[..., 0].tolist()]

    def is_answer(self, row: int) -> bool:
        """Whether what was written at ``row`` is the likeliest token at the last place. Another one was written where a word list chose
        among the candidates, and where a change was not made."""
        return int(self.likeliest[-1, row, 0]) == self.questions[row].written

    def settled(self, row: int) -> int:
        """The first place from which on the likeliest token at ``row`` is the one at the end."""
        likeliest = self.likeliest[:, row, 0]
        other = np.flatnonzero(likeliest != likeliest[-1])
        return int(other[-1]) + 1 if other.size else 0


def logit_lens(corrector: Network, source: str, target: str, changes: Sequence[Change] = ()) -> LogitLens:
    """When each row of a sentence was decided, and each of ``changes``, some of ``find_changes(source, target)``.

    Raises ValueError for a network without a residual stream.

    >>> decided = logit_lens(corrector, "머거요", "먹어요")
    >>> decided.labels()[-1][0]  # the likeliest first character at the last place
    '먹'
    >>> decided.jamo["decoder final"].likeliest.shape  # where its ㄱ appears: places by characters written
    (13, 4)
    """
    network, tokenizer = corrector.patched, corrector.tokenizer
    found = network.taps(tokenizer.encode_source(source), tokenizer.encode_target(target), LENS_TAPS)
    weights = network.output_weights
    questions, numbers = contrasts_of_sentence(corrector, source, target, changes, found["logits"])
    read = weights.read("decoder", found["decoder_residual"])
    logs = log_softmax(read @ weights.vocabulary.T + weights.bias)  # (3L+1, T, V)
    probabilities = np.exp(logs)
    rows, written, instead = (
        [getattr(contrast, name) for contrast in questions] for name in ("row", "written", "instead")
    )
    likeliest = _likeliest(logs)
    known = sorted(set(likeliest.ravel().tolist()))
    steps = np.arange(logs.shape[1])
    return LogitLens(
        questions=questions,
        changes=numbers,
        likeliest=likeliest,
        probabilities=np.take_along_axis(probabilities, likeliest, axis=-1),
        written=probabilities[:, steps, written[: len(steps)]],
        scores=logs[:, rows, written] - logs[:, rows, instead],
        names=dict(zip(known, corrector.tokenizer.labels(known), strict=True)),
        jamo={
            **_encoder_jamo(found["encoder_residual"], weights, source),
            **_decoder_jamo(probabilities, corrector.tokenizer.features()[: logs.shape[-1], 1:], target),
        }
        if weights.jamo
        else {},
    )


def _likeliest(logs: np.ndarray) -> np.ndarray:
    """(..., V) -> (..., LIKELIEST) int32, the likeliest first."""
    some = np.argpartition(-logs, LIKELIEST - 1, axis=-1)[..., :LIKELIEST]
    order = np.argsort(-np.take_along_axis(logs, some, axis=-1), axis=-1)
    return np.take_along_axis(some, order, axis=-1).astype(np.int32)


def _encoder_jamo(stream: np.ndarray, weights: OutputWeights, text: str) -> dict[str, JamoLens]:
    """Which jamo's vectors the stream (2L+1, S, D) resembles."""
    read = weights.read("encoder", stream)
    return {
        f"encoder {part}": _jamo_read(np.exp(log_softmax(read @ weights.jamo[part].T)), part, text)
        for part in JAMO
    }


def _decoder_jamo(probabilities: np.ndarray, features: np.ndarray, text: str) -> dict[str, JamoLens]:
    """How probable all syllables with a jamo are together, of probabilities (3L+1, T, V). ``features`` (V, 3): each token's
    jamo as numbers from 1, 0 where it is no syllable."""
    sizes = [len(names) for names in JAMO.values()]
    belongs = [
        np.equal.outer(column, np.arange(1, size + 1)) for column, size in zip(features.T, sizes, strict=True)
    ]
    summed = probabilities @ np.concatenate(belongs, axis=1).astype(np.float32)  # (3L+1, T, all jamo)
    each = np.split(summed, np.cumsum(sizes)[:-1], axis=-1)
    return {f"decoder {part}": _jamo_read(found, part, text) for part, found in zip(JAMO, each, strict=True)}


def _jamo_read(probabilities: np.ndarray, part: str, text: str) -> JamoLens:
    """What is read off probabilities (places, positions, jamo), whose positions hold ``text`` and the end mark."""
    number = tuple(JAMO).index(part)
    expected = [hangul.indices(each)[number] if hangul.is_syllable(each) else -1 for each in text] + [-1]
    is_syllable = np.array(expected) >= 0
    values = probabilities.max(axis=-1), probabilities[:, np.arange(len(expected)), expected]
    return JamoLens(
        np.where(is_syllable, probabilities.argmax(axis=-1), -1).astype(np.int16),
        *(np.where(is_syllable, each, np.nan).astype(np.float32) for each in values),
    )
