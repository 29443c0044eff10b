"""``trace_keras`` and ``laboratory_of`` on KerasHub models, BART against its own layers.

Skipped where KerasHub is not installed: its tokenizers need TensorFlow Text, which needs all of TensorFlow,
so it is installed by itself (requirements-examples.txt says how).
"""

from functools import partial

import numpy as np
import pytest

keras_hub = pytest.importorskip("keras_hub")

import keras

from examples.keras_networks import LETTERS
from model import Intervention, laboratory_of, trace_keras
from model.analysis import contrast_of_row, contribution, direct_logit_attribution
from model.analysis.attribution_methods import METHODS
from model.analysis.contrasts import Edit
from model.analysis.contributions import methods_of

PAD = 1
SOURCE, TARGET = (0, 5, 7, 3, 2), (2, 4, 6, 8, 9, 3, 2)  # ids of BART: <s> is 0, </s> is 2
SIZES = {"vocabulary_size": 12, "num_layers": 2, "num_heads": 4}
NARROW = SIZES | {"hidden_dim": 16, "intermediate_dim": 32, "max_sequence_length": 16}

GROUPED = {"vocabulary_size": 12, "num_layers": 2, "num_query_heads": 4, "num_key_value_heads": 2}
GROUPED |= {"hidden_dim": 16, "intermediate_dim": 32}


def grown(model):
    """A network whose weights differ. With those that it starts with, every row looks at all tokens alike."""
    for weights in model.weights:
        weights.assign(weights * 12)
    return model


def made(name: str, task: str = "CausalLM", **sizes: int):
    """A model of ``task``, or its backbone alone for "", with seeded weights."""
    keras.utils.set_random_seed(0)
    backbone = getattr(keras_hub.models, f"{name}Backbone")(**sizes)
    return grown(getattr(keras_hub.models, name + task)(backbone=backbone) if task else backbone)


bart = partial(made, "Bart", "Seq2SeqLM", **NARROW)
DECODERS = {
    "gpt2": partial(made, "GPT2", **NARROW),
    "llama": partial(made, "Llama", **GROUPED),
    "qwen": partial(made, "Qwen", **GROUPED),
    "qwen3": partial(made, "Qwen3", **GROUPED, head_dim=4),  # its queries and keys are normalised by head
    "gemma": partial(made, "Gemma", **GROUPED, head_dim=4),
}


array = keras.ops.convert_to_numpy


def embedded(backbone, side: str, ids):
    tokens = backbone.token_embedding(np.array([ids]))
    positions = getattr(backbone, f"{side}_position_embedding")(tokens)
    return getattr(backbone, f"{side}_embeddings_layer_norm")(tokens + positions)


def test_its_numbers_are_those_of_the_layers():
    model = bart()
    backbone, trace = model.backbone, trace_keras(model, SOURCE, TARGET, pad=PAD)
    trace.check()
    states = embedded(backbone, "encoder", SOURCE)
    for number, layer in enumerate(backbone.encoder_transformer_layers):
        states, scores = layer(states, return_attention_scores=True)
        np.testing.assert_allclose(trace.encoder_attention[number], array(scores)[0], atol=1e-6, rtol=0)
    first = backbone.decoder_transformer_layers[0]
    read = embedded(backbone, "decoder", TARGET[:-1])
    causal = np.tril(np.ones((1, len(TARGET) - 1, len(TARGET) - 1), bool))
    own, scores = first._self_attention_layer(read, read, attention_mask=causal, return_attention_scores=True)
    np.testing.assert_allclose(trace.decoder_attention[0], array(scores)[0], atol=1e-6, rtol=0)
    asking = first._self_attention_layer_norm(own + read)
    _, scores = first._cross_attention_layer(asking, states, return_attention_scores=True)
    np.testing.assert_allclose(trace.cross_attention[0], array(scores)[0], atol=1e-6, rtol=0)
    assert [trace.shape(kind) for kind in trace.kinds] == [(2, 4)] * 3
    assert trace.target_tokens == ("4", "6", "8", "9", "3", "2")
    assert trace.encoder_attention.std() > 0.05
    assert trace.log_probabilities.shape == (6,)
    padded = trace_keras(model, (*SOURCE, PAD, PAD), TARGET, pad=PAD)
    assert not padded.cross_attention[..., -2:].any() and padded.source_padding[-2:] == (True, True)
    np.testing.assert_allclose(padded.cross_attention[..., :-2], trace.cross_attention, atol=1e-5)


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_alone_and_its_laboratory(name):
    model = DECODERS[name]()
    lab, sides = laboratory_of(model, LETTERS), (LETTERS.encode_source("cab"), LETTERS.encode_target("d"))
    ids = [LETTERS.start, *sides[0], *sides[1]]
    found, plain = lab.trace("cab", "d"), trace_keras(model, ids[:-1])
    assert plain.kinds == ("decoder_attention",) and plain.shape("decoder_attention") == (2, 4)
    assert plain.target_tokens[:-1] == tuple(map(str, ids[1:-1])) and plain.log_probabilities.shape == (5,)
    np.testing.assert_allclose(found.decoder_attention, plain.decoder_attention, atol=1e-6)
    off = lab.trace_under("cab", "d", Intervention(off={("decoder_attention", 1, 2)}))
    assert np.abs(off.log_probabilities - found.log_probabilities).max() > 1e-6
    assert methods_of(lab) == tuple(METHODS)
    sides = lab.tokenizer.encode_source("cab"), sides[1]
    own = lab.laboratory.pass_over(*zip(sides), [Intervention()]).logits
    walked = lab.patched.taps(*sides, ["logits"])["logits"]
    np.testing.assert_allclose(walked, own[0], atol=1e-4 * np.abs(own).max())
    attribution = direct_logit_attribution(lab, "cab", "d")
    assert abs(attribution.remainder(0)) < 1e-3
    contrast = contrast_of_row(lab, "cab", "d", row=0)
    for method in ("norms", "alti", "value_zeroing"):
        found = contribution(lab, Edit("cab", "d", contrast), method)
        assert found.source.sum() == pytest.approx(1, abs=1e-4)


def test_an_encoder():
    trace = trace_keras(made("Bert", "", **NARROW), SOURCE, pad=PAD)
    assert trace.kinds == ("encoder_attention",) and trace.shape("encoder_attention") == (2, 4)
