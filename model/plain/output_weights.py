"""``OutputWeights`` from the arrays of a Transformer by their names, and the vectors of its tokens."""

from collections.abc import Mapping

import numpy as np

from model.stored.config import TransformerConfig
from model.stored.paths import ATTENTION_PATHS
from model.trace.output_weights import OutputWeights
from model.trace.patches import ATTENTIONS

_JAMO = ("initial", "medial", "final")
_KINDS = {kind: ATTENTION_PATHS[kind] for kind in ATTENTIONS["decoder"]}
# By side: the residual connections of a block, in their order.
_AROUNDS = {
    side: (*(ATTENTION_PATHS[kind][1] for kind in kinds), "around_feed_forward")
    for side, kinds in ATTENTIONS.items()
}


def compose(weights: Mapping[str, np.ndarray], features: np.ndarray) -> np.ndarray:
    """(ids, 4) -> (ids, D): a syllable's own vector and those of its jamo; any other token's own."""
    token, *jamo = (
        weights[f"embedding/{name}_embedding"][features[:, i]] for i, name in enumerate(("token", *_JAMO))
    )
    return token + (features[:, 1:2] > 0) * sum(jamo)


def output_weights(
    config: TransformerConfig, features: np.ndarray, weights: Mapping[str, np.ndarray]
) -> OutputWeights:
    """The output weights of a Transformer. ``features``: the tokenizer's, (ids, 4). ``weights``: by path without its first part, such as
    ``decoder_1/cross_attention/output/kernel``."""
    layers = [f"decoder_{n}" for n in range(1, config.num_layers + 1)]
    heads = config.num_heads, -1, config.d_model  # (D, D) -> (H, D/H, D)

    def each(path: str) -> list[np.ndarray]:
        return [np.asarray(weights[f"{layer}/{path}"], np.float32) for layer in layers]

    return OutputWeights(
        norm_first=config.norm_first,
        kernels={
            kind: np.stack([kernel.reshape(heads) for kernel in each(f"{layer}/output/kernel")])
            for kind, (layer, _) in _KINDS.items()
        },
        biases={kind: np.stack(each(f"{layer}/output/bias")) for kind, (layer, _) in _KINDS.items()},
        norms={side: _norms(config, side, weights) for side in _AROUNDS},
        vocabulary=compose(weights, features[: config.vocab_size]),
        bias=np.asarray(weights["embedding/output_bias"], np.float32),
        # Row 0 of these tables belongs to tokens that are no syllables.
        jamo={part: np.asarray(weights[f"embedding/{part}_embedding"][1:], np.float32) for part in _JAMO},
    )


def _norms(config: TransformerConfig, side: str, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """(norms, 2, D): gamma and beta."""
    paths = [f"{side}_norm"]
    if not config.norm_first:
        paths = [f"{side}_{n}/{a}/norm" for n in range(1, config.num_layers + 1) for a in _AROUNDS[side]]
    return np.array([[weights[f"{path}/gamma"], weights[f"{path}/beta"]] for path in paths], np.float32)
