"""Attention of recurrent networks in Keras, and a softmax that is none. Needs Keras."""

import keras
import numpy as np
from keras import layers, ops

from examples.keras_networks import HEADS, VOCABULARY, BahdanauDecoder, RecurrentLayer, seeded
from model.adapters.keras import trace_keras
from tests.model.adapters.opening import SOURCE, TARGET, opened, produced


def test_a_recurrent_network_looks_at_each_step():
    model = seeded(BahdanauDecoder)
    trace = opened(trace_keras(model, SOURCE, TARGET))
    assert trace.kinds == ("cross_attention",) and trace.cross_attention.shape == (1, 1, 3, 4)
    out = produced(model, SOURCE, TARGET)
    np.testing.assert_allclose(trace.log_probabilities, np.log(out[range(3), TARGET[1:]]), atol=1e-5)


def test_the_loop_of_a_recurrent_layer_begins_with_a_call_that_is_no_step():
    trace = trace_keras(seeded(RecurrentLayer), SOURCE, TARGET)
    assert trace.cross_attention.shape == (1, 1, 3, 4)
    np.testing.assert_allclose(
        trace.cross_attention[0, 0, 0], 0.25
    )  # the first state is 0, and looks everywhere
    assert np.ptp(trace.cross_attention[0, 0, 1]) > 0


def test_one_row_that_looks_at_everything_is_called_output():
    ids = keras.Input((None,), dtype="int32")
    state = layers.GRU(4, return_sequences=True)(layers.Embedding(VOCABULARY, 4)(ids))
    weights = layers.Softmax(axis=1)(layers.Dense(1)(state))
    model = keras.Model(ids, layers.Dense(1)(ops.sum(weights * state, axis=1)))
    trace = opened(trace_keras(model, SOURCE))
    assert trace.target_tokens == ("output",) and trace.cross_attention.shape == (1, 1, 1, 4)


def test_the_softmax_of_the_output_is_no_attention():
    source = [3, 4, 5, 6] * 3  # as many tokens as the vocabulary has
    assert len(source) == VOCABULARY
    trace = trace_keras(seeded(BahdanauDecoder), source, TARGET)
    assert trace.cross_attention.shape == (1, 1, 3, VOCABULARY)


def test_nor_is_that_of_a_classifier_with_as_many_classes_as_there_are_tokens():
    ids = keras.Input((None,), dtype="int32")
    state = layers.Embedding(VOCABULARY, 8)(ids)
    state = layers.GlobalAveragePooling1D()(layers.MultiHeadAttention(HEADS, 4)(state, state))
    classifier = keras.Model(ids, layers.Dense(len(SOURCE), activation="softmax")(state))
    assert trace_keras(classifier, SOURCE).kinds == ("encoder_attention",)
