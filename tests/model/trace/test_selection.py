"""Which weights of a trace a selection stands for, and what it is called."""

from dataclasses import replace

import numpy as np
import pytest

from model.trace.trace import ATTENTION_KINDS, AttentionTrace, Selection
from tests.model.trace.test_trace import HEADS, LAYERS, arrays

EVERY = [(layer, head) for layer in (None, 0, LAYERS - 1) for head in (None, 0, HEADS - 1)]


def say(key: str, /, **values) -> str:
    return " ".join([key, *(f"{name}={value}" for name, value in values.items())])


@pytest.fixture
def trace() -> AttentionTrace:
    rng = np.random.default_rng(0)
    maps = {kind: rng.random(arrays()[kind].shape).astype(np.float32) for kind in ATTENTION_KINDS}
    return AttentionTrace(**arrays() | maps)


def one_map(trace: AttentionTrace) -> AttentionTrace:
    """The trace of a recurrent network: one kind, one layer, one head."""
    missing = (
        "encoder_attention",
        "decoder_attention",
        "source_positional_encoding",
        "target_positional_encoding",
    )
    return replace(trace, cross_attention=trace.cross_attention[:1, :1], **dict.fromkeys(missing))


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_the_weights_are_the_mean_of_the_heads_that_are_named(trace, kind):
    for layer, head in EVERY:
        selection = Selection(kind, layer, head)
        weights = selection.weights(trace)
        named = [trace.attention(kind)[place] for place in selection.heads(trace)]
        np.testing.assert_allclose(weights, np.mean(named, axis=0), rtol=1e-6)
        assert weights.dtype == np.float32


def test_one_head_is_that_head_without_a_copy(trace):
    weights = Selection("cross_attention", 1, 0).weights(trace)
    assert np.shares_memory(weights, trace.cross_attention)
    np.testing.assert_array_equal(weights, trace.cross_attention[1, 0])


def test_the_heads_of_a_selection(trace):
    assert Selection("cross_attention", 1, 0).heads(trace) == [(1, 0)]
    assert Selection("cross_attention", 2).heads(trace) == [(2, 0), (2, 1)]
    assert Selection("cross_attention", head=1).heads(trace) == [(0, 1), (1, 1), (2, 1)]
    assert len(Selection("cross_attention").heads(trace)) == LAYERS * HEADS


def test_people_count_from_1(trace):
    labels = [Selection("cross_attention", layer, head).label(say, trace) for layer, head in EVERY]
    assert labels == [
        "place_all",
        "place_mean_layers head=1",
        f"place_mean_layers head={HEADS}",
        "place_mean layer=1",
        "place_head layer=1 head=1",
        f"place_head layer=1 head={HEADS}",
        f"place_mean layer={LAYERS}",
        f"place_head layer={LAYERS} head=1",
        f"place_head layer={LAYERS} head={HEADS}",
    ]


def test_where_there_is_one_map_every_selection_is_that_map(trace):
    only = one_map(trace)
    for layer in (None, 0):
        for head in (None, 0):
            selection = Selection("cross_attention", layer, head)
            np.testing.assert_array_equal(selection.weights(only), only.cross_attention[0, 0])
            assert selection.label(say, only) == "place_only"
            assert selection.heads(only) == [(0, 0)]


def test_a_kind_that_the_trace_lacks_is_named(trace):
    with pytest.raises(ValueError, match="received 'encoder_attention'"):
        Selection("encoder_attention").weights(one_map(trace))
