"""Keras networks: masks, causality, padding, one training step, saved and loaded."""

import re

import keras
import numpy as np
import pytest

from model import Corrector
from model.export.graphs import write_graph
from model.network.networks import RecurrentPass, build_network, load_model_folder
from model.stored.config import Seq2SeqConfig, TransformerConfig
from model.stored.folder import save_model_folder
from model.text.tokenizer import START_ID, Tokenizer
from tests.random_weights import fill_at_random
from training.run.network import MaskedCrossEntropy

BATCH, LAYERS, HEADS, SOURCE, TARGET, D_MODEL = 3, 2, 4, 7, 5, 8
TOKENIZER = Tokenizer("가각간갇갈감 .,abc")
LENGTHS = (7, 2, 6)  # real tokens of each source row


def transformer_config(norm_first: bool) -> TransformerConfig:
    return TransformerConfig(TOKENIZER.vocab_size, D_MODEL, LAYERS, HEADS, 12, 0.0, norm_first)


CONFIGS = {
    "norm last": transformer_config(False),
    "norm first": transformer_config(True),
    "recurrent": Seq2SeqConfig(TOKENIZER.vocab_size, D_MODEL, LAYERS, max_length=20),
}


@pytest.fixture(scope="module", params=CONFIGS)
def network(request):
    network = build_network(CONFIGS[request.param], TOKENIZER)
    fill_at_random(network, np.random.default_rng(0))
    return network


@pytest.fixture(scope="module")
def source():
    ids = np.random.default_rng(1).integers(1, TOKENIZER.vocab_size + 5000, (BATCH, SOURCE)).astype(np.int32)
    for row, length in enumerate(LENGTHS):
        ids[row, length:] = 0
    return ids


@pytest.fixture(scope="module")
def decoder_input():
    ids = np.random.default_rng(2).integers(4, TOKENIZER.vocab_size, (BATCH, TARGET)).astype(np.int32)
    ids[:, 0] = START_ID
    return ids


@pytest.fixture(scope="module")
def full_pass(network, source, decoder_input):
    found = network.full_pass(source, decoder_input)
    return type(found)(*map(np.asarray, found))


def test_rows_sum_to_1_and_padding_is_exactly_0(network, full_pass):
    for kind in network.config.attention_kinds:
        weights = getattr(full_pass, kind)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        for row, length in enumerate(LENGTHS if kind != "decoder_attention" else ()):
            assert (weights[row, ..., length:] == 0).all()
            assert (full_pass.cross_attention[row, ..., :length] > 0).all()


def test_a_later_token_changes_nothing_before_it(network, source, decoder_input, full_pass):
    other = decoder_input.copy()
    other[:, 3] = np.where(other[:, 3] == 5, 6, 5)
    logits = np.asarray(network((source, other)))
    np.testing.assert_allclose(logits[:, :3], full_pass.logits[:, :3], atol=1e-5)
    assert np.abs(logits[:, 3:] - full_pass.logits[:, 3:]).max() > 1e-3


def test_padding_a_batch_changes_no_sentence(network, source, decoder_input, full_pass):
    for row, length in enumerate(LENGTHS):
        alone = network.full_pass(source[row : row + 1, :length], decoder_input[row : row + 1])
        np.testing.assert_allclose(alone.logits[0], full_pass.logits[row], atol=1e-5)
        attention = np.asarray(alone.cross_attention)[0]
        np.testing.assert_allclose(attention, full_pass.cross_attention[row, ..., :length], atol=1e-5)


@pytest.mark.parametrize("name", CONFIGS)
def test_one_training_step_moves_every_weight_and_leaves_padding_out_of_the_loss(name, source):
    keras.utils.set_random_seed(0)
    network = build_network(CONFIGS[name], TOKENIZER)
    network.compile(keras.optimizers.SGD(0.5), MaskedCrossEntropy(), run_eagerly=True)
    target = np.where(source >= TOKENIZER.vocab_size, 4, source)
    inputs = np.concatenate([np.full((BATCH, 1), START_ID, np.int32), target[:, :-1]], axis=1)
    logits = np.asarray(network((source, inputs)), np.float64)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    expected = -np.take_along_axis(logs, target[..., None], -1)[..., 0][target > 0].mean()
    before = network.get_weights()
    losses = [float(network.train_on_batch((source, inputs), target)) for _ in range(2)]
    if not network.config.dropout_rate:
        assert losses[0] == pytest.approx(expected, rel=1e-4)
    assert losses[-1] < losses[0]
    for variable, old in zip(network.weights, before, strict=True):
        assert np.abs(variable - old).max() > 0, variable.path


def test_a_saved_network_comes_back_and_corrects(network, source, decoder_input, full_pass, tmp_path):
    save_model_folder(tmp_path, network, TOKENIZER)
    loaded, tokenizer, fingerprint = load_model_folder(tmp_path)
    assert loaded.config == network.config and re.fullmatch(r"[0-9a-f]{12}\.[0-9a-f]{12}", fingerprint)
    assert tokenizer.characters == TOKENIZER.characters
    for after, before in zip(loaded.weights, network.weights, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-6)  # float16 on disk
    logits = np.asarray(loaded((source, decoder_input)))
    np.testing.assert_allclose(logits, full_pass.logits, atol=0.03)
    np.testing.assert_array_equal(logits.argmax(-1), full_pass.logits.argmax(-1))
    write_graph(tmp_path)
    corrector = Corrector.load(tmp_path)
    trace = corrector.correct("각간 갈.").trace
    assert trace.kinds == corrector.config.attention_kinds
    layers, heads = corrector.config.attention_layers, corrector.config.num_heads
    assert trace.cross_attention.shape == (layers, heads, len(trace.target_tokens), len(trace.source_tokens))
    assert (trace.positional_encoding is None) == isinstance(full_pass, RecurrentPass)
