"""What the end of a network writes with: the weights between its residual streams and its logits.

L layers, H heads, D d_model, V vocabulary.
"""

from dataclasses import dataclass

import numpy as np

EPSILON = 1e-6  # of layer normalisation


@dataclass(frozen=True)
class OutputWeights:
    """With the taps of a pass (``model.trace.taps``) they say what each part of the decoder adds to each logit.

    ``Corrector.output_weights`` has them of a network; they are the same for all sentences. A logit is the dot product
    of a token's vector with the normalised end of the residual stream, plus a bias (Vaswani et al. 2017, section 3.4)::

        weights = corrector.output_weights()
        logits = corrector.taps("머거요", "먹어요", ["decoder_residual"])["decoder_residual"][-1]  # (T, D)
        logits = weights.read("decoder", logits) @ weights.vocabulary.T + weights.bias  # (T, V)

    ``norms`` holds gamma and beta of the layer normalisations that what is added still has to pass. With ``norm_first``
    that is one for each side, behind its last layer. Without it there is one behind each sub-layer, in their order.
    """

    norm_first: bool
    kernels: dict[
        str, np.ndarray
    ]  # by kind of the decoder's attention (L, H, D/H, D): what a head writes with
    biases: dict[
        str, np.ndarray
    ]  # by the same (L, D): biases of the output projections, which belong to no head
    norms: dict[str, np.ndarray]  # by side, "encoder" or "decoder": (norms, 2, D)
    vocabulary: np.ndarray  # (V, D): for a syllable the sum of its own vector and those of its jamo
    bias: np.ndarray  # (V,)
    jamo: dict[
        str, np.ndarray
    ]  # "initial", "medial", "final": (jamo, D) in the order of ``model.text.hangul``

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
        gamma, beta = self.norms[side][-1]
        return (stream - stream.mean(axis=-1, keepdims=True)) / deviation(stream) * gamma + beta


def deviation(stream: np.ndarray) -> np.ndarray:
    """(..., D) -> (..., 1): what a layer normalisation (Ba, Kiros & Hinton 2016) divides by.

    >>> deviation(np.array([3.0, -3.0])).round(3).tolist()
    [3.0]
    """
    return np.sqrt(stream.var(axis=-1, keepdims=True) + EPSILON)
