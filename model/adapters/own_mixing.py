"""What the attribution methods *norms*, ALTI and *value zeroing* need of a network, from its residual stream.

L layers, H heads, S source and T target tokens, D d_model.
"""

from collections.abc import Sequence

import numpy as np

from model.activations.sublayers import kind_side
from model.adapters.own_stream import OwnStream
from model.trace.laboratory_data import Insides, Zeroed
from model.trace.patches import ATTENTIONS, SUBLAYERS, Node
from model.trace.taps import tap
from model.trace.trace import ATTENTION_KINDS


def insides_of_stream(stream: OwnStream, source: Sequence[int], target: Sequence[int]) -> Insides:
    """``Insides`` of one plain pass over S ids and T written ids."""
    values = [tap(kind, "value") for kind in ATTENTION_KINDS]
    found = stream.taps(source, target, [*ATTENTION_KINDS, *values, "encoder_residual", "decoder_residual"])
    return insides_of_taps(stream, found, ATTENTION_KINDS)


def insides_of_taps(stream: OwnStream, found: dict[str, np.ndarray], kinds: Sequence[str]) -> Insides:
    """``Insides`` of the ``kinds`` of attention whose weights, values and residual stream were found in a pass."""
    entering, kernels, biases, scales = {}, {}, {}, {}
    for kind in kinds:
        nodes = [Node(kind, layer, 0) for layer in range(len(found[kind]))]
        both = [stream.output_projection(kind, node.layer) for node in nodes]
        entering[kind] = found[tap(nodes[0].side, "residual")][[node.sublayer for node in nodes]]
        kernels[kind] = np.stack(
            [kernel.reshape(stream.heads(kind), -1, kernel.shape[1]) for kernel, _ in both]
        )
        biases[kind] = np.stack([bias for _, bias in both])
        scales[kind] = np.stack([stream.norm_weights(kind, node.layer)[0] for node in nodes])
    return Insides(
        {kind: found[kind] for kind in kinds},
        {kind: found[tap(kind, "value")] for kind in kinds},
        entering,
        kernels,
        biases,
        None if stream.config.norm_first else scales,
    )


def zeroed_of_stream(stream: OwnStream, source: Sequence[int], target: Sequence[int]) -> Zeroed:
    """How each layer of the decoder turns where one value is zero; layers before it compute what they always do."""
    kinds = ATTENTIONS["decoder"]
    found = stream.taps(
        source, target, ["memory", "decoder_residual", *kinds, *(tap(kind, "value") for kind in kinds)]
    )
    layers = range(stream.layers("decoder"))
    return Zeroed(*(np.stack([turned(stream, found, kind, layer) for layer in layers]) for kind in kinds))


def turned(stream: OwnStream, found: dict[str, np.ndarray], zeroed: str, layer: int) -> np.ndarray:
    """(T, K) cosine distances: one layer without the value at each of K positions in the attention ``zeroed``."""
    side = kind_side(zeroed)
    stacks, residual = SUBLAYERS[side], found[tap(side, "residual")]
    plain = residual[(layer + 1) * len(stacks)]  # (T, D)
    count = found[zeroed].shape[-1]
    x = np.repeat(residual[layer * len(stacks)][None], count, axis=0)  # (K, T, D)
    for kind in stacks:
        entered = stream.enter(kind, layer, x)
        if kind not in ATTENTIONS[side]:
            output = stream.feed_forward(side, layer, entered)
        elif kind == zeroed:
            weights, values = found[kind][layer], found[tap(kind, "value")][layer]  # (H, T, K), (H, K, D/H)
            kept = 1 - np.eye(count, dtype=np.float32)
            output = stream.join(kind, layer, weights @ (values * kept[:, None, :, None]))
        else:
            read = entered if kind == "decoder_attention" else np.repeat(found["memory"][None], count, axis=0)
            query, key, value = stream.projected(kind, layer, entered, read)
            output = stream.join(kind, layer, stream.weights(kind, query, key) @ value)
        x = stream.leave(kind, layer, x + output)
    unit = [each / np.maximum(np.linalg.norm(each, axis=-1, keepdims=True), 1e-6) for each in (x, plain)]
    return np.maximum(1 - (unit[0] * unit[1]).sum(axis=-1), 0).T
