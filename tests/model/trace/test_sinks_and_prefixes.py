"""Rows that give a part of their weight to no token, and decoders whose first tokens see each other."""

import numpy as np
import pytest

from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

OWN = np.float32([[[[0.5, 0, 0], [0.25, 0.25, 0], [0, 0, 0.75]]]])  # 0.5, 0.5 and 0.25 fall on no token
TOKENS = {"target_tokens": ("b", "c", "</s>"), "decoder_input_tokens": ("a", "b", "c")}


def decoder(weights: np.ndarray, **fields) -> AttentionTrace:
    return AttentionTrace(**TOKENS, decoder_attention=weights, **fields)


def test_what_is_missing_of_a_row_falls_on_the_sink(tmp_path):
    trace = decoder(OWN, sinks=["decoder_attention"])
    trace.check()
    np.testing.assert_allclose(trace.sink("decoder_attention"), [[[0.5, 0.5, 0.25]]])
    trace.save(tmp_path / "trace.npz")
    found = AttentionTrace.load(tmp_path / "trace.npz")
    assert found.sinks == ("decoder_attention",)
    np.testing.assert_array_equal(found.sink("decoder_attention"), trace.sink("decoder_attention"))


def test_without_a_sink_such_rows_are_refused_and_it_is_told_how_to_name_one():
    assert decoder(np.eye(3)[None, None]).sink("decoder_attention") is None
    with pytest.raises(
        TraceError,
        match=r"layer 0, head 0, row 0, .* Where the rest .* sinks=\('decoder_attention',\)",
    ):
        decoder(OWN).check()


def test_a_row_of_padding_has_no_sink():
    trace = decoder(OWN, sinks=("decoder_attention",), target_padding=(False, False, True))
    np.testing.assert_allclose(trace.sink("decoder_attention"), [[[0.5, 0.5, 0]]])


def test_more_than_all_is_refused_with_a_sink_too():
    with pytest.raises(TraceError, match="rows that sum to at most 1, received 1.5, layer 0, head 0, row 1"):
        decoder(OWN * [[2], [3], [1]], sinks=("decoder_attention",)).check()


PREFIX = np.float32([[[[0.5, 0.5, 0], [0.25, 0.75, 0], [0.25, 0.25, 0.5]]]])


def test_the_tokens_of_a_prefix_see_each_other(tmp_path):
    trace = decoder(PREFIX, prefix=2, prompt=2)
    trace.check()
    assert np.argwhere(trace.masked("decoder_attention")).tolist() == [[0, 2], [1, 2]]
    trace.save(tmp_path / "trace.npz")
    found = AttentionTrace.load(tmp_path / "trace.npz")
    assert (found.prefix, found.prompt) == (2, 2)


def test_without_a_prefix_a_row_that_looks_ahead_is_refused():
    with pytest.raises(TraceError, match="right of its diagonal, .* row 0. .* prefix=…"):
        decoder(PREFIX).check()


def test_only_a_decoder_may_not_look_ahead():
    later = decoder(PREFIX, prefix=2).masked("decoder_attention")
    assert later.tolist() == [[False, False, True], [False, False, True], [False, False, False]]
    trace = AttentionTrace(source_tokens=("a",), encoder_attention=np.ones((1, 1, 1, 1)))
    assert trace.masked("encoder_attention") is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"sinks": ("cross_attention",)}, "sinks should be some of decoder_attention, received cross"),
        ({"prefix": 4}, "prefix should be at most 3"),
        ({"prompt": -1}, "prompt should be a whole number, 0 or more, received int -1"),
        ({"source_grid": (2, 2)}, "source_grid should have at most 0 patches"),
        ({"source_grid": (0, 2)}, "source_grid should have at least one row"),
    ],
)
def test_what_does_not_fit_is_told(fields, told):
    with pytest.raises(TraceError, match=told):
        decoder(PREFIX, **fields)
