"""Residual stream of Hugging Face models: BART, T5, GPT-2, Llama, BLOOM architectures.

Their modules are read by the names that these families give them. The walk through the layers of a model
with these names has to give its own logits (``own_stream.checked``).

H heads, N rows, Q and K positions, D d_model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from model.adapters.capture import LOCK, Capture, LayerCall, like
from model.adapters.own_passes import PROBE, OwnPasses, array_of
from model.adapters.own_stream import PARTS, Built, OwnStream, checked, of_each_head
from model.adapters.torch import evaluating
from model.stored.config import norm_path, sublayer_path
from model.trace.interventions import ATTENTIONS, FEED_FORWARDS, Intervention, Normalisation

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PretrainedConfig, PreTrainedModel

_FUSED = ("c_attn", "qkv_proj", "Wqkv")  # query, key and value in one
_BY_HEAD = "query_key_value"  # the same, head by head
_ATTENTIONS: tuple[tuple[str, ...], ...] = ("self_attn", "attn", "self_attention"), ("encoder_attn",)
_NORMS: tuple[tuple[str, ...], ...] = (
    ("self_attn_layer_norm", "input_layernorm", "ln_1", "norm_1"),
    ("encoder_attn_layer_norm",),
)
# Before, or behind, the feed-forward.
_LAST_NORMS = "final_layer_norm", "post_attention_layernorm", "ln_2", "norm_2"
_EMBEDDING_NORMS = "layernorm_embedding", "word_embeddings_layernorm"
_SCALES = "scaling", "inv_norm_factor", "softmax_scale"  # of scores
# Arguments of an attention: its rotations, and the additions to scores by distance (Press et al. 2022).
_TURNS, _ALIBI = "position_embeddings", ("alibi", "position_bias")


@dataclass(frozen=True)
class _Layer:
    """The modules of one layer."""

    attentions: list[tuple[nn.Module, nn.Module]]  # each with its normalisation
    feed_forward: Callable[[Tensor], Tensor]
    norm: nn.Module  # of the feed-forward network


def stream_of(model: PreTrainedModel, passes: OwnPasses) -> OwnStream:
    """The stream of a model, checked against its own logits.

    Raises:
        ValueError: for a model whose parts have other names, or that computes more than they do.
    """
    try:
        reading = _Reading(model, passes)
        stream = reading.stream()
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError) as error:
        families = "BART's, T5's, GPT-2's, Llama's or BLOOM's"
        message = f"the parts of {type(model).__name__} are not named as {families}: {error}"
        raise ValueError(message) from error
    source, target = (reading.ids(length) for length in PROBE)
    own = passes.pass_over([source], [target], [Intervention()]).logits[0]
    return checked(stream, [(source, target, own)])


class _Reading:
    """The modules of a model by side."""

    def __init__(self, model: PreTrainedModel, passes: OwnPasses):
        self.model, self.passes = model, passes
        if passes.is_decoder:
            self.stacks = {"decoder": next(each for each in model.modules() if _list_in(each) is not None)}
        else:
            self.stacks = {"encoder": model.get_encoder(), "decoder": model.get_decoder()}
        self.layers = {
            side: [_layer_of(each) for each in _layers(stack)] for side, stack in self.stacks.items()
        }
        self.heads = {kind: size.heads for kind, size in passes.sizes.items()}
        self.embedded = {side: _any(stack, *_EMBEDDING_NORMS) for side, stack in self.stacks.items()}
        self.looking = {f"{side}_attention": some[0].attentions[0][0] for side, some in self.layers.items()}
        self._recorded = lru_cache(maxsize=64)(self._record)
        self._turns = lru_cache(maxsize=64)(self._read_turns)

    def ids(self, length: int) -> list[int]:
        """(N,) different ids of no padding."""
        config = self.model.config
        known = [each for each in range(config.vocab_size) if each != config.pad_token_id]
        return [known[place] for place in np.linspace(0, len(known) - 1, length).astype(int)]

    def stream(self) -> OwnStream:
        """The walk over the weights. Raises AttributeError for parts with other names."""
        closing = {
            side: norm
            for side, stack in self.stacks.items()
            for name, norm in stack.named_children()
            if "Norm" in type(norm).__name__ and "embedding" not in name
        }
        arrays = self._arrays()
        for side, norm in closing.items():
            _keep_norm(arrays, f"{side}_norm", norm)
        config, output = self.model.config, self.model.get_output_embeddings()
        scaling = _any(self.looking["decoder_attention"], *_SCALES) or 1.0
        depth = arrays["decoder_1/self_attention/key/bias"].size // self.heads["decoder_attention"]
        has_distances = any(hasattr(each, "compute_bias") for each in self.looking.values())
        vectors, bias = array_of(output.weight), getattr(output, "bias", None)
        bias = getattr(self.model, "final_logits_bias", bias)
        is_tied = has_distances and config.tie_word_embeddings and config.model_type != "mt5"
        if getattr(config, "scale_decoder_outputs", is_tied):  # of T5 and its relatives
            vectors = vectors * np.float32(config.d_model**-0.5)
        has_alibi = self.passes.is_decoder and self._alibi(1) is not None
        built = Built(
            layers={side: len(some) for side, some in self.layers.items()},
            heads=self.heads,
            start=self.passes.start,
            embeddings={side: self._vectors(side) for side in self.stacks},
            norm_first=bool(closing),
            normalisation=_normalisation(self.layers["decoder"][0].norm),
            positions=self._positions,
            begins={side: _norm(norm) for side, norm in self.embedded.items() if norm is not None},
            output=vectors,
            output_bias=np.zeros(len(vectors), np.float32) if bias is None else array_of(bias).reshape(-1),
            feed_forward=self._feed_forward,
            feed_forward_gradient=self._feed_forward_gradient,
            divisor=None if np.isclose(scaling, depth**-0.5) else 1 / scaling,
            rotations=self._rotations if self._recorded(1)[1][0][_TURNS] is not None else None,
            window=_window(config),
            scores=self._scores if has_distances or has_alibi else None,
        )
        return OwnStream(built.alone() if self.passes.is_decoder else built, arrays)

    def _arrays(self) -> dict[str, np.ndarray]:
        """The weights of all layers, in the paths that ``OwnStream`` reads."""
        arrays: dict[str, np.ndarray] = {}
        for side, some in self.layers.items():
            for number, layer in enumerate(some):
                kinds = ATTENTIONS[side][: len(layer.attentions)]  # of a decoder-only network one
                for kind, (attention, norm) in zip(kinds, layer.attentions, strict=True):
                    path = sublayer_path(kind, number)
                    for part in ("query", "key"):
                        if (of_head := getattr(attention, f"{part[0]}_norm", None)) is not None:
                            _keep_norm(arrays, f"{path}/{part}/norm", of_head)
                    for part, (kernel, bias) in _projections(attention, self.heads[kind]).items():
                        arrays[f"{path}/{part}/kernel"] = np.ascontiguousarray(kernel)
                        arrays[f"{path}/{part}/bias"] = bias
                    _keep_norm(arrays, norm_path(kind, number), norm)
                _keep_norm(arrays, norm_path(FEED_FORWARDS[side], number), layer.norm)
        return arrays

    def _feed_forward(self, side: str, layer: int, entered: np.ndarray) -> np.ndarray:
        import torch

        with LOCK, torch.no_grad(), evaluating(self.model):
            output = self._fed(side, layer, like(next(self.model.parameters()), entered[None]))
            return array_of(output).reshape(entered.shape)

    def _feed_forward_gradient(
        self, side: str, layer: int, entered: np.ndarray, towards: np.ndarray
    ) -> np.ndarray:
        import torch

        with LOCK, torch.enable_grad(), evaluating(self.model):
            given, gradient = (like(next(self.model.parameters()), each[None]) for each in (entered, towards))
            output = self._fed(side, layer, given.requires_grad_())
            (found,) = torch.autograd.grad(output, given, gradient.reshape(output.shape))
            return array_of(found).reshape(entered.shape)

    def _fed(self, side: str, layer: int, given: Tensor) -> Tensor:
        output = self.layers[side][layer].feed_forward(given)
        return output[0] if isinstance(output, tuple) else output

    def _vectors(self, side: str) -> np.ndarray:
        """(ids, D): the output of the table for each id, since some tables scale."""
        import torch

        stack = self.stacks[side]
        with torch.no_grad():
            table = _first(stack, "get_input_embeddings")()
            found = array_of(table(torch.arange(len(table.weight), device=table.weight.device)))
        return found * np.float32(getattr(stack, "embed_scale", 1.0))

    def _positions(self, side: str, length: int) -> np.ndarray:
        return self._recorded(length)[0][side] - self._vectors(side)[self._read(length)[side]]

    def _read(self, length: int) -> dict[str, list[int]]:
        """The ids of ``length`` tokens that each side reads, the start mark first."""
        ids = {side: [self.passes.end] * length for side in self.stacks}
        if not self.passes.is_decoder:
            ids["decoder"][0] = int(self.passes.start or 0)
        return ids

    def _scores(self, kind: str, queries: int, keys: int) -> np.ndarray | None:
        """(H, Q, K): the addition to scores for the distance of two positions, of T5 or ALiBi."""
        import torch

        if self.passes.is_decoder:
            alibi = array_of(self._alibi(keys))  # (H, 1 or N, at least N); the last positions count
            return np.broadcast_to(alibi[..., -keys:], (self.heads[kind], queries, keys))
        if kind not in self.looking:
            return None
        with torch.no_grad():
            return array_of(self.looking[kind].compute_bias(queries, keys))[0]

    def _alibi(self, length: int) -> Tensor | None:
        named = self._recorded(length)[1][0]
        return next((named[name] for name in _ALIBI if named[name] is not None), None)

    def _rotations(self, layer: int, length: int) -> np.ndarray:
        """(N, d, d): the rotations of queries and keys: ``apply_rotary_pos_emb`` of unit vectors."""
        return self._turns(length)[layer]

    def _read_turns(self, length: int) -> list[np.ndarray]:
        import torch

        found = []
        for layer, named in zip(self.layers["decoder"], self._recorded(length)[1], strict=True):
            given = named[_TURNS]
            attention = layer.attentions[0][0]
            rotate = sys.modules[type(attention).__module__].apply_rotary_pos_emb
            width = given[0].shape[-1]  # the first dimensions, where it rotates not all of them
            unit = torch.eye(width, dtype=given[0].dtype, device=given[0].device)
            unit = unit[None, :, None].repeat(1, 1, length, 1)  # (1, width, N, width)
            rotations = np.repeat(np.eye(attention.head_dim, dtype=np.float32)[None], length, axis=0)
            rotations[:, :width, :width] = array_of(rotate(unit, unit, *given)[0])[0].swapaxes(0, 1)
            found.append(rotations)
        return found

    def _record(self, length: int) -> tuple[dict[str, np.ndarray], list[Mapping[str, Any]]]:
        """One pass: the beginning (N, D) of each side's stream, and arguments of the decoder's attentions."""
        firsts = {side: self.embedded[side] or _layers(stack)[0] for side, stack in self.stacks.items()}
        attentions = [layer.attentions[0][0] for layer in self.layers["decoder"]]
        wanted = {id(module) for module in (*firsts.values(), *attentions)}
        calls: dict[int, LayerCall] = {}

        def keep(path: tuple[LayerCall, ...], _: object) -> None:
            if id(path[-1].layer) in wanted:
                calls[id(path[-1].layer)] = path[-1]

        self.passes.forward([[each] for each in self._read(length).values()], (), Capture(observing=keep))
        starts = {}
        for side, module in firsts.items():
            call = calls[id(module)]
            starts[side] = array_of(call.given[0] if call.given else call.named["hidden_states"])[0]
        of_layers = [calls[id(module)].named for module in attentions]
        return starts, [{name: named.get(name) for name in (_TURNS, *_ALIBI)} for named in of_layers]


def _window(config: PretrainedConfig) -> int | None:
    """How many tokens a layer sees, of Mistral and GPT-Neo and their like; None where each sees all."""
    kinds = {*(getattr(config, "layer_types", None) or getattr(config, "attention_layers", ["local"]))}
    is_local = kinds & {"sliding_attention", "local"}
    return getattr(config, "sliding_window", getattr(config, "window_size", None)) if is_local else None


def _layers(stack: nn.Module) -> nn.Module:
    """The first list of modules of a stack. Raises AttributeError without one."""
    found = _list_in(stack)
    if found is None:
        raise AttributeError(f"{type(stack).__name__} has no list of layers")
    return found


def _list_in(stack: nn.Module) -> nn.Module | None:
    return next((each for each in stack.children() if type(each).__name__ == "ModuleList"), None)


def _layer_of(layer: nn.Module) -> _Layer:
    if hasattr(layer, "layer"):  # of T5
        *attending, feeding = layer.layer
        attentions = [
            (_first(each, "SelfAttention", "EncDecAttention"), each.layer_norm) for each in attending
        ]
        return _Layer(attentions, _first(feeding, "DenseReluDense", "mlp"), feeding.layer_norm)
    attentions = []
    for names, normalised in zip(_ATTENTIONS, _NORMS, strict=True):
        if not attentions or hasattr(layer, names[0]):
            attention = _first(layer, *names)
            attentions.append((getattr(attention, "attention", attention), _first(layer, *normalised)))
    return _Layer(attentions, _feed_forward_of(layer), _first(layer, *_LAST_NORMS))


def _feed_forward_of(layer: nn.Module) -> Callable[[Tensor], Tensor]:
    if hasattr(layer, "fc1"):
        return lambda entered: layer.fc2(layer.activation_fn(layer.fc1(entered)))
    module = _first(layer, "mlp", "ffn")
    if "residual" in signature(module.forward).parameters:  # to which it adds its output
        return lambda entered: module(entered, entered.new_zeros(entered.shape))
    return module


def _any(owner: object, *names: str) -> Any:
    """The first attribute of these names; None without any."""
    return next((found for name in names if (found := getattr(owner, name, None)) is not None), None)


def _first(owner: object, *names: str) -> Any:
    """The first attribute of these names. Raises AttributeError without any."""
    if (found := _any(owner, *names)) is None:
        raise AttributeError(f"{type(owner).__name__} has no {names[0]}")
    return found


def _projections(attention: nn.Module, heads: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Kernels (in, out) and biases (out,) of the query, key, value and output of all heads."""
    kernel, bias = _linear(_first(attention, *PARTS["output"]))
    found, width = {"output": (kernel, bias)}, len(kernel)
    fused, by_head = _any(attention, *_FUSED), getattr(attention, _BY_HEAD, None)
    if by_head is not None:
        # (…, H·3·d) -> three of (…, H·d)
        split = [each.reshape(*each.shape[:-1], heads, 3, -1) for each in _linear(by_head)]
        for place, part in enumerate(("query", "key", "value")):
            kernel, bias = (each[..., place, :].reshape(*each.shape[:-3], width) for each in split)
            found[part] = kernel, bias
    elif fused is None:
        found |= {part: _linear(_first(attention, *PARTS[part])) for part in ("query", "key", "value")}
    else:
        kernel, bias = _linear(fused)
        shared = (len(bias) - width) // 2
        cuts = {"query": slice(width), "key": slice(width, width + shared), "value": slice(-shared, None)}
        found |= {part: (kernel[:, cut], bias[cut]) for part, cut in cuts.items()}
    for part in ("key", "value"):
        kernel, bias = found[part]
        shared = len(bias) * heads // width
        found[part] = of_each_head(kernel, width, shared), of_each_head(bias, width, shared)
    return found


