"""The residual stream of an encoder-decoder of transformers that is built as BART or as T5 is.

BART, Marian, mBART and Pegasus name their parts alike, and so do T5 and its relatives. A model that has these names
is tried before it is used: the walk through its layers has to give its own logits (``own_stream.checked``).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from model.adapters.own_stream import Built, OwnStream
from model.stored.config import ATTENTION_PATHS
from model.trace.interventions import ATTENTIONS, Normalisation
from model.trace.trace import ATTENTION_KINDS

_BART_PROJECTIONS = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
_T5_PROJECTIONS = {"query": "q", "key": "k", "value": "v", "output": "o"}
_AROUNDS = {side: [ATTENTION_PATHS[kind][1] for kind in kinds] for side, kinds in ATTENTIONS.items()}


def stream_of(model: Any, start: int) -> OwnStream:
    """``start``: the id that the decoder reads first. Raises ValueError for a model whose parts have other names."""
    try:
        return _like_t5(model, start) if hasattr(model.get_encoder(), "block") else _like_bart(model, start)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(
            f"the parts of {type(model).__name__} are not named as BART's or T5's: {error}"
        ) from error


def _like_bart(model: Any, start: int) -> OwnStream:
    sides = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    arrays: dict[str, np.ndarray] = {}
    for side, stack in sides.items():
        for number, layer in enumerate(stack.layers, start=1):
            name = f"{side}_{number}"
            _attention(arrays, f"{name}/self_attention", layer.self_attn, _BART_PROJECTIONS)
            norms = [layer.self_attn_layer_norm]
            if side == "decoder":
                _attention(arrays, f"{name}/cross_attention", layer.encoder_attn, _BART_PROJECTIONS)
                norms.append(layer.encoder_attn_layer_norm)
            for around, norm in zip(_AROUNDS[side], norms, strict=True):
                _norm(arrays, f"{name}/{around}/norm", norm)
            _linear(arrays, f"{name}/feed_forward/hidden", layer.fc1.weight, layer.fc1.bias)
            _linear(arrays, f"{name}/feed_forward/output", layer.fc2.weight, layer.fc2.bias)
            _norm(arrays, f"{name}/around_feed_forward/norm", layer.final_layer_norm)
        if hasattr(stack, "layer_norm"):
            _norm(arrays, f"{side}_norm", stack.layer_norm)
    first = sides["encoder"].layers[0]
    begins = {side: getattr(stack, "layernorm_embedding", None) for side, stack in sides.items()}
    return OwnStream(
        Built(
            layers={side: len(stack.layers) for side, stack in sides.items()},
            heads={
                "encoder_attention": first.self_attn.num_heads,
                "decoder_attention": sides["decoder"].layers[0].self_attn.num_heads,
                "cross_attention": sides["decoder"].layers[0].encoder_attn.num_heads,
            },
            norm_first=hasattr(sides["encoder"], "layer_norm"),
            normalisation=Normalisation(first.final_layer_norm.eps),
            start=start,
            embeddings={
                side: _embeddings(stack.embed_tokens, getattr(stack, "embed_scale", 1.0))
                for side, stack in sides.items()
            },
            positions={side: _positions(stack.embed_positions) for side, stack in sides.items()},
            begins={
                side: (array_of(norm.weight), array_of(norm.bias)) for side, norm in begins.items() if norm
            },
            output=array_of(model.get_output_embeddings().weight),
            output_bias=array_of(model.final_logits_bias)[0],
            activation=_activation(first.activation_fn),
        ),
        arrays,
    )


def _like_t5(model: Any, start: int) -> OwnStream:
    sides = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    arrays: dict[str, np.ndarray] = {}
    for side, stack in sides.items():
        for number, block in enumerate(stack.block, start=1):
            name = f"{side}_{number}"
            _attention(arrays, f"{name}/self_attention", block.layer[0].SelfAttention, _T5_PROJECTIONS)
            if side == "decoder":
                _attention(arrays, f"{name}/cross_attention", block.layer[1].EncDecAttention, _T5_PROJECTIONS)
            for around, layer in zip((*_AROUNDS[side], "around_feed_forward"), block.layer, strict=True):
                _norm(arrays, f"{name}/{around}/norm", layer.layer_norm)
            _fed_forward_like_t5(arrays, f"{name}/feed_forward", block.layer[-1].DenseReluDense)
        _norm(arrays, f"{side}_norm", stack.final_layer_norm)
    first, config = sides["encoder"].block[0], model.config
    width = np.float32(config.d_model**-0.5 if config.scale_decoder_outputs else 1)
    output = array_of(model.get_output_embeddings().weight) * width
    looking = {
        "encoder_attention": first.layer[0].SelfAttention,
        "decoder_attention": sides["decoder"].block[0].layer[0].SelfAttention,
    }
    return OwnStream(
        Built(
            layers={side: len(stack.block) for side, stack in sides.items()},
            heads=dict.fromkeys(ATTENTION_KINDS, config.num_heads),
            norm_first=True,
            normalisation=Normalisation(config.layer_norm_epsilon, is_centred=False),
            start=start,
            embeddings={side: _embeddings(stack.embed_tokens, 1.0) for side, stack in sides.items()},
            positions={},  # scores hold them
            begins={},
            output=output,
            output_bias=np.zeros(len(output), np.float32),
            activation=_activation(first.layer[-1].DenseReluDense.act),
            scaled=False,
            scores=lambda kind, queries, keys: _distances(looking.get(kind), queries, keys),
        ),
        arrays,
    )


def _attention(arrays: dict[str, np.ndarray], path: str, module: Any, names: dict[str, str]) -> None:
    for part, name in names.items():
        layer = getattr(module, name)
        _linear(arrays, f"{path}/{part}", layer.weight, layer.bias)


def _fed_forward_like_t5(arrays: dict[str, np.ndarray], path: str, module: Any) -> None:
    gated = hasattr(module, "wi_0")
    _linear(arrays, f"{path}/hidden", (module.wi_0 if gated else module.wi).weight)
    if gated:
        _linear(arrays, f"{path}/gate", module.wi_1.weight)
    _linear(arrays, f"{path}/output", module.wo.weight)


def _norm(arrays: dict[str, np.ndarray], path: str, module: Any) -> None:
    arrays[f"{path}/gamma"] = array_of(module.weight)
    bias = getattr(module, "bias", None)
    arrays[f"{path}/beta"] = np.zeros_like(arrays[f"{path}/gamma"]) if bias is None else array_of(bias)


def _embeddings(table: Any, scale: float) -> np.ndarray:
    """(ids, D): what the table makes of each id, since some tables scale."""
    import torch

    with torch.no_grad():
        return array_of(table(torch.arange(len(table.weight), device=table.weight.device))) * np.float32(
            scale
        )


def _positions(table: Any) -> np.ndarray:
    """(P, D): a learnt table without the unused rows at its beginning."""
    return array_of(table.weight)[getattr(table, "offset", 0) :]


def _distances(module: Any, queries: int, keys: int) -> np.ndarray | None:
    """(H, Q, K): what T5 adds to scores for how far apart two positions are."""
    import torch

    if module is None:
        return None
    with torch.no_grad():
        return array_of(module.compute_bias(queries, keys))[0]


def _activation(function: Callable[[Any], Any]) -> Callable[[np.ndarray], np.ndarray]:
    import torch

    def applied(hidden: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return function(torch.from_numpy(np.ascontiguousarray(hidden))).numpy()

    return applied


def _linear(arrays: dict[str, np.ndarray], path: str, weight: Any, bias: Any = None) -> None:
    """Put a linear layer of PyTorch into ``arrays``; one without a bias gets zeros."""
    kernel = array_of(weight).T
    arrays[f"{path}/kernel"] = np.ascontiguousarray(kernel)
    arrays[f"{path}/bias"] = np.zeros(kernel.shape[1], np.float32) if bias is None else array_of(bias)


def array_of(tensor: Any) -> np.ndarray:
    """A tensor of PyTorch as float32."""
    return tensor.detach().float().cpu().numpy()
