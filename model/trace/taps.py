"""What a pass can hand out, by name: attention, queries, keys, values, sub-layer outputs, the residual stream.

B batch, L layers, H heads, S source and T target tokens, D d_model, V vocabulary. Arrays of a single sentence have no B. A
sub-layer is one attention or one feed-forward network: an encoder layer has two (self-attention,
feed-forward), a decoder layer three (self-attention, encoder-decoder attention, feed-forward).

query, key, value: projected and split into heads. They are handed out before an intervention zeroes any value.
heads: weights times values, or what an intervention puts there, before the output projection. Multiplied by a head's
    rows of the output kernel (D/H, D), it is what this head writes; the output bias belongs to no head.
embedding: token embeddings times sqrt(D), without positions.
output: what each sub-layer adds to the residual stream, its biases included.
residual: the stream before the first sub-layer, which is embedding + position, then the stream after each sub-layer.

With ``norm_first`` each sub-layer reads a normalised copy of the stream and adds to the stream itself, which therefore is
an exact sum (Elhage et al., "A Mathematical Framework for Transformer Circuits", 2021)::

    residual[:, n] = residual[:, 0] + output[:, :n].sum(axis=1)
    memory, logits = encoder_norm(encoder_residual[:, -1]), output_layer(decoder_norm(decoder_residual[:, -1]))

Without it each sum is normalised at once, and nothing follows the last one: ``residual[:, n + 1] = norm(residual[:, n] +
output[:, n])``. All of it holds for passes as they are used; in training, dropout falls on residual[:, 0] and on each
output before it is added.
"""

from collections.abc import Callable, Iterable
from typing import Any

TAPS = {
    "encoder_attention": "(B, L, H, S, S)",
    "decoder_attention": "(B, L, H, T, T)",
    "cross_attention": "(B, L, H, T, S)",
    "encoder_query": "(B, L, H, S, D/H)",
    "encoder_key": "(B, L, H, S, D/H)",
    "encoder_value": "(B, L, H, S, D/H)",
    "encoder_heads": "(B, L, H, S, D/H)",
    "decoder_query": "(B, L, H, T, D/H)",
    "decoder_key": "(B, L, H, T, D/H)",
    "decoder_value": "(B, L, H, T, D/H)",
    "decoder_heads": "(B, L, H, T, D/H)",
    "cross_query": "(B, L, H, T, D/H)",
    "cross_key": "(B, L, H, S, D/H)",
    "cross_value": "(B, L, H, S, D/H)",
    "cross_heads": "(B, L, H, T, D/H)",
    "encoder_embedding": "(B, S, D)",
    "encoder_output": "(B, 2L, S, D)",
    "encoder_residual": "(B, 2L+1, S, D)",
    "decoder_embedding": "(B, T, D)",
    "decoder_output": "(B, 3L, T, D)",
    "decoder_residual": "(B, 3L+1, T, D)",
    "memory": "(B, S, D)",
    "logits": "(B, T, V)",
}


def tap(of: str, part: str) -> str:
    """The name of a tap of one kind of attention, or of a side: the encoder or the decoder.

    >>> tap("cross_attention", "query"), tap("encoder", "residual")
    ('cross_query', 'encoder_residual')
    """
    return f"{of.removesuffix('_attention')}_{part}"


class Found:
    """Collects what one pass hands out. It keeps the tensors whose names were asked for and drops all others.

    >>> found = Found(["encoder_residual"])
    >>> found.add("encoder", residual=1, output=2)
    >>> found.layers("encoder_residual")
    [1]
    """

    def __init__(self, names: Iterable[str] = ()):
        self._layers: dict[str, list[Any]] = {name: [] for name in names}
        self._whole: dict[str, Any] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """What was asked for."""
        return tuple(self._layers)

    def add(self, of: str, **parts: Any) -> None:
        """One more layer, or sub-layer, of the taps ``tap(of, part)``."""
        for part, tensor in parts.items():
            if (name := tap(of, part)) in self._layers:
                self._layers[name].append(tensor)

    def put(self, name: str, tensor: Any) -> None:
        """Keep a tap that is not stacked over layers."""
        if name in self._layers:
            self._whole[name] = tensor

    def layers(self, name: str) -> list[Any]:
        return self._layers[name]

    def stacked(self, stack: Callable[..., Any]) -> dict[str, Any]:
        """What was collected, by name. ``stack(tensors, axis=1)`` puts the axis of layers behind B."""
        stacks = {name: stack(tensors, axis=1) for name, tensors in self._layers.items() if tensors}
        return stacks | self._whole
