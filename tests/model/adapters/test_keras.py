"""``trace_keras``: networks of courses, padding, recurrent networks, refusals. Needs Keras."""

import warnings
from importlib import import_module

import keras
import numpy as np
import pytest
from keras import layers, ops

from examples.keras_networks import (
    HEADS,
    VOCABULARY,
    BahdanauDecoder,
    DecoderAlone,
    HandWrittenTransformer,
    OfKerasLayers,
    RecurrentLayer,
    functional_encoder,
    functional_encoder_decoder,
    seeded,
)
from model.adapters.keras import trace_keras
from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace
from viz import explore

SOURCE, TARGET = [5, 3, 9, 4], [1, 7, 8, 2]  # as many source tokens as target ids, start mark counted
KINDS = ["encoder_attention", "decoder_attention", "cross_attention"]


def opened(trace: AttentionTrace) -> AttentionTrace:
    trace.check()
    assert b"data-component" in explore(trace).page
    return trace


def produced(model, source, target) -> np.ndarray:
    """(T, V) of the network itself."""
    pair = [ops.convert_to_tensor(np.array([ids], "int32")) for ids in (source, target[:-1])]
    out = model(tuple(pair)) if isinstance(model, OfKerasLayers) else model(*pair)
    return ops.convert_to_numpy(out)[0]


# Some tests are about its compiled functions.
tensorflow = import_module("tensorflow") if keras.backend.backend() == "tensorflow" else None
BACKENDS = {
    "tensorflow": "tensorflow.nn",
    "jax": "jax.nn",
    "torch": "torch.nn.functional",
}
backend_softmax = import_module(
    BACKENDS[keras.backend.backend()]
).softmax  # as `from jax.nn import softmax` does


def test_a_hand_written_transformer():
    model = seeded(HandWrittenTransformer)
    trace = opened(trace_keras(model, SOURCE, TARGET, token="p s e a b c d e f g h i".split()))
    assert [trace.shape(kind) for kind in KINDS] == [(2, HEADS)] * 3
    assert trace.target_tokens == ("e", "f", "e") and trace.decoder_input_tokens == ("s", "e", "f")
    logs = ops.convert_to_numpy(ops.log_softmax(produced(model, SOURCE, TARGET)))
    np.testing.assert_allclose(trace.log_probabilities, logs[range(3), TARGET[1:]], atol=1e-5)
    assert trace.alternatives[0][0] == "p s e a b c d e f g h i".split()[logs[0].argmax()]


SOFTMAXES = {
    "ops": lambda scores: ops.softmax(scores),
    "activations": lambda scores: keras.activations.softmax(scores),
    "a layer": lambda scores: layers.Softmax()(scores),
    "an activation": lambda scores: layers.Activation("softmax")(scores),
}
if tensorflow:
    SOFTMAXES["tensorflow"] = lambda scores: tensorflow.nn.softmax(scores, axis=-1)


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_each_softmax_is_captured(softmax):
    class Encoder(keras.Model):
        def __init__(self):
            super().__init__()
            self.embedding = layers.Embedding(VOCABULARY, 4)

        def call(self, ids):
            state = self.embedding(ids)
            return ops.matmul(SOFTMAXES[softmax](ops.matmul(state, ops.transpose(state, (0, 2, 1)))), state)

    model = seeded(Encoder)
    trace = opened(trace_keras(model, SOURCE))
    vectors = ops.convert_to_numpy(model.embedding(np.array(SOURCE)))
    np.testing.assert_allclose(
        trace.encoder_attention[0, 0], ops.convert_to_numpy(ops.softmax(vectors @ vectors.T)), atol=1e-6
    )


@pytest.mark.parametrize("make", [HandWrittenTransformer, OfKerasLayers])
def test_sides_of_equal_length_have_the_kinds_of_a_second_pass(make):
    model = seeded(make)
    same = trace_keras(model, SOURCE[:3], TARGET)
    other = trace_keras(model, SOURCE[:3], [*TARGET, 3])
    np.testing.assert_allclose(same.encoder_attention, other.encoder_attention, atol=1e-6)
    np.testing.assert_allclose(same.cross_attention, other.cross_attention[:, :, :3], atol=1e-6)
    np.testing.assert_allclose(same.decoder_attention, other.decoder_attention[:, :, :3, :3], atol=1e-6)


def test_a_functional_encoder_decoder_of_fixed_lengths():
    trace = opened(trace_keras(seeded(functional_encoder_decoder, 4, 3), SOURCE, TARGET))
    assert trace.kinds == ("cross_attention",) and trace.cross_attention.shape == (1, 1, 3, 4)
    assert len(trace.alternatives[0]) == 5


def test_a_decoder_alone():
    trace = opened(trace_keras(seeded(DecoderAlone), SOURCE))
    assert trace.kinds == ("decoder_attention",) and trace.shape("decoder_attention") == (1, 4)
    assert trace.decoder_input_tokens == ("5", "3", "9", "4") and trace.target_tokens[:3] == ("3", "9", "4")


