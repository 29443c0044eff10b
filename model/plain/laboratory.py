"""A laboratory in NumPy: what it can answer without gradients needs no library that takes seconds to start."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from model.plain.alterations import Altered, AlteredAttention
from model.plain.altered import AlteredPasses
from model.plain.halves import PlainHalves
from model.plain.passes import Passes
from model.plain.patched import PatchedTransformer
from model.text.tokenizer import START_ID
from model.trace.laboratory_data import Slopes, Zeroed


class PlainLaboratory(AlteredPasses):
    """All that ``network.laboratory.Laboratory`` answers, in NumPy but for gradients: those are asked of ``whole()``, a laboratory in
    Keras, which is loaded when they are first wanted."""

    def __init__(self, parts: PatchedTransformer, space_id: int, whole: Callable[[], Passes]):
        self._plain = PlainHalves(parts)
        super().__init__(self._plain, parts.config, space_id)
        self._parts, self._whole = parts, whole

    def warm_up(self) -> Iterator[None]:
        """See ``network.laboratory.Laboratory``: NumPy has nothing to make ready."""
        return self._whole().warm_up()

    def slopes(
        self, source: Sequence[int], target: Sequence[int], contrast: Sequence[int], shares: Sequence[float]
    ) -> Slopes:
        """See ``network.laboratory.Laboratory``."""
        return self._whole().slopes(source, target, contrast, shares)

    def zeroed(self, source: Sequence[int], target: Sequence[int]) -> Zeroed:
        """See ``network.laboratory.Laboratory``."""
        memory, _ = self._plain.encode(np.array([source]), Altered(), ())
        read = np.array([[START_ID, *target[:-1]]])
        _, found = self._plain.decode(read, memory, Altered(), ("decoder_residual",))
        stream = found["decoder_residual"]  # (1, 3L+1, T, D)
        length, both = len(target), len(target) + len(source)
        gone = 1 - np.eye(both, dtype=np.float32)  # (T + S, T + S): first what was read, then the source
        changed = {
            "decoder_attention": AlteredAttention(values=gone[:, :length]),
            "cross_attention": AlteredAttention(values=gone[:, length:]),
        }
        each = self._plain.chosen(memory, [0] * both)
        distances = []
        for layer in range(self.config.num_layers):
            before, plain = stream[:, 3 * layer], stream[:, 3 * layer + 3]
            varied = self._plain.one_layer(layer, before.repeat(both, axis=0), each, changed)
            distances.append(_distances(varied, plain))  # (T, T + S)
        turned = np.stack(distances)
        return Zeroed(turned[..., :length], turned[..., length:])

    @cached_property
    def _output_projections(self) -> tuple[dict, dict, dict | None]:
        kernels, biases, scales = {}, {}, {}
        for kind in self.config.attention_kinds:
            layers = range(self.config.num_layers)
            both = [self._parts.output_projection(kind, layer) for layer in layers]
            shape = (self.config.num_heads, -1, self.config.d_model)  # (D, D) -> (H, D/H, D)
            kernels[kind] = np.stack([kernel.reshape(shape) for kernel, _ in both])
            biases[kind] = np.stack([bias for _, bias in both])
            scales[kind] = np.stack([self._parts.norm_weights(kind, layer)[0] for layer in layers])
        return kernels, biases, None if self._parts.config.norm_first else scales


def _distances(varied: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """(N, Q, D) variants of plain (1, Q, D) -> (Q, N) cosine distances."""
    unit = [x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-6) for x in (varied, plain)]
    return np.maximum(1 - (unit[0] * unit[1]).sum(axis=-1), 0).T
