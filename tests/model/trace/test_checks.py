"""Fields of a trace: arrays, padding, windows, sinks, prefixes; refused ones."""

from dataclasses import replace

import numpy as np
import pytest

from model.trace.checks import all_layers, plain_array
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

LAYERS, BATCH, HEADS, TOKENS = 2, 3, 4, 5
WEIGHTS = np.random.default_rng(0).random((LAYERS, BATCH, HEADS, TOKENS, TOKENS), np.float32)
NAME = "encoder_attention"


def test_layers_one_by_one_are_stacked():
    np.testing.assert_array_equal(all_layers(NAME, tuple(WEIGHTS[:, 0]), None), WEIGHTS[:, 0])
    np.testing.assert_array_equal(all_layers(NAME, list(WEIGHTS[:, :1]), None), WEIGHTS[:, 0])


@pytest.mark.parametrize("given", [WEIGHTS, tuple(WEIGHTS)])
def test_a_batch_is_asked_which_sentence(given):
    with pytest.raises(TraceError, match=r"be of one sentence, .* a batch of 3. Say which one: batch=0 … 2"):
        all_layers(NAME, given, None)
    np.testing.assert_array_equal(all_layers(NAME, given, 1), WEIGHTS[:, 1])
    with pytest.raises(TraceError, match="have a sentence 3 in its batch, received 3, counted from 0"):
        all_layers(NAME, given, 3)


def test_one_layer_of_a_batch_is_never_taken_for_layers_where_a_sentence_is_named():
    assert all_layers(NAME, WEIGHTS[0], None).shape == (BATCH, HEADS, TOKENS, TOKENS)  # as documented: layers
    np.testing.assert_array_equal(all_layers(NAME, WEIGHTS[0], 2), WEIGHTS[:1, 2])
    with pytest.raises(TraceError, match=r"have a batch axis, as batch is given, .* \(4, 5, 5\)"):
        all_layers(NAME, tuple(WEIGHTS[:, 0]), 2)


def test_a_whole_batch_makes_the_trace_of_one_sentence():
    weights = np.zeros((BATCH, HEADS, 2, 2), np.float32)
    weights[1, :, 0, 0] = 1
    mask = np.array([[1, 1], [1, 0], [1, 1]])
    trace = AttentionTrace(
        source_tokens=("a", "<pad>"), encoder_attention=[weights], source_padding=mask == 0, batch=1
    )
    assert trace.source_padding == (False, True)
    trace.check()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "have at least one layer"),
        ((WEIGHTS[0, 0], WEIGHTS[0, 0, :2]), "all of one shape"),
        (
            (None, None),
            r"encoder_attention\[0\] should be an array of numbers, .* Ask the model for its attention",
        ),
    ],
)
def test_layers_that_are_none_are_refused(given, told):
    with pytest.raises(TraceError, match=told):
        all_layers(NAME, given, None)


def test_a_tensor_without_numbers_is_refused():
    class Symbolic:
        def __array__(self, *_, **__):
            raise NotImplementedError

    with pytest.raises(TraceError, match="hold numbers, received Symbolic. Inside a compiled function"):
        plain_array(NAME, Symbolic())


@pytest.mark.parametrize("kind", [complex, object])
def test_arrays_of_other_than_real_numbers_are_refused(kind):
    with pytest.raises(TraceError, match="encoder_attention should be an array of real numbers, received an"):
        all_layers(NAME, np.ones((1, 1, 2, 2), kind) / 2, None)


def encoder(weights: list[list[float]], **fields) -> AttentionTrace:
    """One layer, one head, three tokens."""
    return AttentionTrace(
        source_tokens=("a", "b", "<pad>"), encoder_attention=np.float32([[weights]]), **fields
    )


MASKED = [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]]


def test_an_empty_row_that_is_no_padding_is_refused_by_its_place():
    with pytest.raises(TraceError, match="received 0.0, layer 0, head 0, row 2, .* say so in source_padding"):
        encoder(MASKED).check()


def decoder(own: list[list[float]], cross: list[list[float]]) -> AttentionTrace:
    return AttentionTrace(
        source_tokens=("a", "<pad>"),
        target_tokens=("x", "</s>", "<pad>"),
        decoder_input_tokens=("<s>", "x", "</s>"),
        decoder_attention=np.float32([[own]]),
        cross_attention=np.float32([[cross]]),
        source_padding=(False, True),
        target_padding=(False, False, True),
    )


def test_the_decoder_reads_padding_one_token_after_it_was_produced():
    trace = decoder([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], [[1, 0], [1, 0], [0, 0]])
    trace.check()
    rows, columns = trace.padding("decoder_attention")
    assert (rows.tolist(), columns.tolist()) == ([False, False, True], [False, False, False])
    assert trace.padding("cross_attention")[1].tolist() == [False, True]
    assert trace.padded("cross_attention").tolist() == [[False, True], [False, True], [True, True]]


def test_a_decoder_that_looks_ahead_is_told_to_mask():
    with pytest.raises(
        TraceError, match="0 right of its diagonal, .* layer 0, head 0, row 0. .* look-ahead.* prefix=…"
    ):
        decoder([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]], [[1, 0]] * 3).check()


TOKENS_windows = tuple("abcd")


