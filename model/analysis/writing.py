"""Who wrote it: what each part of the decoder added to the score of a correction, as an exact sum.

N questions, L layers, H heads, S source and T target tokens, K key positions, D d_model, d = D/H, V vocabulary. A
question is about one row: why this token and not that one? Its score is log p(written) - log p(instead), in nats.

The score is a difference of two logits, so it is linear in the normalised end of the residual stream. This end is a sum of
all that was added to the stream. With the last layer normalisation held at the scale that it had in this pass, the score is the sum
of what each part adds. Source: Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021), direct logit
attribution. What an attention adds is split over its heads and over the positions they look at, because a head's output
is a sum over positions of weight times value (Kobayashi et al. 2020).

It says what was written, not what mattered: a part may also act through later parts, and the encoder is taken as given.
Without ``norm_first`` one thing is different: all layer normalisations of the decoder are held at their scale, not the last alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from model.analysis.contrasts import contrasts_of_sentence
from model.correction.answers import Network
from model.text.changes import Change
from model.trace.odds import Contrast
from model.trace.output_weights import OutputWeights
from model.trace.patches import ATTENTIONS
from model.trace.taps import tap

KINDS = ATTENTIONS["decoder"]  # in the order of a layer's sub-layers; feed-forward is the third
TAPS = (
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
    found = network.taps(tokenizer.encode_source(source), tokenizer.encode_target(target), TAPS)
    questions, numbers = contrasts_of_sentence(corrector, source, target, changes, found["logits"])
    return attribute_contrasts(found, network.output_weights, questions, numbers)


def attribute_contrasts(
    found: Mapping[str, np.ndarray],
    weights: OutputWeights,
    questions: Sequence[Contrast],
    changes: Sequence[int | None] = (),
) -> LogitAttribution:
    """The parts of the scores of ``questions``. ``found``: the arrays TAPS of a pass over one sentence."""
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


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("nd,nd->n", one, other)
