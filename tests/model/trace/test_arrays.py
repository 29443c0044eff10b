"""Attention as libraries return it: tensors, layers one by one, a batch."""

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


class OfPyTorch:
    """As far as a tensor of PyTorch is asked: it hides its numbers behind a gradient."""

    def __init__(self, numbers: np.ndarray, free: bool = False):
        self.numbers, self.free = numbers, free

    def detach(self):
        return OfPyTorch(self.numbers, True)

    def cpu(self):
        return self

    def is_floating_point(self) -> bool:
        return True

    def float(self):
        return OfPyTorch(self.numbers.astype(np.float32), self.free)

    def __array__(self, *_, **__):
        assert self.free and self.numbers.dtype == np.float32
        return self.numbers


def test_a_tensor_becomes_an_array():
    tensor = OfPyTorch(WEIGHTS[:, 0].astype(np.float16))
    trace = AttentionTrace(source_tokens="a b c d e".split(), encoder_attention=tensor)
    np.testing.assert_array_equal(trace.encoder_attention, WEIGHTS[:, 0].astype(np.float16))
    assert trace.encoder_attention.dtype == np.float32


def test_a_tensor_without_numbers_is_refused():
    class Symbolic:
        def __array__(self, *_, **__):
            raise NotImplementedError

    with pytest.raises(TraceError, match="hold numbers, received Symbolic. Inside a compiled function"):
        plain_array(NAME, Symbolic())


@pytest.mark.parametrize("kind", [complex, object])
def test_arrays_of_other_than_real_numbers_are_refused(kind):
    with pytest.raises(
        TraceError, match="encoder_attention should be an array of real numbers, received an array"
    ):
        all_layers("encoder_attention", np.ones((1, 1, 2, 2), kind) / 2, None)