def near(*windows: int) -> np.ndarray:
    """(L, 1, 4, 4) weights that are the same everywhere within each layer's window."""
    places = np.arange(4)
    offset = places - places[:, None]
    layers = []
    for window in windows:
        seen = (np.abs(offset) <= window) if window >= 0 else np.ones((4, 4), bool)
        layers.append(seen / seen.sum(-1, keepdims=True))
    return np.stack(layers)[:, None].astype(np.float32)


def encoder_windows(weights=None, windows=(1, -1), **more) -> AttentionTrace:
    given = near(1, -1) if weights is None else weights
    return AttentionTrace(source_tokens=TOKENS_windows, encoder_attention=given, windows=windows, **more)


def test_each_layer_hides_what_lies_outside_of_its_window():
    trace = encoder_windows()
    assert trace.masked("encoder_attention", 0).astype(int).tolist() == [
        [0, 0, 1, 1],
        [0, 0, 0, 1],
        [1, 0, 0, 0],
        [1, 1, 0, 0],
    ]
    assert not trace.masked("encoder_attention", 1).any()
    assert not trace.masked("encoder_attention").any()  # one layer sees everything


STRIDED = np.subtract.outer(np.arange(4), np.arange(4)) % 2 == 1


def sparse(hidden=STRIDED, weights=None, **more) -> AttentionTrace:
    """Every other token is hidden in the first layer, and nothing in the second."""
    seen = np.stack([~STRIDED, np.ones((4, 4), bool)])
    given = (seen / seen.sum(-1, keepdims=True))[:, None] if weights is None else weights
    masked = np.stack([hidden, np.zeros_like(hidden)])
    return AttentionTrace(
        source_tokens=TOKENS_windows, encoder_attention=given, encoder_masked=masked, **more
    )


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: encoder_windows(windows=(1,)), "windows should be one for each layer, received 1 for 2"),
        (lambda: encoder_windows(windows=(1, -2)), r"windows\[1\] should be a whole number, 0 or more"),
        (lambda: encoder_windows(windows=3), "windows should be a whole number for each layer"),
        (
            lambda: replace(encoder_windows(), windows=(1, 2)).check(),
            "windows should hold all that rows look at.* layer 1, head 0, row 0",
        ),
        (
            lambda: sparse(weights=near(1, -1)).check(),
            "encoder_masked should be True only where no head of the layer looks.* layer 0, head 0, row 0",
        ),
        (lambda: sparse(STRIDED[:3]), r"encoder_masked .* shape \(2, 4, 4\), received \(2, 3, 4\)"),
        (lambda: sparse(np.full((4, 4), 0.5)), "encoder_masked should be True where a row may not look"),
        (
            lambda: replace(encoder_windows(), cross_masked=np.zeros((2, 4, 4), bool)),
            "cross_masked should come with cross_attention, received none",
        ),
    ],
)
def test_what_does_not_fit_is_refused(made, message):
    with pytest.raises(TraceError, match=message):
        made()


OWN = np.float32([[[[0.5, 0, 0], [0.25, 0.25, 0], [0, 0, 0.75]]]])  # 0.5, 0.5 and 0.25 fall on no token
TOKENS_sinks_and_prefixes = {"target_tokens": ("b", "c", "</s>"), "decoder_input_tokens": ("a", "b", "c")}


def decoder_sinks_and_prefixes(weights: np.ndarray, **fields) -> AttentionTrace:
    return AttentionTrace(**TOKENS_sinks_and_prefixes, decoder_attention=weights, **fields)


def test_what_is_missing_of_a_row_falls_on_the_sink_but_of_a_row_of_padding():
    trace = decoder_sinks_and_prefixes(OWN, sinks=["decoder_attention"])
    trace.check()
    np.testing.assert_allclose(trace.sink("decoder_attention"), [[[0.5, 0.5, 0.25]]])
    trace = decoder_sinks_and_prefixes(OWN, sinks=("decoder_attention",), target_padding=(False, False, True))
    np.testing.assert_allclose(trace.sink("decoder_attention"), [[[0.5, 0.5, 0]]])


def test_more_than_all_is_refused_with_a_sink_too():
    with pytest.raises(TraceError, match="rows that sum to at most 1, received 1.5, layer 0, head 0, row 1"):
        decoder_sinks_and_prefixes(OWN * [[2], [3], [1]], sinks=("decoder_attention",)).check()


PREFIX = np.float32([[[[0.5, 0.5, 0], [0.25, 0.75, 0], [0.25, 0.25, 0.5]]]])


def test_the_tokens_of_a_prefix_see_each_other():
    trace = decoder_sinks_and_prefixes(PREFIX, prefix=2, prompt=2)
    trace.check()
    assert np.argwhere(trace.masked("decoder_attention")).tolist() == [[0, 2], [1, 2]]


def test_only_a_decoder_may_not_look_ahead():
    trace = AttentionTrace(source_tokens=("a",), encoder_attention=np.ones((1, 1, 1, 1)))
    assert trace.masked("encoder_attention") is None


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"sinks": ("cross_attention",)}, "sinks should be some of decoder_attention, received cross"),
        ({"prefix": 4}, "prefix should be at most 3"),
        ({"prompt": -1}, "prompt should be a whole number, 0 or more, received int -1"),
    ],
)
def test_what_does_not_fit_is_told(fields, told):
    with pytest.raises(TraceError, match=told):
        decoder_sinks_and_prefixes(PREFIX, **fields)
