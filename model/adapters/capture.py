"""``Capture``: each softmax's weights in a pass, read or replaced by patching a library.

``altered`` are the weights that an intervention puts in their place.

B rows of a batch (or interventions), H heads, Q query and K key positions.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from model.activations.replacements import given_rows
from model.trace.checks import plain_array
from model.trace.interventions import Intervention
from model.trace.strict_npz import TraceError

Tensor = Any  # of any library
Layer = Any  # a layer of Keras, or a module of PyTorch
Function = Callable[..., Any]
# (number of the softmax, weights (B·H, Q, K), scores or None) -> the weights to show and those to use
Replacing = Callable[[int, np.ndarray, np.ndarray | None], tuple[np.ndarray, np.ndarray] | None]
# (a call of a layer behind those that enclose it, its returned value) at the end of each call
Observing = Callable[[tuple["LayerCall", ...], Tensor], None]
Place = tuple[Any, str]  # an owner and the name of its attribute

# The functions in which attention layers end: (module, name).
SOFTMAXES = (
    ("tensorflow.nn", "softmax"),
    ("jax.nn", "softmax"),
    ("torch", "softmax"),
    ("torch.nn.functional", "softmax"),
    ("torch", "Tensor.softmax"),
)
# Attention kernels without a replacement that returns weights.
FUSED = (
    ("torch", "nn.attention.flex_attention.flex_attention"),
    ("xformers", "ops.memory_efficient_attention"),
    ("flash_attn", "flash_attn_func"),
)
LOCK = RLock()  # one pass at a time: the whole process shares the replaced functions
MASKED = 5e3  # a score this far below the largest of its row was masked
DECODER_KIND = "decoder_attention"
_TINY = 1e-30  # keeps a row that sees nothing at zeros
SAME_PASS = 1e-4  # of the largest output: the tolerance between a traced pass and the network's own
_HALF_PRECISION = 5e-2  # the same for float16 and bfloat16


class LayerCall(NamedTuple):
    """A call of a layer."""

    number: int  # calls are counted
    layer: Layer
    given: tuple[Tensor, ...]
    named: dict[str, Any]
    softmaxes: int  # computed before it


class Maps(NamedTuple):
    """The weights of one softmax."""

    weights: np.ndarray  # (H, Q, K)
    masked: np.ndarray  # (H, Q, K) bool, True where a mask hides the key from the query
    path: tuple[LayerCall, ...] = ()  # the enclosing calls of layers, outermost first
    axes: int = 4  # of the tensor

    @classmethod
    def of(cls, weights: np.ndarray, scores: np.ndarray | None, *where: Any) -> "Maps":
        """Read the mask off the ``scores`` (H, Q, K) before the softmax; without scores nothing is masked.

        ``where``: the path and the number of axes.
        """
        if scores is None or scores.shape != weights.shape:
            return cls(weights, np.zeros(weights.shape, bool), *where)
        largest = scores.max(axis=-1, keepdims=True)
        floor = np.where(np.isfinite(largest), largest, 0) - MASKED
        return cls(weights, (scores < floor) & (weights == 0), *where)


def as_maps(weights: np.ndarray, axis: int) -> np.ndarray:
    """(H, Q, K) from a softmax over ``axis`` of (1, H, Q, K), (1, Q, K), (1, K), …

    >>> as_maps(np.ones((1, 7, 1)), axis=1).shape  # Bahdanau's scores of 7 source tokens
    (1, 1, 7)
    """
    moved = np.moveaxis(np.atleast_2d(weights), axis, -1)
    return moved.reshape(-1, *moved.shape[-2:]).astype(np.float32)


@dataclass
class Capture:
    """The softmaxes of a pass in their order, and the reasons why others are missing.

    Of nested softmaxes the outer result counts, because layers may set rows of padding to 0 afterwards. The
    mask is read off the scores of the inner one, because layers add their masks to them.

    ``replacing`` changes weights; none are replaced where it returns None. ``observing`` sees each call of a
    layer at its end.
    """

    replacing: Replacing | None = None
    observing: Observing | None = None
    maps: list[Maps] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    fused: list[str] = field(default_factory=list)  # those of ``missed`` that are attention for certain
    _calls: list[LayerCall] = field(default_factory=list)
    _count: int = 0  # of calls of layers
    _number: int = 0  # of softmaxes
    _depth: int = 0  # of nested captured functions
    _scores: Tensor = None  # the argument of the innermost softmax

    def softmax(self, function: Function, axis_of: Callable[..., int] | None = None) -> Function:
        """``function``, whose weights (H, Q, K) are captured.

        ``axis_of`` (*args) returns the axis that sums to 1; by default ``softmax_axis``.
        """

        @wraps(function)
        def captured(*args: object, **kwargs: object) -> object:
            self._depth += 1
            if axis_of is None and args:
                self._scores = args[0]
            try:
                weights = function(*args, **kwargs)
            finally:
                self._depth -= 1
            if self._depth:
                return weights
            scores, self._scores = self._scores, None
            replaced = self._keep(weights, (axis_of or softmax_axis)(*args, **kwargs), scores)
            return weights if replaced is None else replaced

        return captured

    def layer_call(self, call: Function) -> Function:
        """``call`` of a layer, which becomes part of the path of each softmax inside it."""

        @wraps(call)
        def called(layer: Layer, *args: object, **kwargs: object) -> object:
            self._count += 1
            begun = LayerCall(self._count, layer, args, kwargs, len(self.maps))
            self._calls.append(begun)
            try:
                returned = call(layer, *args, **kwargs)
            finally:
                self._calls.pop()
            if self.observing is not None:
                self.observing((*self._calls, begun), returned)
            return returned

        return called

    def without_weights(self, function: Function) -> Function:
        """A fused ``function``, whose calls are reported by ``check``."""

        @wraps(function)
        def noticed(*args: object, **kwargs: object) -> object:
            if not self._depth:
                reason = f"{function.__name__}, after {len(self.maps)} captured softmaxes, is fused"
                self.fused.append(f"{reason} and keeps no weights: use attention that takes a softmax")
                self.missed.append(self.fused[-1])
            return function(*args, **kwargs)

        return noticed

    def replace_softmaxes(self, stack: ExitStack, parts: "Parts", library: str = "") -> None:
        """Enter the replacement of all SOFTMAXES and FUSED of modules whose name begins with ``library``."""
        for owner, name in loaded([each for each in SOFTMAXES if each[0].startswith(library)]):
            stack.enter_context(parts.replaced(owner, name, self.softmax(getattr(owner, name))))
        for owner, name in loaded(FUSED):
            stack.enter_context(parts.replaced(owner, name, self.without_weights(getattr(owner, name))))

    def _keep(self, weights: Tensor, axis: int, scores: Tensor) -> Tensor:
        """Keep the weights; the tensor in their place, or None where nothing is replaced."""
        number, self._number = self._number, self._number + 1
        try:
            given = None if scores is None else as_maps(plain_array("softmax", scores), axis)
            found = as_maps(plain_array("softmax", weights), axis)
        except TraceError:
            compiled = "a softmax ran inside a compiled function (tf.function, jit, scan)"
            self.missed.append(f"{compiled}, after {len(self.maps)} captured ones: call it eagerly")
            return None
        given = given if given is not None and given.shape == found.shape else None
        replacement = None if self.replacing is None else self.replacing(number, found, given)
        shown, used = (found, None) if replacement is None else replacement
        self.maps.append(Maps.of(shown, given, tuple(self._calls), len(weights.shape)))
        if used is None:
            return None
        *others, last = np.moveaxis(np.empty(tuple(weights.shape), bool), axis, -1).shape
        return like(weights, np.moveaxis(used.reshape(*others, last), -1, axis))

    def reason(self) -> str:
        """Why attention is missing, and the remedy."""
        return "; ".join(dict.fromkeys(self.missed)) or (
            "Attention is captured where the library's own layers or its softmax compute it. Call the "
            "softmax by the library's name for it, such as F.softmax, and not as exp and sum"
        )

    def shapes(self) -> str:
        """The shapes (H, Q, K) of the captured softmaxes, for an error message; it holds no typed text."""
        shapes = sorted({each.weights.shape for each in self.maps})
        return f"softmaxes of the shapes (heads, rows, columns) {shapes}" if shapes else "no softmax"

    def check(self) -> None:
        """Raise TraceError for attention that was not captured.

        Warn of a compiled softmax, which may be another one.
        """
        if self.fused:
            raise TraceError(
                "attention", "be captured in each layer", f"{len(self.maps)} softmaxes", self.reason()
            )
        if self.missed:
            message = f"not captured: {self.reason()}. If it is attention, a layer is missing in this trace"
            warnings.warn(message, UserWarning, stacklevel=4)


def altered(
    at: tuple[str, int],
    interventions: Sequence[Intervention],
    weights: np.ndarray,
    scores: np.ndarray | None,
    keys: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The weights (B, H, Q, K) of the attention ``at`` (kind, layer): those to show, and those to use.

    A value or a head is zeroed by zeroing the weights on it. Columns beyond ``keys`` are attention sinks,
    whose weight falls on no key.
    """
    shown = weights.copy()
    for row, each in enumerate(interventions):
        hidden = each.without_target if at[0] == DECODER_KIND else each.without_source
        if places := [place for place in hidden if place < keys]:
            shown[row] = _without(places, shown[row], None if scores is None else scores[row])
        for head, given in each.weights.items():
            if head[:2] == at:
                shown[row, head.head, :, :keys] = given_rows(given)(shown[row, head.head, :, :keys])
    used = shown.copy()
    for row, each in enumerate(interventions):
        used[row, [head.head for head in each.off if head[:2] == at], :, :keys] = 0
        zeroed = [value.position for value in each.zeroed if value[:2] == at and value.position < keys]
        used[row, :, :, zeroed] = 0
    return shown, used


