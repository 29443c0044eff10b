"""Softmaxes that are heard while a network runs. What a library replaces for it is put back afterwards."""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

from model.adapters.maps import LayerCall, Maps, as_maps
from model.trace.arrays import plain_array
from model.trace.strict_npz import TraceError

# Whatever a layer calls, in the end its library takes the softmax: (module, the name in it).
SOFTMAXES = (
    ("tensorflow.nn", "softmax"),
    ("jax.nn", "softmax"),
    ("torch", "softmax"),
    ("torch.nn.functional", "softmax"),
    ("torch", "Tensor.softmax"),
)
SPELLED_OUT = {  # of these each library's file can spell out what they compute
    "torch": ("torch.nn.functional", "scaled_dot_product_attention"),
    "jax": ("jax.nn", "dot_product_attention"),
}
FUSED = (  # of these nobody can spell out what they compute
    ("torch", "nn.attention.flex_attention.flex_attention"),
    ("xformers", "ops.memory_efficient_attention"),
    ("flash_attn", "flash_attn_func"),
)


class Ear:
    """``heard``: the maps of each softmax, in the order in which they were taken. ``missed``: why some were not.

    If a softmax calls another one, the outer one is heard, because a layer may set rows of padding to 0 afterwards. What a mask hides is
    seen in the scores that the inner one is given, because layers add their masks to them.
    """

    def __init__(self) -> None:
        self.heard: list[Maps] = []
        self.missed: list[str] = []
        self.fused: list[str] = []  # those of ``missed`` that are attention for certain
        self.is_random = False  # whether dropout was on
        self._calls: list[LayerCall] = []
        self._called = 0  # how many calls there were
        self._inside = 0  # how many listening functions are being called, one by the other
        self._scores: Any = None  # what the innermost softmax was given

    def hearing(self, function: Callable, weights_of: Callable[..., tuple[Any, int]]) -> Callable:
        """``function``, heard: ``weights_of`` its result and its arguments are the weights and the axis that sums to 1."""

        @wraps(function)
        def listened(*args, **kwargs):
            self._inside += 1
            if weights_of is of_softmax and args:
                self._scores = args[0]
            try:
                result = function(*args, **kwargs)
            finally:
                self._inside -= 1
            if not self._inside:
                scores, self._scores = self._scores, None
                self.keep(*weights_of(result, *args, **kwargs), scores)
            return result

        return listened

    def inside(self, call: Callable) -> Callable:
        """``call`` of a layer, so that it is known of each softmax inside which layers it was taken."""

        @wraps(call)
        def called(layer, *args, **kwargs):
            self._called += 1
            self._calls.append(LayerCall(self._called, layer, (*args, *kwargs.values())))
            try:
                return call(layer, *args, **kwargs)
            finally:
                self._calls.pop()

        return called

    def noticing(self, function: Callable) -> Callable:
        """``function``, which keeps no weights: that it was called is remembered."""

        @wraps(function)
        def noticed(*args, **kwargs):
            if not self._inside:
                self.fused.append(
                    f"{function.__name__}, behind {len(self.heard)} softmaxes that were heard, is fused and keeps no weights: "
                    "use attention that takes a softmax"
                )
                self.missed.append(self.fused[-1])
            return function(*args, **kwargs)

        return noticed

    def keep(self, weights: Any, axis: int, scores: Any = None) -> None:
        """Remember the weights of one softmax over ``axis``, and the cells that a mask hid in its ``scores``."""
        try:
            given = None if scores is None else as_maps(plain_array("softmax", scores), axis)
            self.heard.append(
                Maps.of(as_maps(plain_array("softmax", weights), axis), given, tuple(self._calls))
            )
        except TraceError:
            self.missed.append(
                f"a softmax ran inside a compiled function (tf.function, jit, scan), behind {len(self.heard)} that were heard: "
                "call it eagerly"
            )

    def reason(self) -> str:
        """Why nothing was heard, and what to do."""
        if self.missed:
            return "; ".join(dict.fromkeys(self.missed))
        return (
            "Attention is heard where the library's own layers or its softmax take it. Call it by the name that the library gives it, "
            "such as F.softmax, and not by exp and sum"
        )

    def tell_missed(self) -> None:
        """Say what is missing beside what was heard. Raises TraceError for attention; a compiled softmax may be of something else, so it
        is a warning."""
        if self.fused:
            raise TraceError(
                "attention", "be heard in each layer", f"{len(self.heard)} softmaxes", self.reason()
            )
        if self.missed:
            warnings.warn(
                f"not heard: {self.reason()}. If it is attention, a layer is missing in this trace",
                UserWarning,
                stacklevel=4,
            )


def of_softmax(result: Any, *args: Any, **kwargs: Any) -> tuple[Any, int]:
    """What a library's softmax returned, and its axis, called ``dim`` by PyTorch."""
    axis = kwargs.get("axis", kwargs.get("dim", args[1] if len(args) > 1 else -1))
    return result, -1 if axis is None else axis


def loaded(places: Sequence[tuple[str, str]]) -> Iterator[tuple[Any, str]]:
    """(owner, name) of those functions whose library is loaded; no other one can be a network's."""
    for module, path in places:
        library, *inner = module.split(".")
        owner = sys.modules.get(library)
        *outer, name = (*inner, *path.split("."))
        for each in outer:
            owner = getattr(owner, each, None)
        if hasattr(owner, name):
            yield owner, name


@contextmanager
def replaced(owner: Any, name: str, new: Any) -> Iterator[None]:
    """``owner.name`` is ``new`` inside the ``with``."""
    old, is_own = getattr(owner, name), name in vars(owner)
    setattr(owner, name, new)
    try:
        yield
    finally:
        if is_own:
            setattr(owner, name, old)
        else:  # it was inherited
            delattr(owner, name)


@contextmanager
def replaced_everywhere(owner: Any, name: str, new: Any, parts: Iterable[Any] = ()) -> Iterator[None]:
    """``replaced``, also where a file has imported the function by its name, and where one of the ``parts`` of a network keeps it.

    The library's own files go on to use the old one.
    """
    with ExitStack() as stack:
        for each, own_name in places_of(owner, name, parts):
            stack.enter_context(replaced(each, own_name, new))
        yield


def places_of(owner: Any, name: str, parts: Iterable[Any] = ()) -> list[tuple[Any, str]]:
    """(owner, name) of all places outside of its library from which a function of it may be called, its own one first."""
    old, library = getattr(owner, name), _library(owner)
    files = [file for path, file in list(sys.modules.items()) if path.partition(".")[0] != library]
    found = [
        (each, own_name)
        for each in (*files, *parts)
        for own_name, value in list(getattr(each, "__dict__", {}).items())
        if value is old
    ]
    return [(owner, name), *found]


def _library(owner: Any) -> str:
    return (owner.__module__ if isinstance(owner, type) else owner.__name__).partition(".")[0]


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """A module of PyTorch drops nothing inside the ``with``; afterwards each part of it is in the mode that it was in."""
    before = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in before:
            part.training = training


def what_was_heard(heard: Sequence[Maps]) -> str:
    """What a message may say of the softmaxes: their shapes, which hold nothing that was typed."""
    shapes = sorted({each.weights.shape for each in heard})
    return f"softmaxes of the shapes (heads, rows, columns) {shapes}" if shapes else "no softmax"
