"""What a network wrote: names of ids, and probabilities from its output. T rows, V vocabulary, A alternatives."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Token = Callable[[int], Any] | Mapping[int, str] | Sequence[str]  # what names an id
_ALTERNATIVES = 5


def names(token: Token, pad: int) -> Callable[[int], str]:
    """What names an id; one that has no name is called by its number, and padding <pad>."""

    def name(number: int) -> str:
        number = int(number)
        try:
            found = token(number) if callable(token) else token[number]
        except (KeyError, IndexError):
            found = None
        if found is None or found == "":
            return "<pad>" if number == pad else str(number)
        found = found.numpy() if hasattr(found, "numpy") else found
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)

    return name


def probabilities(
    output: np.ndarray | None, produced: np.ndarray, name: Callable[[int], str]
) -> dict[str, Any]:
    """The fields about what each row might have produced, from logits or probabilities (T, V)."""
    if (
        output is None
        or output.shape[-1] <= max(_ALTERNATIVES, produced.max())
        or not np.isfinite(output).all()
    ):
        return {}
    if (output >= 0).all() and np.allclose(output.sum(-1), 1, atol=1e-3):
        logs = np.log(np.maximum(output, np.finfo(np.float32).tiny))
    else:
        shifted = output - output.max(-1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    best = np.argsort(-logs, axis=-1, kind="stable")[:, :_ALTERNATIVES]  # (T, A)
    return {
        "log_probabilities": logs[np.arange(len(produced)), produced],
        "alternatives": tuple(tuple(map(name, row)) for row in best),
        "alternative_probabilities": np.exp(np.take_along_axis(logs, best, axis=-1)),
    }