def _linear(module: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """The kernel (in, out) and the bias (out,). GPT-2 holds its kernels in this way, PyTorch in the other."""
    kernel, bias = array_of(module.weight), getattr(module, "bias", None)
    kernel = kernel if type(module).__name__ == "Conv1D" else kernel.T
    return kernel, np.zeros(kernel.shape[1], np.float32) if bias is None else array_of(bias)


def _normalisation(module: nn.Module) -> Normalisation:
    is_centred = type(module).__name__ == "LayerNorm"
    return Normalisation(float(_first(module, "eps", "variance_epsilon")), is_centred=is_centred)


def _norm(module: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """Gamma and beta (D,). A normalisation that only scales is asked, because some add 1 to their weights."""
    import torch

    how = _normalisation(module)
    if how.is_centred:
        gamma, beta = array_of(module.weight), module.bias
        return gamma, np.zeros_like(gamma) if beta is None else array_of(beta)
    with torch.no_grad():
        gamma = array_of(module(torch.ones_like(module.weight))) * np.float32((1 + how.epsilon) ** 0.5)
    return gamma, np.zeros_like(gamma)


def _keep_norm(arrays: dict[str, np.ndarray], path: str, module: nn.Module) -> None:
    arrays[f"{path}/gamma"], arrays[f"{path}/beta"] = _norm(module)
