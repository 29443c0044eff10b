"""What ``trace_keras`` refuses, or tells beside what it heard, and what it tells to do. Needs Keras."""

import warnings
from importlib import import_module

import keras
import pytest
from keras import layers

from examples.keras_networks import VOCABULARY, DecoderAlone, OfKerasLayers, seeded
from model.adapters.keras import trace_keras
from model.trace.strict_npz import TraceError
from tests.model.adapters.opening import SOURCE, TARGET

# Its own tests need it.
tensorflow = import_module("tensorflow") if keras.backend.backend() == "tensorflow" else None
if tensorflow:  # its functions are compiled

    def test_a_softmax_inside_a_graph_is_told():
        class InAGraph(keras.Model):
            def call(self, ids):
                with tensorflow.Graph().as_default():
                    tensorflow.nn.softmax(tensorflow.ones((4, 4)))
                return ids

        with pytest.raises(TraceError, match="a softmax ran inside a compiled function .* call it eagerly"):
            trace_keras(InAGraph(), SOURCE)

    def test_what_is_compiled_all_the_same_is_told_beside_what_was_heard():
        graph = tensorflow.Graph()

        class Half(DecoderAlone):
            def call(self, ids):
                with graph.as_default():  # as a library does that keeps a graph of its own
                    tensorflow.nn.softmax(tensorflow.zeros((1, 4, 4)))
                return super().call(ids)

        with pytest.warns(
            UserWarning, match="not captured: a softmax ran .* compiled .* after 0 .* layer is missing"
        ):
            trace_keras(seeded(Half), SOURCE)


def test_a_pass_that_differs_from_the_own_pass_is_refused():
    class AlwaysTraining(DecoderAlone):
        def __init__(self):
            super().__init__()
            self.dropout = layers.Dropout(0.5)

        def call(self, ids):
            state = self.dropout(self.embedding(ids), training=True)
            return self.out(self.attention(state, state, use_causal_mask=True))

    with pytest.raises(
        TraceError, match=r"equal the own pass of .*, received outputs that differ .* training=False"
    ):
        trace_keras(seeded(AlwaysTraining), SOURCE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace_keras(seeded(OfKerasLayers), SOURCE, TARGET)  # its dropout is off, because nothing trains


def test_what_cannot_be_traced_is_told_why():
    dense = keras.Sequential([layers.Embedding(VOCABULARY, 4), layers.Dense(2)])
    with pytest.raises(
        TraceError, match="attention should be captured, received no softmax. Attention is captured"
    ):
        trace_keras(dense, SOURCE)
    with pytest.raises(
        TraceError, match=r"source should be the ids of one sentence, .* \(2, 4\). .* such as source\[0\]"
    ):
        trace_keras(seeded(OfKerasLayers), [SOURCE, SOURCE], TARGET)
    with pytest.raises(TraceError, match="should be a Keras model, received function. Give the model itself"):
        trace_keras(lambda ids: ids, SOURCE)
    with pytest.raises(TraceError, match="target should have a start mark and at least one token"):
        trace_keras(seeded(OfKerasLayers), SOURCE, [1])


def test_kinds_that_nothing_tells_apart_are_asked_for_another_length():
    """Fixed lengths that are equal, and no mask: neither a second pass nor the order says what is what."""
    ids, target = keras.Input((3,), dtype="int32"), keras.Input((3,), dtype="int32")
    embedding = layers.Embedding(VOCABULARY, 8)
    mixed = layers.MultiHeadAttention(2, 4)(layers.Reshape((3, 8))(embedding(target)), embedding(ids))
    with pytest.raises(
        TraceError, match="received 3 source and 3 target tokens. Trace a target of another length"
    ):
        trace_keras(keras.Model([ids, target], mixed), SOURCE[:3], TARGET)
