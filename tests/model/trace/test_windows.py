"""Rows that see only what is near: what lies outside of the window is no small weight, but hidden."""

from dataclasses import replace

import numpy as np
import pytest

from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace
from viz import explore

TOKENS = tuple("abcd")


def near(*windows: int, causal: bool = False) -> np.ndarray:
    """(L, 1, 4, 4) weights that are the same everywhere within each layer's window."""
    places = np.arange(4)
    offset = places - places[:, None]
    layers = []
    for window in windows:
        seen = (np.abs(offset) <= window) if window >= 0 else np.ones((4, 4), bool)
        seen = seen & (offset <= 0) if causal else seen
        layers.append(seen / seen.sum(-1, keepdims=True))
    return np.stack(layers)[:, None].astype(np.float32)


def encoder(weights=None, windows=(1, -1), **more) -> AttentionTrace:
    given = near(1, -1) if weights is None else weights
    return AttentionTrace(source_tokens=TOKENS, encoder_attention=given, windows=windows, **more)


def test_each_layer_hides_what_lies_outside_of_its_window():
    trace = encoder()
    trace.check()
    assert trace.masked("encoder_attention", 0).astype(int).tolist() == [
        [0, 0, 1, 1],
        [0, 0, 0, 1],
        [1, 0, 0, 0],
        [1, 1, 0, 0],
    ]
    assert not trace.masked("encoder_attention", 1).any()
    assert not trace.masked("encoder_attention").any()  # one layer sees everything


def test_a_decoder_hides_what_comes_later_too():
    words = {"target_tokens": TOKENS, "decoder_input_tokens": TOKENS}
    trace = AttentionTrace(**words, decoder_attention=near(1, 2, causal=True), windows=(1, 2))
    trace.check()
    np.testing.assert_array_equal(trace.masked("decoder_attention", 0), trace.decoder_attention[0, 0] == 0)
    np.testing.assert_array_equal(trace.masked("decoder_attention"), trace.decoder_attention[1, 0] == 0)


def test_tokens_that_see_everything_are_seen_everywhere():
    hidden = encoder(global_tokens=1).masked("encoder_attention", 0)
    assert not hidden[0].any() and not hidden[:, 0].any() and hidden[3, 1]


def test_it_travels(tmp_path):
    encoder(global_tokens=1).save(tmp_path / "trace.npz")
    found = AttentionTrace.load(tmp_path / "trace.npz")
    assert (found.windows, found.global_tokens) == ((1, -1), 1)


STRIDED = np.subtract.outer(np.arange(4), np.arange(4)) % 2 == 1


def sparse(hidden=STRIDED, weights=None, **more) -> AttentionTrace:
    """Every other token is hidden in the first layer, and nothing in the second."""
    seen = np.stack([~STRIDED, np.ones((4, 4), bool)])
    given = (seen / seen.sum(-1, keepdims=True))[:, None] if weights is None else weights
    masked = np.stack([hidden, np.zeros_like(hidden)])
    return AttentionTrace(source_tokens=TOKENS, encoder_attention=given, encoder_masked=masked, **more)


def test_any_other_form_is_told_cell_by_cell(tmp_path):
    trace = sparse()
    trace.save(tmp_path / "trace.npz")
    for each in (trace, AttentionTrace.load(tmp_path / "trace.npz")):
        assert each.encoder_masked.dtype == bool
        np.testing.assert_array_equal(each.masked("encoder_attention", 0), STRIDED)
        assert not each.masked("encoder_attention", 1).any() and not each.masked("encoder_attention").any()


def test_both_forms_together_hide_what_either_does():
    hidden = sparse(weights=np.eye(4)[None, None].repeat(2, 0), windows=(-1, 0)).masked
    np.testing.assert_array_equal(hidden("encoder_attention", 1), ~np.eye(4, dtype=bool))
    np.testing.assert_array_equal(hidden("encoder_attention"), STRIDED)  # what both layers hide


def test_the_page_hatches_it():
    page = explore(encoder(near(1, 1), (1, 1))).page
    assert b'"windows": [1, 1]' in page and b"(masked)" in page
    assert b"(masked)" not in explore(encoder(near(-1, -1), ())).page


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: encoder(windows=(1,)), "windows should be one for each layer, received 1 for 2 layers"),
        (lambda: encoder(windows=(1, -2)), r"windows\[1\] should be a whole number, 0 or more"),
        (lambda: encoder(windows=3), "windows should be a whole number for each layer"),
        (
            lambda: replace(encoder(), windows=(1, 2)).check(),
            "windows should hold all that rows look at.* layer 1, head 0, row 0",
        ),
        (
            lambda: sparse(weights=near(1, -1)).check(),
            "encoder_masked should be True only where no head of the layer looks.* layer 0, head 0, row 0",
        ),
        (
            lambda: sparse(STRIDED[:3]),
            r"encoder_masked should have the shape \(2, 4, 4\), received \(2, 3, 4\)",
        ),
        (lambda: sparse(np.full((4, 4), 0.5)), "encoder_masked should be True where a row may not look"),
        (
            lambda: replace(encoder(), cross_masked=np.zeros((2, 4, 4), bool)),
            "cross_masked should come with cross_attention, received none",
        ),
    ],
)
def test_what_does_not_fit_is_refused(made, message):
    with pytest.raises(TraceError, match=message):
        made()
