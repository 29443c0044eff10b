"""One pass of the laboratory through a Keras network: what is replaced while it runs, and what it recorded.

Every softmax and embedding of Keras is replaced while the pass runs, and put back afterwards. One pass may run at a time, because the
whole process shares what is replaced.

S source tokens, T tokens that the decoder reads; H heads, Q query and K key positions.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import numpy as np

from model.adapters.altering import Altering
from model.adapters.heard import MASKED
from model.adapters.keras import asked_for_scores, eager_functions
from model.adapters.listening import SOFTMAXES, loaded, of_softmax, replaced

_FAR = 1e30  # below every score


class KerasPass:
    """One pass: what is replaced while it runs, and what it recorded: ``heard`` has the weights (1, H, Q, K) of each softmax."""

    def __init__(
        self,
        order: list[tuple[str, int] | None] | None,
        changes: dict[str, list[Altering]],
        source: Sequence[int],
        read: Sequence[int],
        factors: Sequence[Any] | None,
        keeps: bool = True,
    ):
        self.source, self.read, self.heard = source, read, []  # type: ignore[var-annotated]
        self.ends_in_softmax = False  # whether the last softmax makes the output
        self._order, self._changes, self._keeps = order, changes, keeps
        self._waiting = [] if factors is None else list(zip((source, read), factors, strict=True))
        self._inside = self._number = 0
        self._is_innermost = False

    @contextmanager
    def running(self) -> Iterator[None]:
        import keras

        layers = keras.layers
        with ExitStack() as stack:
            for owner, name in loaded(SOFTMAXES):
                stack.enter_context(replaced(owner, name, self._taking(getattr(owner, name))))
            softmax = self._taking(layers.Softmax.call)
            stack.enter_context(replaced(layers.Softmax, "call", softmax))
            for layer in (layers.MultiHeadAttention, layers.GroupQueryAttention):
                asked = asked_for_scores(layer._compute_attention)
                stack.enter_context(replaced(layer, "_compute_attention", asked))
            if self._waiting:
                looked_up = self._scaling(layers.Embedding.call)
                stack.enter_context(replaced(layers.Embedding, "call", looked_up))
            stack.enter_context(eager_functions(keras.backend.backend()))
            yield

    def _taking(self, softmax: Callable) -> Callable:
        """``softmax`` with its result changed. If one softmax calls another, only the result of the outer one is changed."""

        @wraps(softmax)
        def taken(*args, **kwargs):
            self._inside += 1
            self._is_innermost = True
            try:
                weights = softmax(*args, **kwargs)
                if self._is_innermost:  # only its scores hold all masks
                    weights = self._of_seen(softmax, weights, args, kwargs)
                self._is_innermost = False
            finally:
                self._inside -= 1
            return weights if self._inside else self._changed(weights)

        return taken

    def _of_seen(self, softmax: Callable, weights: Any, args: tuple, kwargs: dict) -> Any:
        """The softmax of those scores that queries may look at, and 0 for the others; ``weights`` if nothing is hidden."""
        from keras import ops

        at = self._order[self._number] if self._order else None
        seen = self._changes[at[0]][at[1]].seen if at and self._changes else None
        if seen is None or not args or tuple(getattr(args[0], "shape", ())) != tuple(weights.shape):
            return weights
        if of_softmax(weights, *args, **kwargs)[1] not in (-1, len(weights.shape) - 1):
            return weights
        scores, *rest = args
        may = ops.reshape(ops.convert_to_tensor(seen[0, 0, 0] > 0), (1,) * (len(scores.shape) - 1) + (-1,))
        may = ops.logical_and(scores > ops.max(scores, axis=-1, keepdims=True) - MASKED, may)
        return softmax(ops.where(may, scores, -_FAR), *rest, **kwargs) * ops.cast(may, weights.dtype)

    def _changed(self, weights: Any) -> Any:
        import keras

        shape = tuple(weights.shape)
        at = self._order[self._number] if self._order else None
        self._number += 1
        self.ends_in_softmax = len(shape) == 3 and shape[1] == len(self.read) and at is None
        if len(shape) < 3:
            weights_of_heads = keras.ops.reshape(weights, (1, 1, 1, -1))
        else:
            weights_of_heads = keras.ops.reshape(weights, (1, -1, *shape[-2:]))
        change = self._changes[at[0]][at[1]] if at and self._changes else None

        def tensor(array: np.ndarray) -> Any:
            return keras.ops.convert_to_tensor(array.astype(np.float32), weights.dtype)

        used = weights_of_heads if change is None else change.used(weights_of_heads, tensor)
        if self._keeps:
            self.heard.append(array_of(used))
        return weights if change is None else keras.ops.reshape(change.working(used, tensor), shape)

    def _scaling(self, look_up: Callable) -> Callable:
        """Embeddings times their factors, first those of the source, which is looked up before the target."""

        @wraps(look_up)
        def scaled(layer, ids, *args, **kwargs):
            import keras

            output = look_up(layer, ids, *args, **kwargs)
            if self._waiting and array_of(ids).tolist() == [list(self._waiting[0][0])]:
                factors = keras.ops.convert_to_tensor(self._waiting.pop(0)[1])
                return output * keras.ops.cast(factors, output.dtype)[..., None]
            return output

        return scaled


def array_of(tensor: Any) -> np.ndarray:
    import keras

    return np.asarray(keras.ops.convert_to_numpy(tensor))
