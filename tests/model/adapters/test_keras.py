"""Networks that nobody prepared for it, opened by one line. Needs Keras."""

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
    functional_encoder_decoder,
    seeded,
    softmaxed,
)
from model.adapters.keras import trace_keras
from tests.model.adapters.opening import KINDS, SOURCE, TARGET, opened, produced

# Its own tests need it.
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
    logs = np.log(softmaxed(produced(model, SOURCE, TARGET)))
    np.testing.assert_allclose(trace.log_probabilities, logs[range(3), TARGET[1:]], atol=1e-5)
    assert trace.alternatives[0][0] == "p s e a b c d e f g h i".split()[logs[0].argmax()]


def test_its_weights_are_those_that_it_computed():
    model, seen = seeded(HandWrittenTransformer), []
    plain, ops_softmax = ops.softmax, trace_keras(model, SOURCE, TARGET)
    try:
        ops.softmax = lambda x, axis=-1: (
            seen.append(ops.convert_to_numpy(plain(x, axis=axis))) or plain(x, axis)
        )
        produced(model, SOURCE, TARGET)
    finally:
        ops.softmax = plain
    order = [
        ("encoder_attention", 0),
        ("encoder_attention", 1),
        ("decoder_attention", 0),
        ("cross_attention", 0),
    ]
    for weights, (kind, layer) in zip(seen, order, strict=False):
        np.testing.assert_allclose(ops_softmax.attention(kind)[layer], weights[0], atol=1e-6)


SOFTMAXES = {
    "ops": lambda scores: ops.softmax(scores),
    "activations": lambda scores: keras.activations.softmax(scores),
    "a layer": lambda scores: layers.Softmax()(scores),
    "an activation": lambda scores: layers.Activation("softmax")(scores),
}
if tensorflow:
    SOFTMAXES["tensorflow"] = lambda scores: tensorflow.nn.softmax(scores, axis=-1)


@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_whoever_takes_the_softmax_is_heard(softmax):
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
    np.testing.assert_allclose(trace.encoder_attention[0, 0], softmaxed(vectors @ vectors.T), atol=1e-6)


@pytest.mark.parametrize("make", [HandWrittenTransformer, OfKerasLayers])
def test_where_both_sides_are_equally_long_a_second_pass_tells_the_kinds_apart(make):
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

    def test_a_compiled_function_inside_is_run_as_plain_python():
        class Compiled(HandWrittenTransformer):
            @tensorflow.function
            def call(self, source, target, training=None):
                return super().call(source, target)

        assert trace_keras(seeded(Compiled), SOURCE, TARGET).kinds == tuple(KINDS)
        assert not tensorflow.config.functions_run_eagerly()


class Mixed(DecoderAlone):
    """Its layers: one of Keras, the fused function, and the softmax of the backend that its file knows by its name."""

    def call(self, ids):
        state = self.embedding(ids)
        state = state + self.attention(state, state, use_causal_mask=True)
        heads = ops.reshape(state, (1, ids.shape[1], 4, -1))
        mixed = ops.dot_product_attention(heads, heads, heads, is_causal=True)
        scores = ops.einsum("bqhd,bkhd->bhqk", mixed, mixed)
        later = ops.convert_to_tensor(np.triu(np.ones((1, 1, ids.shape[1], ids.shape[1]), "float32"), 1))
        weights = backend_softmax(scores - 1e9 * later, -1)
        return self.out(ops.reshape(ops.einsum("bhqk,bkhd->bqhd", weights, heads), state.shape))


def test_every_layer_is_heard_or_missed_aloud():
    assert trace_keras(seeded(Mixed), SOURCE).shape("decoder_attention") == (3, 4)


class HeadByHead(DecoderAlone):
    """Each head is a layer of its own."""

    def __init__(self):
        super().__init__()
        self.several = [[layers.MultiHeadAttention(1, 4) for _ in range(3)] for _ in range(2)]

    def call(self, ids):
        state = self.embedding(ids)
        for heads in self.several:
            state = state + sum(head(state, state, use_causal_mask=True) for head in heads)
        return self.out(state)


def test_heads_in_layers_of_their_own_are_one_layer():
    trace = opened(trace_keras(seeded(HeadByHead), SOURCE))
    assert trace.kinds == ("decoder_attention",) and trace.shape("decoder_attention") == (2, 3)


def test_what_the_model_is_called_with_can_be_said():
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
    places = [(layers.Softmax, "call"), (layers.MultiHeadAttention, "_compute_attention")]
    before = [getattr(owner, name) for owner, name in places]
    trace_keras(seeded(OfKerasLayers), SOURCE, TARGET)
    with pytest.raises(ZeroDivisionError):
        trace_keras(seeded(OfKerasLayers), SOURCE, TARGET, inputs=lambda *_: 1 / 0)
    assert [getattr(owner, name) for owner, name in places] == before
