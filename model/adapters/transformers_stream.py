"""Residual stream of a Hugging Face encoder-decoder of the BART or T5 architecture.

BART, Marian, mBART and Pegasus name their parts alike, and so do T5 and its relatives. The walk through the
layers of a model with these names has to give its own logits (``own_stream.checked``).

H heads, Q and K positions, D d_model, P longest text.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from model.adapters.own_stream import Built, OwnStream
from model.stored.config import ATTENTION_PATHS
from model.trace.interventions import ATTENTIONS, Normalisation

_BART = ("q_proj", "k_proj", "v_proj", "out_proj")
_T5 = ("q", "k", "v", "o")


class _Layer(NamedTuple):
    """The modules of one layer of either family."""

    attentions: list[tuple[Any, Any]]  # each with its normalisation
    feed_forward: dict[str, Any]
    norm: Any  # of the feed-forward network


def stream_of(model: Any, start: int) -> OwnStream:
    """The stream of a model whose decoder reads the id ``start`` first.

    Raises:
        ValueError: for a model whose parts have other names.
    """
    sides = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
    try:
        is_t5 = hasattr(sides["encoder"], "block")
        read = _layer_of_t5 if is_t5 else _layer_of_bart
        layers = {
            side: [read(each) for each in (stack.block if is_t5 else stack.layers)]
            for side, stack in sides.items()
        }
        arrays = _arrays(layers, _T5 if is_t5 else _BART)
        for side, stack in sides.items():
            if (norm := getattr(stack, "final_layer_norm" if is_t5 else "layer_norm", None)) is not None:
                _norm(arrays, f"{side}_norm", norm)
        return OwnStream((_built_like_t5 if is_t5 else _built_like_bart)(model, sides, layers, start), arrays)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        message = f"the parts of {type(model).__name__} are not named as BART's or T5's: {error}"
        raise ValueError(message) from error


def _layer_of_bart(layer: Any) -> _Layer:
    attentions = [(layer.self_attn, layer.self_attn_layer_norm)]
    if hasattr(layer, "encoder_attn"):
        attentions.append((layer.encoder_attn, layer.encoder_attn_layer_norm))
    return _Layer(attentions, {"hidden": layer.fc1, "output": layer.fc2}, layer.final_layer_norm)


def _layer_of_t5(block: Any) -> _Layer:
    *attending, feeding = block.layer
    names = ("SelfAttention", "EncDecAttention")
    attentions = [
        (getattr(each, name), each.layer_norm) for each, name in zip(attending, names, strict=False)
    ]
    module = feeding.DenseReluDense
    gated = {"hidden": module.wi_0, "gate": module.wi_1} if hasattr(module, "wi_0") else {"hidden": module.wi}
    return _Layer(attentions, gated | {"output": module.wo}, feeding.layer_norm)


def _arrays(layers: Mapping[str, list[_Layer]], projections: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The weights of all layers, in the paths that ``PatchedTransformer`` reads."""
    arrays: dict[str, np.ndarray] = {}
    for side, some in layers.items():
        for number, layer in enumerate(some, start=1):
            name = f"{side}_{number}"
            for kind, (attention, norm) in zip(ATTENTIONS[side], layer.attentions, strict=True):
                path, around = ATTENTION_PATHS[kind]
                for part, projection in zip(("query", "key", "value", "output"), projections, strict=True):
                    _linear(arrays, f"{name}/{path}/{part}", getattr(attention, projection))
                _norm(arrays, f"{name}/{around}/norm", norm)
            for part, module in layer.feed_forward.items():
                _linear(arrays, f"{name}/feed_forward/{part}", module)
            _norm(arrays, f"{name}/around_feed_forward/norm", layer.norm)
    return arrays


def _built_like_bart(
    model: Any, sides: Mapping[str, Any], layers: Mapping[str, list[_Layer]], start: int
) -> Built:
    begins = {side: getattr(stack, "layernorm_embedding", None) for side, stack in sides.items()}
    return Built(
        layers={side: len(some) for side, some in layers.items()},
        heads=_heads(layers, "num_heads"),
        norm_first=hasattr(sides["encoder"], "layer_norm"),
        normalisation=Normalisation(layers["encoder"][0].norm.eps),
        start=start,
        embeddings={
            side: _embeddings(stack.embed_tokens, getattr(stack, "embed_scale", 1.0))
            for side, stack in sides.items()
        },
        positions={side: _positions(stack.embed_positions) for side, stack in sides.items()},
        begins={side: (array_of(norm.weight), array_of(norm.bias)) for side, norm in begins.items() if norm},
        output=array_of(model.get_output_embeddings().weight),
        output_bias=array_of(model.final_logits_bias)[0],
        activation=_activation(sides["encoder"].layers[0].activation_fn),
    )


def _built_like_t5(
    model: Any, sides: Mapping[str, Any], layers: Mapping[str, list[_Layer]], start: int
) -> Built:
    config = model.config
    width = np.float32(config.d_model**-0.5 if config.scale_decoder_outputs else 1)
    output = array_of(model.get_output_embeddings().weight) * width
    looking = {f"{side}_attention": some[0].attentions[0][0] for side, some in layers.items()}
    return Built(
        layers={side: len(some) for side, some in layers.items()},
        heads=_heads(layers, "n_heads"),
        norm_first=True,
        normalisation=Normalisation(config.layer_norm_epsilon, is_centred=False),
        start=start,
        embeddings={side: _embeddings(stack.embed_tokens, 1.0) for side, stack in sides.items()},
        positions={},  # scores hold them
        begins={},
        output=output,
        output_bias=np.zeros(len(output), np.float32),
        activation=_activation(sides["encoder"].block[0].layer[-1].DenseReluDense.act),
        scaled=False,
        scores=lambda kind, queries, keys: _distances(looking.get(kind), queries, keys),
    )


def _heads(layers: Mapping[str, list[_Layer]], name: str) -> dict[str, int]:
    """The number of heads by kind of attention."""
    return {
        kind: getattr(module, name)
        for side, some in layers.items()
        for kind, (module, _) in zip(ATTENTIONS[side], some[0].attentions, strict=True)
    }


def _linear(arrays: dict[str, np.ndarray], path: str, module: Any) -> None:
    kernel, bias = array_of(module.weight).T, module.bias
    arrays[f"{path}/kernel"] = np.ascontiguousarray(kernel)
    arrays[f"{path}/bias"] = np.zeros(kernel.shape[1], np.float32) if bias is None else array_of(bias)


def _norm(arrays: dict[str, np.ndarray], path: str, module: Any) -> None:
    gamma, bias = array_of(module.weight), getattr(module, "bias", None)
    arrays[f"{path}/gamma"] = gamma
    arrays[f"{path}/beta"] = np.zeros_like(gamma) if bias is None else array_of(bias)


def _embeddings(table: Any, scale: float) -> np.ndarray:
    """(ids, D): the output of the table for each id, since some tables scale."""
    import torch

    with torch.no_grad():
        return array_of(table(torch.arange(len(table.weight), device=table.weight.device))) * np.float32(
            scale
        )


def _positions(table: Any) -> np.ndarray:
    """(P, D): a learnt table without the unused rows at its beginning."""
    return array_of(table.weight)[getattr(table, "offset", 0) :]


def _distances(module: Any, queries: int, keys: int) -> np.ndarray | None:
    """(H, Q, K): T5's addition to scores for the distance of two positions."""
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


def array_of(tensor: Any) -> np.ndarray:
    """A tensor of PyTorch as float32."""
    return tensor.detach().float().cpu().numpy()