class PrefixDecoder(DecoderAlone):
    """Its first two tokens see each other (Raffel et al. 2020)."""

    def call(self, ids):
        state, length = self.embedding(ids), ids.shape[1]
        seen = np.tril(np.ones((length, length), bool))
        seen[:2, :2] = True
        return self.out(self.attention(state, state, attention_mask=seen[None]))


def test_a_decoder_whose_first_tokens_see_each_other():
    trace = opened(trace_keras(seeded(PrefixDecoder), SOURCE))
    assert trace.kinds == ("decoder_attention",) and trace.prefix == 2
    assert trace.decoder_attention[0, :, 0, 1].all()


if tensorflow:  # its functions are compiled

    def test_a_compiled_function_runs_as_plain_python():
        class Compiled(HandWrittenTransformer):
            @tensorflow.function
            def call(self, source, target, training=None):
                return super().call(source, target)

        assert trace_keras(seeded(Compiled), SOURCE, TARGET).kinds == tuple(KINDS)
        assert not tensorflow.config.functions_run_eagerly()


class Mixed(DecoderAlone):
    """Three layers: one of Keras, fused attention, and a softmax of the backend imported by name."""

    def call(self, ids):
        state = self.embedding(ids)
        state = state + self.attention(state, state, use_causal_mask=True)
        heads = ops.reshape(state, (1, ids.shape[1], 4, -1))
        mixed = ops.dot_product_attention(heads, heads, heads, is_causal=True)
        scores = ops.einsum("bqhd,bkhd->bhqk", mixed, mixed)
        later = ops.convert_to_tensor(np.triu(np.ones((1, 1, ids.shape[1], ids.shape[1]), "float32"), 1))
        weights = backend_softmax(scores - 1e9 * later, -1)
        return self.out(ops.reshape(ops.einsum("bhqk,bkhd->bqhd", weights, heads), state.shape))


def test_layers_of_keras_fused_attention_and_a_plain_softmax_in_one_network():
    assert trace_keras(seeded(Mixed), SOURCE).shape("decoder_attention") == (3, 4)


class HeadByHead(DecoderAlone):
    """Each head is one layer."""

    def __init__(self):
        super().__init__()
        self.several = [[layers.MultiHeadAttention(1, 4) for _ in range(3)] for _ in range(2)]

    def call(self, ids):
        state = self.embedding(ids)
        for heads in self.several:
            state = state + sum(head(state, state, use_causal_mask=True) for head in heads)
        return self.out(state)


def test_heads_in_sibling_layers_are_one_layer():
    trace = opened(trace_keras(seeded(HeadByHead), SOURCE))
    assert trace.kinds == ("decoder_attention",) and trace.shape("decoder_attention") == (2, 3)


class Difference(layers.Layer):
    """The difference of two attentions of two heads (Ye et al., "Differential Transformer", 2024)."""

    def call(self, state):
        heads = ops.stack(ops.split(state, 4, axis=-1), axis=1)  # (1, 4, N, d)
        later = ops.convert_to_tensor((1 - np.tri(state.shape[1], dtype="float32")) * -1e9)
        one, other = (
            ops.softmax(ops.matmul(x, ops.swapaxes(x, -1, -2)) + later) for x in ops.split(heads, 2, axis=1)
        )
        mixed = ops.matmul(ops.concatenate([one, one - other], axis=1), heads)
        return ops.concatenate(ops.unstack(mixed, axis=1), axis=-1)


class Differential(DecoderAlone):
    def __init__(self):
        super().__init__()
        self.difference = Difference()

    def call(self, ids):
        return self.out(self.difference(self.embedding(ids)))


def test_two_softmaxes_of_one_call_are_told():
    with pytest.warns(
        UserWarning, match="Difference computes several softmaxes in one call, each .* a layer"
    ):
        assert trace_keras(seeded(Differential), SOURCE).shape("decoder_attention") == (2, 2)


def test_inputs_are_the_arguments_of_the_model():
    class WithMasks(HandWrittenTransformer):
        def call(self, source, target, training, mask):
            assert training is False and mask == "mask"
            return {"logits": super().call(source, target)}

    trace = trace_keras(seeded(WithMasks), SOURCE, TARGET, inputs=lambda s, t: (s, t, False, "mask"))
    assert trace.kinds == tuple(KINDS) and trace.log_probabilities is not None


def test_two_vocabularies():
    source, target = {5: b"five", 3: "three"}, lambda number: None if number == 7 else f"t{number}"
    trace = trace_keras(seeded(BahdanauDecoder), [5, 3, 0], TARGET, token=source, target_token=target)
    assert trace.source_tokens == ("five", "three", "<pad>")
    assert trace.target_tokens == ("7", "t8", "t2")


def test_nothing_is_replaced_afterwards():
    places = [(layers.Softmax, "call"), (layers.Layer, "__call__")]
    before = [getattr(owner, name) for owner, name in places]
    trace_keras(seeded(OfKerasLayers), SOURCE, TARGET)
    with pytest.raises(ZeroDivisionError):
        trace_keras(seeded(OfKerasLayers), SOURCE, TARGET, inputs=lambda *_: 1 / 0)
    assert [getattr(owner, name) for owner, name in places] == before


