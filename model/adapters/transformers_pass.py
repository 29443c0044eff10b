"""One pass of the laboratory through a model of transformers: what is replaced while it runs, and what it recorded.

Each of that library's model files computes attention in a function ``eager_attention_forward``, which calls PyTorch's softmax. Both are
replaced while the pass runs, and put back afterwards. One pass may run at a time, because the whole process shares them.

B interventions (or rows), H heads, S source and T target tokens, Q query and K key positions, D d_model.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from model.adapters.altering import Altering
from model.adapters.listening import replaced

PASSES_LOCK = RLock()  # one pass at a time, because all threads share what it replaces


class TorchTensors(NamedTuple):
    """One pass over B rows, in tensors of PyTorch."""

    logits: Any  # (B, T, V), of a decoder alone a row for each token that is read
    attention: dict[str, list[Any]]  # L tensors (B, H, Q, K) by kind
    # Query, key and value (B, H, Q or K, D/H) of each layer; some heads may share keys and values.
    calls: dict[str, list[tuple]]


class TorchPass:
    """One pass: what is replaced while it runs, and what it recorded."""

    def __init__(
        self,
        modules: Mapping[str, list[Any]],
        changes: Mapping[str, list[Altering]],
        length: tuple[int, int],
    ):
        self.used: dict[str, list[Any]] = {}
        self.calls: dict[str, list[tuple]] = {}
        self.found: dict[str, list[Any]] = {}
        self._places = {id(each): (kind, n) for kind, some in modules.items() for n, each in enumerate(some)}
        self._changes, self._length = changes, length
        self._current: tuple[str, int] | None = None
        self._keys = 0  # of the attention that is computed now

    @contextmanager
    def running(self, model: Any, given: Sequence[Any], factors: Sequence[Any]) -> Iterator[None]:
        import torch

        functional, name = torch.nn.functional, "eager_attention_forward"
        files = {sys.modules[type(each).__module__] for each in model.modules()}
        with ExitStack() as stack:
            stack.enter_context(replaced(functional, "softmax", self._softmax(functional.softmax)))
            for file in files:
                if hasattr(file, name):
                    stack.enter_context(replaced(file, name, self._attending(getattr(file, name))))
            if factors:
                stack.enter_context(_scaled_embeddings(model, given, factors))
            yield

    def _attending(self, attend: Callable) -> Callable:
        def attended(module, query, key, value, *args, **kwargs):
            self._keys = key.shape[-2]
            self._current = self._place(module, query.shape[-2], self._keys)
            kind, number = self._current
            self.calls.setdefault(kind, []).append((query, key, value))
            output, weights = attend(module, query, key, value, *args, **kwargs)
            self._current = None
            change = self._changes[kind][number] if self._changes else None
            if change is not None and change.added is not None:  # output: (B, Q, H, D/H)
                output = output + _tensor(output, change.added.transpose(0, 2, 1, 3))
            return output, weights

        return attended

    def _softmax(self, softmax: Callable) -> Callable:
        import torch

        def taken(scores, *args, **kwargs):
            weights = softmax(scores, *args, **kwargs)
            if self._current is None:
                return weights
            kind, number = self._current
            change = self._changes[kind][number] if self._changes else Altering(*[None] * 5)
            tensor = partial(_tensor, weights)
            # An attention sink, as in gpt-oss, is one more column. Its weight falls on no key.
            looks, sink = weights[..., : self._keys], weights[..., self._keys :]
            used = change.used(looks, tensor, sink if sink.shape[-1] else 0)
            self.used.setdefault(kind, []).append(used.detach())
            return torch.cat([change.working(used, tensor), sink], dim=-1)

        return taken

    def _place(self, module: Any, rows: int, columns: int) -> tuple[str, int]:
        """The kind and the layer of an attention module. The first pass finds them by the shape of its weights."""
        if id(module) not in self._places:
            source, target = self._length
            kinds = {(source, source): "encoder_attention", (target, target): "decoder_attention"}
            kind = kinds.get((rows, columns), "cross_attention")
            same = self.found.setdefault(kind, [])
            self._places[id(module)] = kind, len(same)
            same.append(module)
        return self._places[id(module)]


@contextmanager
def _scaled_embeddings(model: Any, given: Sequence[Any], factors: Sequence[Any]) -> Iterator[None]:
    """Multiplies the embedding of each token by its factor, first those of the source, which the encoder looks up first."""
    import torch

    waiting = list(zip(given, factors, strict=True))

    def scale(module, arguments, output):
        if waiting and torch.equal(arguments[0].reshape(waiting[0][0].shape), waiting[0][0]):
            return output * waiting.pop(0)[1].to(output)[..., None]
        return output

    tables = {id(side.get_input_embeddings()): side.get_input_embeddings() for side in sides_of(model)}
    hooks = [table.register_forward_hook(scale) for table in tables.values()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def sides_of(model: Any) -> tuple[Any, ...]:
    """What looks up embeddings: encoder and decoder, or a decoder alone."""
    if not getattr(model.config, "is_encoder_decoder", False):
        return (model,)
    return model.get_encoder(), model.get_decoder()


def _tensor(like: Any, array: np.ndarray) -> Any:
    import torch

    return torch.as_tensor(np.ascontiguousarray(array), dtype=like.dtype, device=like.device)


def to_array(tensor: Any) -> np.ndarray:
    return tensor.detach().float().cpu().numpy()
