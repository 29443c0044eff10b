"""What the end of a network writes with: the weights between its residual streams and its logits.

L layers, H heads, D d_model, V vocabulary.
"""

from dataclasses import dataclass

import numpy as np

EPSILON = 1e-6  # of layer normalisation in our networks


@dataclass(frozen=True)
class Normalisation:
    """Layer normalisation (Ba, Kiros & Hinton 2016), or the one that only scales (Zhang & Sennrich, "Root Mean Square Layer
    Normalization", 2019), as T5 has it.

    >>> Normalisation().deviation(np.array([3.0, -3.0])).round(3).tolist()
    [3.0]
    >>> Normalisation(is_centred=False).of(np.array([2.0, 2.0]), np.ones(2), np.zeros(2)).round(3).tolist()
    [1.0, 1.0]
    """

    epsilon: float = EPSILON
    is_centred: bool = True  # whether the mean is taken away first

    def deviation(self, stream: np.ndarray) -> np.ndarray:
        """(..., D) -> (..., 1): what it divides by."""
        square = (
            stream.var(axis=-1, keepdims=True)
            if self.is_centred
            else (stream**2).mean(axis=-1, keepdims=True)
        )
        return np.sqrt(square + self.epsilon)

    def of(self, stream: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """(..., D) normalised."""
        # The mean is taken once and arrays are changed in place, because this is a fifth of a patched pass.
        centred = self._centred(stream)
        square = np.einsum("...d,...d->...", centred, centred)[..., None] / centred.shape[-1]
        found = np.divide(centred, np.sqrt(square + self.epsilon), out=centred if self.is_centred else None)
        found *= gamma
        found += beta
        return found

    def before(self, towards: np.ndarray, entering: np.ndarray, gamma: np.ndarray) -> np.ndarray:
        """(N, D) directions behind a normalisation as directions before it, with the scale of what enters it, ``entering`` (N, D)."""
        return self._centred(towards * gamma) / self.deviation(entering)

    def _centred(self, vectors: np.ndarray) -> np.ndarray:
        if not self.is_centred:
            return vectors
        # einsum adds along the last axis three times faster than ``mean``.
        return vectors - np.einsum("...d->...", vectors)[..., None] / vectors.dtype.type(vectors.shape[-1])


@dataclass(frozen=True)
class OutputWeights:
    """The weights that, with the taps of a pass (``model.trace.taps``), tell what each part of the decoder adds to each logit.

    ``Corrector.output_weights`` returns a network's; they are the same for all sentences. A logit is the dot product
    of a token's vector with the normalised end of the residual stream, plus a bias (Vaswani et al. 2017, section 3.4)::

        weights = corrector.output_weights()
        logits = corrector.taps("머거요", "먹어요", ["decoder_residual"])["decoder_residual"][-1]  # (T, D)
        logits = weights.read("decoder", logits) @ weights.vocabulary.T + weights.bias  # (T, V)

    ``norms`` holds gamma and beta of the normalisations between a sub-layer's output and the end. With ``norm_first``
    that is one for each side, behind its last layer. Without it there is one behind each sub-layer, in their order.
    """

    norm_first: bool
    # By kind of the decoder's attention (L, H, D/H, D): what a head writes with
    kernels: dict[str, np.ndarray]
    # By the same (L, D): biases of the output projections, which belong to no head
    biases: dict[str, np.ndarray]
    norms: dict[str, np.ndarray]  # by side, "encoder" or "decoder": (norms, 2, D)
    vocabulary: np.ndarray  # (V, D): for a syllable the sum of its own vector and those of its jamo
    bias: np.ndarray  # (V,)
    # "initial", "medial", "final": (jamo, D) in the order of ``model.text.hangul``; none of other people's networks
    jamo: dict[str, np.ndarray]
    normalisation: Normalisation = Normalisation()

    def read(self, side: str, stream: np.ndarray) -> np.ndarray:
        """A residual stream (..., D) of "encoder" or "decoder" as the output layer would read it at this place.

        With ``norm_first`` it is normalised as the end of the stream is; else each place is normalised already.

        >>> ones = np.ones((1, 2, 4), np.float32) * [[[1], [0]]]
        >>> none = np.zeros((0, 4), np.float32)
        >>> weights = OutputWeights(True, {}, {}, {"decoder": ones}, none, none[:, 0], {})
        >>> weights.read("decoder", np.array([0.0, 2.0, 0.0, 2.0])).round(3).tolist()
        [-1.0, 1.0, -1.0, 1.0]
        """
        if not self.norm_first:
            return stream
        return self.normalisation.of(stream, *self.norms[side][-1])