PADDED_SOURCE, PADDED_TARGET = [5, 3, 9, 0, 0, 0], [1, 7, 8, 2, 0]


@pytest.mark.parametrize("make", [HandWrittenTransformer, OfKerasLayers])
def test_a_padded_row_of_a_batch(make):
    batch = np.array([PADDED_SOURCE, [*SOURCE, 6, 7]])
    trace = opened(trace_keras(seeded(make), batch[0], PADDED_TARGET))
    assert trace.source_padding == (False,) * 3 + (True,) * 3
    assert trace.target_padding == (False, False, False, True)
    assert not trace.encoder_attention[:, :, :3, 3:].any() and not trace.cross_attention[:, :, :3, 3:].any()
    assert trace.padded("encoder_attention")[:, 3:].all()
    plain = trace_keras(seeded(make), SOURCE[:3], TARGET)
    np.testing.assert_allclose(trace.cross_attention[:, :, :3, :3], plain.cross_attention, atol=1e-6)


def test_a_functional_encoder():
    trace = opened(trace_keras(seeded(functional_encoder, 6), PADDED_SOURCE))
    assert trace.kinds == ("encoder_attention",) and trace.shape("encoder_attention") == (2, HEADS)
    assert trace.source_padding[3:] == (True,) * 3


def test_a_recurrent_network_looks_at_each_step():
    model = seeded(BahdanauDecoder)
    trace = opened(trace_keras(model, SOURCE, TARGET))
    assert trace.kinds == ("cross_attention",) and trace.cross_attention.shape == (1, 1, 3, 4)
    out = produced(model, SOURCE, TARGET)
    np.testing.assert_allclose(trace.log_probabilities, np.log(out[range(3), TARGET[1:]]), atol=1e-5)


def test_the_first_call_of_a_recurrent_cell_is_no_step():
    trace = trace_keras(seeded(RecurrentLayer), SOURCE, TARGET)
    assert trace.cross_attention.shape == (1, 1, 3, 4)
    np.testing.assert_allclose(
        trace.cross_attention[0, 0, 0], 0.25
    )  # the first state is 0, and looks everywhere
    assert np.ptp(trace.cross_attention[0, 0, 1]) > 0


def test_one_row_over_all_tokens_is_called_output():
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


def test_the_softmax_of_a_classifier_is_no_attention():
    ids = keras.Input((None,), dtype="int32")
    state = layers.Embedding(VOCABULARY, 8)(ids)
    state = layers.GlobalAveragePooling1D()(layers.MultiHeadAttention(HEADS, 4)(state, state))
    classifier = keras.Model(ids, layers.Dense(len(SOURCE), activation="softmax")(state))
    assert trace_keras(classifier, SOURCE).kinds == ("encoder_attention",)


if tensorflow:  # its functions are compiled

    def test_a_compiled_softmax_alone_is_refused():
        class InAGraph(keras.Model):
            def call(self, ids):
                with tensorflow.Graph().as_default():
                    tensorflow.nn.softmax(tensorflow.ones((4, 4)))
                return ids

        with pytest.raises(TraceError, match="a softmax ran inside a compiled function .* call it eagerly"):
            trace_keras(InAGraph(), SOURCE)

    def test_a_compiled_softmax_beside_captured_ones_is_a_warning():
        graph = tensorflow.Graph()

        class Half(DecoderAlone):
            def call(self, ids):
                with graph.as_default():  # as in a library with a separate graph
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


def test_refusals_name_the_reason():
    dense = keras.Sequential([layers.Embedding(VOCABULARY, 4), layers.Dense(2)])
    model = seeded(OfKerasLayers)
    for arguments, reason in (
        ((dense, SOURCE), "attention should be captured, received no softmax. Attention is captured"),
        (
            (model, [SOURCE, SOURCE], TARGET),
            r"source should be the ids of one sentence, .* \(2, 4\). .* such as source\[0\]",
        ),
        ((lambda ids: ids, SOURCE), "should be a Keras model, received function. Give the model itself"),
        ((model, SOURCE, [1]), "target should have a start mark and at least one token"),
    ):
        with pytest.raises(TraceError, match=reason):
            trace_keras(*arguments)


def test_ambiguous_kinds_need_another_length():
    """Both lengths are fixed and equal, so that no second pass with other lengths is possible."""
    ids, target = keras.Input((3,), dtype="int32"), keras.Input((3,), dtype="int32")
    embedding = layers.Embedding(VOCABULARY, 8)
    mixed = layers.MultiHeadAttention(2, 4)(layers.Reshape((3, 8))(embedding(target)), embedding(ids))
    with pytest.raises(
        TraceError, match="received 3 source and 3 target tokens. Trace a target of another length"
    ):
        trace_keras(keras.Model([ids, target], mixed), SOURCE[:3], TARGET)
