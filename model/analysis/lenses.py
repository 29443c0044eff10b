"""When it was decided: what the network would say after each sub-layer, and which jamo its vectors hold there.

N questions, L layers, S source and T target tokens, D d_model, V vocabulary. The decoder's stream has 3L + 1 places: its
beginning, then behind each sub-layer; the encoder's has 2L + 1.

A lens reads a place of the residual stream as if it were the end: through the last layer normalisation and the output
layer. Source: nostalgebraist, "interpreting GPT: the logit lens" (2020). What it says of the last place is what the network
says. What it says of others is a guess at what stands there, in the language of the end: later layers may read the same
vector in another way, and early places are biased toward what was just written (Belrose et al., "Eliciting Latent Predictions from
Transformers with the Tuned Lens", 2023). ``docs/experiments.md`` has how often each place agrees with the end.

The jamo lens reads initial, medial and final apart. In the decoder the probability of a final is that of all syllables that have
it together, so at the last place it is the network's own. In the encoder nothing reads the stream like this, and the
syllable that was typed drowns everything else. But syllables enter as sums of jamo vectors, so the stream is compared with the
vectors of one part alone. A softmax of the dot products tells which final's vector it resembles, no more. Where a token is
no syllable neither says anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.activations.drafting import log_softmax
from model.analysis.contrasts import contrasts_of_sentence
from model.correction.answers import Network
from model.text import hangul
from model.text.changes import Change
from model.trace.odds import Contrast
from model.trace.output_weights import OutputWeights
from model.trace.taps import tap

SIDES = ("encoder", "decoder")
JAMO = {"initial": tuple(hangul.INITIALS), "medial": tuple(hangul.MEDIALS), "final": hangul.FINALS}
TAPS = ("logits", *(tap(side, "residual") for side in SIDES))
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
    found = network.taps(tokenizer.encode_source(source), tokenizer.encode_target(target), TAPS)
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