def _without(places: Sequence[int], weights: np.ndarray, scores: np.ndarray | None) -> np.ndarray:
    """The softmax (H, Q, K) over the keys outside of ``places``, which get 0. Rows of zeros stay so.

    A head with all its weight on a hidden key would have nothing left behind the softmax, so it is computed
    once more from its ``scores``, where they are known.
    """
    seen = np.ones(weights.shape, bool)
    seen[..., places] = False
    if scores is None:
        shares = weights * seen
    else:
        seen &= scores > scores.max(-1, keepdims=True) - MASKED
        lowered = np.where(seen, scores, -np.inf)
        highest = np.nan_to_num(lowered.max(-1, keepdims=True), neginf=0)
        shares = np.exp(lowered - highest) * weights.any(-1, keepdims=True)
    return shares / (shares.sum(-1, keepdims=True) + _TINY)


def softmax_axis(*args: Any, **kwargs: Any) -> int:
    """The axis of a library's softmax, which PyTorch calls ``dim``.

    >>> softmax_axis("scores", dim=1)
    1
    """
    axis = kwargs.get("axis", kwargs.get("dim", args[1] if len(args) > 1 else -1))
    return -1 if axis is None else axis


def check_same_pass(own: object, traced: object, name: str) -> None:
    """Raise TraceError where the outputs of a traced pass differ from those of the network's own pass.

    Args:
        own: the returned tensors of the own pass, also in lists and mappings.
        traced: the same of the traced pass.
        name: the network's name in the message.
    """
    for (dtype, one), (_, other) in zip(_arrays(own), _arrays(traced), strict=True):
        finite, off = np.isfinite(one), np.inf
        if one.shape == other.shape:
            off = np.abs(one - other)[finite].max(initial=0)
        scale = max(1.0, float(np.abs(one[finite]).max(initial=0)))
        if off > (_HALF_PRECISION if "16" in str(dtype) else SAME_PASS) * scale:
            advice = "Its dropout may be on (Keras: pass training=False), or its attention differs where it "
            advice += "returns weights (transformers: load it with attn_implementation='eager')"
            raise TraceError(
                "the traced pass",
                f"equal the own pass of {name}",
                f"outputs that differ by {off:.2g}",
                advice,
            )


