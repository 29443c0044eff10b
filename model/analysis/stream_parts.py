"""What each part that wrote to a residual stream adds to a linear question about a place of it.

A question is a direction: its dot product with what a layer reads is asked for. The layer reads the stream normalised. If the scales of
this pass are held, the answer is the sum of what each part adds (as in ``writing``, for any place of any side).

D d_model, J positions.
"""

from collections.abc import Mapping

import numpy as np

from model.activations.walk import PatchedTransformer
from model.trace.patches import ATTENTIONS, SUBLAYERS, Node
from model.trace.taps import tap

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
