"""Checks that the fields of a trace fit each other: each array has the shape that the tokens give it."""

from typing import Any

import numpy as np

from model.trace.fields import check_extras, check_spans, expect_shape
from model.trace.strict_npz import TraceError

MASKS = {  # what sparse attention hides, by the kind of attention
    "encoder_attention": "encoder_masked",
    "decoder_attention": "decoder_masked",
    "cross_attention": "cross_masked",
}
_AXES = {  # what gives an attention its rows and columns
    "encoder_attention": "Rows and columns are the source_tokens",
    "decoder_attention": "Rows are the target_tokens, columns the decoder_input_tokens",
    "cross_attention": "Rows are the target_tokens, columns the source_tokens",
}
PADDING = ("source_padding", "target_padding")


def check_shapes(trace: Any) -> None:
    """Raises TraceError, which names the first field that does not fit the others."""
    source, target = len(trace.source_tokens), len(trace.target_tokens)
    if trace.decoder_input_tokens or trace.decoder_attention is not None:
        expect_shape("decoder_input_tokens", trace.decoder_input_tokens, (target,))
    for name, length in zip(PADDING, (source, target), strict=True):
        if getattr(trace, name):
            expect_shape(name, getattr(trace, name), (length,))
    _check_attention(trace)
    _check_positions(trace, source, target)
    _check_produced(trace, target)
    for side, length in (("source", source), ("target", target)):
        check_spans(trace, side, length)
    check_extras(trace, source, target)


def _check_attention(trace: Any) -> None:
    for kind in trace.kinds:
        rows, columns = map(len, trace.axes(kind))
        received = np.shape(getattr(trace, kind))
        if len(received) != 4 or 0 in received or received[2:] != (rows, columns):
            raise TraceError(kind, f"have the shape (L, H, {rows}, {columns})", received, _AXES[kind])
    for kind, name in MASKS.items():
        if getattr(trace, name) is not None:
            if getattr(trace, kind) is None:
                raise TraceError(name, f"come with {kind}", "none")
            expect_shape(name, getattr(trace, name), (trace.shape(kind)[0], *map(len, trace.axes(kind))))


def _check_produced(trace: Any, target: int) -> None:
    """The probabilities of what was produced, and of what could have been produced instead."""
    if trace.log_probabilities is not None:
        expect_shape("log_probabilities", trace.log_probabilities, (target,))
    if trace.alternatives or trace.alternative_probabilities is not None:
        found = getattr(trace.alternative_probabilities, "shape", ())
        expect_shape("alternative_probabilities", trace.alternative_probabilities, (target, *found[1:2]))
        for place, row in enumerate(trace.alternatives):
            expect_shape(f"alternatives[{place}]", row, found[1:])
        expect_shape("alternatives", trace.alternatives, (target,))


def _check_positions(trace: Any, source: int, target: int) -> None:
    sides = ("source_positional_encoding", source), ("target_positional_encoding", target)
    d_model = next(
        (np.shape(getattr(trace, name))[1:] for name, _ in sides if getattr(trace, name) is not None), ()
    )
    for name, length in sides:
        if getattr(trace, name) is not None:
            expect_shape(name, getattr(trace, name), (length, *(d_model or ("D",))))