def _arrays(returned: Tensor) -> Iterator[tuple[object, np.ndarray]]:
    """The dtype and the numbers of each tensor of floats in ``returned``."""
    if isinstance(returned, Mapping):
        returned = list(returned.values())
    if isinstance(returned, list | tuple):
        for each in returned:
            yield from _arrays(each)
    elif "float" in str(getattr(returned, "dtype", "")):
        yield returned.dtype, plain_array("output", returned).astype(np.float64)


def loaded(places: Sequence[tuple[str, str]]) -> Iterator[Place]:
    """(owner, name) of those functions whose library is imported.

    >>> list(loaded([("no_such_library", "softmax")]))
    []
    """
    for module, path in places:
        library, *inner = module.split(".")
        owner = sys.modules.get(library)
        *outer, name = (*inner, *path.split("."))
        for each in outer:
            owner = getattr(owner, each, None)
        if hasattr(owner, name):
            yield owner, name


@contextmanager
def replaced(owner: object, name: str, new: object) -> Iterator[None]:
    """``owner.name`` is ``new`` inside the ``with``.

    >>> from types import SimpleNamespace
    >>> owner = SimpleNamespace(softmax=1)
    >>> with replaced(owner, "softmax", 2):
    ...     print(owner.softmax)
    2
    """
    old, is_own = getattr(owner, name), name in vars(owner)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, old)
        else:  # it was inherited
            delattr(owner, name)


class Parts:
    """The modules of a network, which may hold functions of a library as attributes.

    Places are searched once, because that takes as long as a pass.
    """

    def __init__(self, parts: Iterable[Layer]):
        self._parts = list(parts)
        self._places: dict[tuple[int, str], list[Place]] = {}

    @contextmanager
    def replaced(self, owner: object, name: str, new: object) -> Iterator[None]:
        """``replaced``, also where a file imported the function by its name and where a module holds it.

        The library's own files keep the old function.
        """
        if (id(owner), name) not in self._places:
            self._places[id(owner), name] = self._search(owner, name)
        with ExitStack() as stack:
            for place in self._places[id(owner), name]:
                stack.enter_context(replaced(*place, new))
            yield

    def _search(self, owner: Any, name: str) -> list[Place]:
        """All places outside of its library from which ``owner.name`` may be called, its own one first."""
        old = getattr(owner, name)
        library = (owner.__module__ if isinstance(owner, type) else owner.__name__).partition(".")[0]
        files = [file for path, file in list(sys.modules.items()) if path.partition(".")[0] != library]
        found = [
            (each, own_name)
            for each in (*files, *self._parts)
            for own_name, value in list(getattr(each, "__dict__", {}).items())
            if value is old
        ]
        return [(owner, name), *found]


def like(tensor: Tensor, array: np.ndarray) -> Tensor:
    """``array`` as a tensor of the library, the dtype and the device of ``tensor``."""
    if hasattr(tensor, "detach"):
        import torch

        return torch.as_tensor(np.ascontiguousarray(array), dtype=tensor.dtype, device=tensor.device)
    import keras

    return keras.ops.convert_to_tensor(array, tensor.dtype)
