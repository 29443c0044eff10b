"""Interventions in Hugging Face encoder-decoders and decoders: ablation, replaced weights.

Each of that library's model files computes attention in a function ``eager_attention_forward``, which calls
PyTorch's softmax. Both are replaced while a pass runs, and put back afterwards. The whole process shares
them, so passes wait for each other.

B interventions (or rows), L layers, H heads, S source and T target tokens, N tokens of one sequence, Q query
and K key positions, D d_model.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from model.activations.drafting import longest_target
from model.adapters.capture import check_same_pass, replaced
from model.adapters.own_network import OwnNetwork
from model.adapters.own_passes import (
    DECODER_KIND,
    PROBE,
    Altering,
    AttentionSize,
    Ids,
    OwnPasses,
    Run,
    kinds_by_shape,
)
from model.adapters.own_stream import OwnStream, checked, without_memory
from model.adapters.torch import evaluating
from model.adapters.transformers import (
    DecoderTexts,
    TransformersTexts,
    check_texts,
    declared,
    eager_attention,
    start_mark,
)
from model.adapters.transformers_stream import array_of, stream_of
from model.stored.config import GRADIENTS, INTERVENTIONS, MIXING, STREAM
from model.trace.interventions import Insides, Intervention, Zeroed, ZeroedValue

_LOCK = RLock()  # one pass at a time
_LONGEST = 20  # tokens that a decoder alone writes, where its generation_config names no number
_CLOSE = 1e-4  # of the largest number of a stream
_EAGER = "eager_attention_forward"
_PROJECTIONS = ("out_proj", "o", "o_proj", "c_proj")  # of BART, T5, Llama and GPT-2
_NORMS = (
    "layer_norm",
    "input_layernorm",
    "ln_1",
)  # of T5, Llama and GPT-2; BART names them after the attention


def laboratory_of_transformers(model: Any, tokenizer: Any) -> OwnNetwork:
    """The laboratory of a model. Raises ValueError for one that cannot write.

    It is raised for a model whose attention cannot be changed, too.
    """
    check_texts(model, tokenizer)
    if tokenizer.eos_token_id is None:
        raise ValueError("the tokenizer should have an end mark: tokenizer.eos_token = …")
    name = type(model).__name__
    if not model.can_generate():
        raise ValueError(
            f"the model should write, as encoder-decoders and decoders alone do, received {name}"
        )
    passes = TransformersPasses(model, tokenizer)
    abilities = {INTERVENTIONS, GRADIENTS}
    stream: OwnStream | ValueError = without_memory()
    if passes.shows_insides():
        abilities.add(MIXING)
    if not passes.is_decoder:
        try:
            stream = passes.stream()
            abilities.add(STREAM)
        except ValueError as reason:  # it is built otherwise, and answers all that needs no stream
            stream = reason
    return OwnNetwork(name, passes, abilities, stream)


class Attended(NamedTuple):
    """The tensors of one attention in one pass."""

    used: Any  # (B, H, Q, K) weights
    value: Any  # (B, H, K, D/H); some heads may share theirs


class _Parts(NamedTuple):
    """The modules of one attention."""

    attention: Any
    projection: Any
    norm: Any


class TransformersPasses(OwnPasses):
    """Passes of a model over ids; see ``OwnPasses``. A decoder alone has no start mark."""

    rows_at_once = 32

    def __init__(self, model: Any, tokenizer: Any):
        import torch

        is_decoder = not getattr(model.config, "is_encoder_decoder", False)
        texts = DecoderTexts(tokenizer) if is_decoder else TransformersTexts(tokenizer)
        super().__init__(texts, None if is_decoder else start_mark(model), int(tokenizer.eos_token_id))
        self.model = model
        never = getattr(getattr(model, "generation_config", None), "bad_words_ids", None) or ()
        self.suppressed = [each[0] for each in never if len(each) == 1]
        self.modules: dict[str, list[Any]] = {}  # the attention modules of each kind, layer by layer
        self._places: dict[int, tuple[str, int]] = {}
        probe = [[[self.end] * length] for length in (PROBE[:1] if is_decoder else PROBE)]
        hooks = TorchHooks(self, {})
        with torch.no_grad():
            out = hooks.run(probe)
        with _LOCK, torch.no_grad(), evaluating(model):
            own = model(**self._arguments(probe))
        check_same_pass(own.logits, out.logits, type(model).__name__)
        self._read_kinds(hooks)

    def _read_kinds(self, hooks: "TorchHooks") -> None:
        """The kind and the layer of each attention module, by the shape of its weights in the first pass."""
        shapes = [(each.used.shape[2], each.value.shape[2]) for _, each in hooks.attended]
        for at, (module, found) in zip(kinds_by_shape(shapes, self.is_decoder), hooks.attended, strict=True):
            if at is None:
                continue
            self.modules.setdefault(at[0], []).append(module)
            self._places[id(module)] = at
            self.sizes[at[0]] = AttentionSize(at[1] + 1, found.used.shape[1], found.value.shape[-1])
        if len(self.sizes) != (1 if self.is_decoder else 3):
            missing = f"received {sorted(self.sizes) or 'none'}: its attention does not call {_EAGER}"
            raise ValueError(
                f"{type(self.model).__name__} has no laboratory: its pass should show attention, {missing}"
            )

    def longest(self, source: int) -> int:
        config, read = self.model.generation_config, source if self.is_decoder else 1
        if (new := getattr(config, "max_new_tokens", None)) is not None:
            return max(1, new)
        whole = getattr(config, "max_length", None)
        return (
            max(1, whole - read)
            if whole is not None
            else _LONGEST
            if self.is_decoder
            else longest_target(source)
        )

    def declared(self, attention: np.ndarray) -> dict[str, Any]:
        return declared(self.model, attention, DECODER_KIND)

    def run(
        self, inputs: Sequence[Sequence[Ids]], changes: dict[str, list[Altering]], factors: Sequence[Any]
    ) -> Run:
        """``OwnPasses.run``: logits (B, T, V) and attention (B, L, H, Q, K)."""
        import torch

        hooks = TorchHooks(self, changes)
        with torch.no_grad():
            out = hooks.run(inputs, [torch.as_tensor(each) for each in factors])
        return Run(array_of(out.logits), hooks.attention())

    def gradients(
        self, inputs: Sequence[Ids], shares: Sequence[float], contrast: Ids
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        import torch

        (row, written, instead), found = contrast, []
        for first in range(0, len(shares), self.rows_at_once):
            some = torch.tensor(list(shares[first : first + self.rows_at_once]), device=self.model.device)[
                :, None
            ]
            factors = [some.repeat(1, len(ids)).requires_grad_() for ids in inputs]
            with torch.enable_grad():
                logits = TorchHooks(self, {}).run([[ids] * len(some) for ids in inputs], factors).logits
                score = logits[:, row, written] - logits[:, row, instead]
                slopes = torch.autograd.grad(score.sum(), factors)
            found.append([array_of(each) for each in (score, *slopes)])
        score, *slopes = (np.concatenate(each) for each in zip(*found, strict=True))
        return score, slopes

    def stream(self) -> OwnStream:
        """The residual stream. Raises ValueError for a model that is not built like BART or T5."""
        source, target = ([self.end] * length for length in PROBE)
        logits = self.pass_over([source], [target], [Intervention()]).logits[0]
        return checked(stream_of(self.model, int(self.start or 0)), source, target, logits)

    def shows_insides(self) -> bool:
        """Whether ``insides`` and ``zeroed`` are true of its layers.

        BART's, T5's, GPT-2's, Llama's and relatives.

        Each layer of a decoder alone has to add the output of its attention and of its feed-forward network
        to the stream, and no more or less: some scale that, or normalise it.
        """
        if any(self._parts(each) is None for some in self.modules.values() for each in some):
            return False
        if not self.is_decoder:
            return True
        modules = self.modules[DECODER_KIND]
        layers = self._layers(modules)
        if not all(hasattr(layer, "mlp") for layer in layers):
            return False
        parts = [(layer, module, layer.mlp) for layer, module in zip(layers, modules, strict=True)]
        with _calls([each for some in parts for each in some]) as calls:
            self.run([[[self.end] * PROBE[0]]], {}, [])
        streams = {id(module): (given, output) for module, given, output in calls}
        for layer, *adding in parts:
            entered, stream = streams[id(layer)]
            off = stream - entered - sum(streams[id(each)][1] for each in adding)
            if not off.abs().max() < _CLOSE * stream.abs().max():
                return False
        return True

    def insides(self, source: Ids, target: Ids) -> Insides:
        """``Passes.insides``. Raises ValueError for layers with other names than BART's, T5's.

        GPT-2's or Llama's.
        """
        parts = {kind: [self._parts(each) for each in some] for kind, some in self.modules.items()}
        known = {kind: [each for each in some if each is not None] for kind, some in parts.items()}
        if known != parts:
            name = type(self.model).__name__
            raise ValueError(f"the layers of {name} are not built like those of BART, T5, GPT-2 or Llama")
        hooks = TorchHooks(self, {})
        with _calls(
            [module for some in known.values() for each in some for module in (each.attention, each.norm)]
        ) as calls:
            self._with(hooks, source, target)
        order = [id(module) for module, _, _ in calls]
        entered = {id(module): given for module, given, _ in calls}
        first = next(iter(known.values()))[0]
        # The norm of a layer that normalises first is called before its attention.
        norm_first = order.index(id(first.norm)) < order.index(id(first.attention))
        attention, values, kernels, biases, entering, scales = ({} for _ in range(6))
        for kind, some in known.items():
            heads, found = self.sizes[kind].heads, hooks.by_kind()[kind]
            attention[kind] = np.stack([array_of(each.used[0]) for each in found])
            values[kind] = np.stack([_of_all_heads(array_of(each.value[0]), heads) for each in found])
            kernels[kind] = np.stack([_kernel(each.projection, heads) for each in some])
            biases[kind] = np.stack([_bias(each.projection) for each in some])
            entering[kind] = np.stack(
                [array_of(entered[id(each.norm if norm_first else each.attention)][0]) for each in some]
            )
            scales[kind] = np.stack([array_of(each.norm.weight) for each in some])
        return Insides(attention, values, entering, kernels, biases, None if norm_first else scales)

    def zeroed(self, source: Ids, target: Ids) -> Zeroed:
        """``Passes.zeroed``: cosine distances (L, T.

        K) between the plain output of each layer and that without one value.
        """
        read = self.inputs_of(source, target)
        counts = {DECODER_KIND: len(read[-1])} | ({} if self.is_decoder else {"cross_attention": len(source)})
        rows: dict[str, list[np.ndarray]] = {kind: [] for kind in counts}
        for number, layer in enumerate(self._layers(self.modules[DECODER_KIND])):
            for kind, count in counts.items():
                gone = [Intervention(zeroed=frozenset([ZeroedValue(kind, number, n)])) for n in range(count)]
                rows[kind].append(self._distances(layer, source, target, gone))
        cross = rows.get(
            "cross_attention", [np.empty((counts[DECODER_KIND], 0), np.float32)] * len(rows[DECODER_KIND])
        )
        return Zeroed(np.stack(rows[DECODER_KIND]), np.stack(cross))

    def _distances(self, layer: Any, source: Ids, target: Ids, gone: Sequence[Intervention]) -> np.ndarray:
        """(T, N) cosine distances of the output of ``layer`` under each of N interventions."""
        with _calls([layer]) as calls:
            self.pass_over([source], [target], [Intervention()])
            self.pass_over([source] * len(gone), [target] * len(gone), gone)
        # Distances are differences of nearly equal numbers.
        plain, *varied = (array_of(output).astype(np.float64) for _, _, output in calls)
        unit = [
            each / np.linalg.norm(each, axis=-1, keepdims=True) for each in (plain, np.concatenate(varied))
        ]
        return np.maximum(1 - (unit[0] * unit[1]).sum(-1), 0).T.astype(np.float32)

    def _with(self, hooks: "TorchHooks", source: Ids, target: Ids) -> None:
        import torch

        with torch.no_grad():
            hooks.run([[each] for each in self.inputs_of(source, target)])

    def _arguments(self, inputs: Sequence[Sequence[Ids]]) -> dict[str, Any]:
        import torch

        given = [torch.tensor(np.array(ids), device=self.model.device) for ids in inputs]
        read = {} if self.is_decoder else {"decoder_input_ids": given[1]}
        return {"input_ids": given[0], "attention_mask": torch.ones_like(given[0]), "use_cache": False} | read

    def _layers(self, modules: Sequence[Any]) -> list[Any]:
        """The layer of each attention module: the outermost entry of a list of modules that holds it."""
        names, found = {id(module): name for name, module in self.model.named_modules()}, []
        for module in modules:
            parts = names[id(module)].split(".")
            number = next(place for place, part in enumerate(parts) if part.isdigit())
            found.append(self.model.get_submodule(".".join(parts[: number + 1])))
        return found

    def _parts(self, attention: Any) -> _Parts | None:
        path = next(name for name, module in self.model.named_modules() if module is attention)
        above, _, name = path.rpartition(".")
        owner = self.model.get_submodule(above)
        projection = [getattr(attention, each) for each in _PROJECTIONS if hasattr(attention, each)]
        norm = [getattr(owner, each) for each in (f"{name}_layer_norm", *_NORMS) if hasattr(owner, each)]
        return _Parts(attention, projection[0], norm[0]) if projection and norm else None


class TorchHooks:
    """The replaced functions of one pass.

    And the tensors of each attention in the order of their computation.
    """

    def __init__(self, passes: TransformersPasses, changes: dict[str, list[Altering]]):
        self.attended: list[tuple[Any, Attended]] = []  # by attention module
        self._passes, self._changes = passes, changes
        self._current: Any = None  # the module whose attention is computed
        self._keys, self._used = 0, None

    def run(self, inputs: Sequence[Sequence[Ids]], factors: Sequence[Any] = ()) -> Any:
        """The model's output for B rows of each input, with ``factors`` (B, N) of their embeddings."""
        import torch

        model, functional = self._passes.model, torch.nn.functional
        arguments = self._passes._arguments(inputs)
        with _LOCK, eager_attention(model), ExitStack() as stack:
            stack.enter_context(replaced(functional, "softmax", self._softmax(functional.softmax)))
            for file in {sys.modules[type(each).__module__] for each in model.modules()}:
                if hasattr(file, _EAGER):
                    stack.enter_context(replaced(file, _EAGER, self._attending(getattr(file, _EAGER))))
            if factors:
                given = [arguments[name] for name in ("input_ids", "decoder_input_ids") if name in arguments]
                stack.enter_context(_scaled_embeddings(model, given, factors))
            return model(**arguments)

    def by_kind(self) -> dict[str, list[Attended]]:
        """The L attentions (B, H, Q, K) of each kind."""
        places = self._passes._places
        found: dict[str, list[Attended]] = {kind: [] for kind in self._passes.sizes}
        for module, each in self.attended:
            if id(module) in places:
                found[places[id(module)][0]].append(each)
        return found

    def attention(self) -> dict[str, np.ndarray]:
        """(B, L, H, Q, K) by kind."""
        return {
            kind: np.stack([array_of(each.used) for each in some], 1) for kind, some in self.by_kind().items()
        }

    def _change(self, module: Any) -> Altering | None:
        at = self._passes._places.get(id(module))
        return self._changes[at[0]][at[1]] if at and self._changes else None

    def _attending(self, attend: Callable[..., Any]) -> Callable[..., Any]:
        def attended(module: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
            self._current, self._keys, self._used = module, key.shape[-2], None
            output, weights = attend(module, query, key, value, *args, **kwargs)
            self._current = None
            if self._used is not None:
                self.attended.append((module, Attended(self._used, value)))
            change = self._change(module)
            if change is not None and change.added is not None:  # output: (B, Q, H, D/H)
                output = output + _tensor(output, change.added.transpose(0, 2, 1, 3))
            return output, weights

        return attended

    def _softmax(self, softmax: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        def taken(scores: Any, *args: Any, **kwargs: Any) -> Any:
            weights = softmax(scores, *args, **kwargs)
            if self._current is None:
                return weights
            change, tensor = self._change(self._current) or Altering(), partial(_tensor, weights)
            # An attention sink, as in gpt-oss, is one more column. Its weight falls on no key.
            looks, sink = weights[..., : self._keys], weights[..., self._keys :]
            used = change.used(looks, tensor, sink if sink.shape[-1] else 0)
            self._used = used.detach()
            return torch.cat([change.working(used, tensor), sink], dim=-1)

        return taken


@contextmanager
def _scaled_embeddings(model: Any, given: Sequence[Any], factors: Sequence[Any]) -> Iterator[None]:
    """The embedding of each token times its factor, first those of the source.

    Which the encoder looks up first.
    """
    import torch

    waiting = list(zip(given, factors, strict=True))

    def scale(module: Any, arguments: Any, output: Any) -> Any:
        if waiting and torch.equal(arguments[0].reshape(waiting[0][0].shape), waiting[0][0]):
            return output * waiting.pop(0)[1].to(output)[..., None]
        return output

    sides = (model.get_encoder(), model.get_decoder()) if len(given) > 1 else (model,)
    tables = {id(side.get_input_embeddings()): side.get_input_embeddings() for side in sides}
    with ExitStack() as stack:
        for table in tables.values():
            stack.callback(table.register_forward_hook(scale).remove)
        yield


@contextmanager
def _calls(modules: Sequence[Any]) -> Iterator[list[tuple[Any, Any, Any]]]:
    """(module, first given tensor, first returned tensor) of each call.

    In the order in which the calls begin.
    """
    found: list[tuple[Any, Any, Any]] = []
    begun: list[tuple[Any, int]] = []

    def enter(module: Any, given: tuple, named: dict[str, Any]) -> None:
        begun.append((module, len(found)))
        found.append((module, given[0] if given else named["hidden_states"], None))

    def leave(module: Any, given: Any, output: Any) -> None:
        _, place = begun.pop()
        found[place] = (*found[place][:2], output[0] if isinstance(output, tuple) else output)

    with ExitStack() as stack:
        for each in modules:
            stack.callback(each.register_forward_pre_hook(enter, with_kwargs=True).remove)
            stack.callback(each.register_forward_hook(leave).remove)
        yield found


def _tensor(like: Any, array: np.ndarray) -> Any:
    import torch

    return torch.as_tensor(np.ascontiguousarray(array), dtype=like.dtype, device=like.device)


def _kernel(projection: Any, heads: int) -> np.ndarray:
    """(H, D/H, D). GPT-2 holds its kernels transposed."""
    kernel = array_of(projection.weight)
    kernel = kernel if hasattr(projection, "nf") else kernel.T
    return kernel.reshape(heads, -1, kernel.shape[-1])


def _bias(projection: Any) -> np.ndarray:
    return (
        np.zeros(projection.out_features, np.float32)
        if projection.bias is None
        else array_of(projection.bias)
    )


def _of_all_heads(values: np.ndarray, heads: int) -> np.ndarray:
    """(H, K, D/H). Heads that share their values get one copy each."""
    return values.repeat(heads // len(values), axis=0)
