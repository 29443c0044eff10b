import numpy as np
import pytest

from model.network.transformer import FullPass, Transformer
from model.stored.config import TransformerConfig
from model.text.tokenizer import START_ID, Tokenizer

BATCH, LAYERS, HEADS, SOURCE, TARGET, D_MODEL = 3, 2, 4, 7, 5, 8
TOKENIZER = Tokenizer("가각간갇갈감 .,abc")
LENGTHS = (7, 2, 6)  # real tokens of each source row


def build(**settings) -> Transformer:
    sizes = {"d_model": D_MODEL, "num_layers": LAYERS, "num_heads": HEADS, "dff": 12, "dropout_rate": 0.0}
    network = Transformer(
        TransformerConfig(TOKENIZER.vocab_size, **{**sizes, **settings}), TOKENIZER.features()
    )
    network.build()
    return network


@pytest.fixture(scope="module", params=[False, True], ids=["norm last", "norm first"])
def network(request):
    network = build(norm_first=request.param)
    rng = np.random.default_rng(0)
    for variable in network.weights:
        start = 1.0 if variable.name == "gamma" else 0.0
        variable.assign(rng.normal(start, 0.4, variable.shape).astype(np.float32))
    return network


@pytest.fixture(scope="module")
def source():
    rng = np.random.default_rng(1)
    ids = rng.integers(1, TOKENIZER.vocab_size + 5000, (BATCH, SOURCE)).astype(np.int32)
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
    return FullPass(*map(np.asarray, network.full_pass(source, decoder_input)))


def test_shapes_of_one_full_pass(full_pass):
    assert full_pass.logits.shape == (BATCH, TARGET, TOKENIZER.vocab_size)
    assert full_pass.encoder_attention.shape == (BATCH, LAYERS, HEADS, SOURCE, SOURCE)
    assert full_pass.decoder_attention.shape == (BATCH, LAYERS, HEADS, TARGET, TARGET)
    assert full_pass.cross_attention.shape == (BATCH, LAYERS, HEADS, TARGET, SOURCE)


def test_rows_sum_to_1_over_real_keys(full_pass):
    for weights in (full_pass.encoder_attention, full_pass.decoder_attention, full_pass.cross_attention):
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
        assert np.isfinite(weights).all()


def test_padding_is_exactly_0(full_pass):
    for row, length in enumerate(LENGTHS):
        assert (full_pass.encoder_attention[row, ..., length:] == 0).all()
        assert (full_pass.cross_attention[row, ..., length:] == 0).all()
        assert (full_pass.cross_attention[row, ..., :length] > 0).all()


def test_the_future_is_exactly_0(full_pass):
    future = np.triu(np.ones((TARGET, TARGET), bool), 1)
    assert (full_pass.decoder_attention[..., future] == 0).all()
    assert (full_pass.decoder_attention[..., ~future] > 0).all()


def test_a_later_token_changes_nothing_before_it(network, source, decoder_input, full_pass):
    other = decoder_input.copy()
    other[:, 3] = np.where(other[:, 3] == 5, 6, 5)
    logits = np.asarray(network((source, other)))
    np.testing.assert_allclose(logits[:, :3], full_pass.logits[:, :3], atol=1e-5)
    assert np.abs(logits[:, 3:] - full_pass.logits[:, 3:]).max() > 1e-3


def test_padding_a_batch_changes_no_sentence(network, source, decoder_input, full_pass):
    for row, length in enumerate(LENGTHS):
        alone = network((source[row : row + 1, :length], decoder_input[row : row + 1]))
        np.testing.assert_allclose(alone[0], full_pass.logits[row], atol=1e-5)


def test_cached_steps_equal_the_full_pass(network, source, decoder_input, full_pass):
    positions = TARGET + 2
    memory, _ = network.encode(source)
    keys_values = network.memory_keys_values(memory)
    cache = network.empty_cache(BATCH, positions)
    for index in range(TARGET):
        step = network.step(decoder_input[:, index], index, cache, keys_values, memory.mask)
        cache = step.cache
        assert step.decoder_attention.shape == (BATCH, LAYERS, HEADS, positions)
        np.testing.assert_allclose(step.logits, full_pass.logits[:, index], atol=1e-5)
        np.testing.assert_allclose(
            step.decoder_attention[..., :TARGET], full_pass.decoder_attention[..., index, :], atol=1e-5
        )
        np.testing.assert_allclose(step.cross_attention, full_pass.cross_attention[..., index, :], atol=1e-5)
        assert (np.asarray(step.decoder_attention)[..., index + 1 :] == 0).all()


def test_the_step_that_the_search_gets_is_the_cached_one(network, source, decoder_input, full_pass):
    step, cache = network.start(source, TARGET)
    for index in range(TARGET):
        logits, cache = step(decoder_input[:, index], index, cache)
        np.testing.assert_allclose(logits, full_pass.logits[:, index], atol=1e-5)


def test_the_same_token_at_another_position_is_another_vector(network):
    ids = np.array([[5, 5, 5]], np.int32)
    states = np.asarray(network.encode(ids)[0].states)[0]
    assert np.abs(states[0] - states[1]).max() > 1e-3
    assert np.abs(states[1] - states[2]).max() > 1e-3


def test_positions_are_added_to_the_scaled_embedding():
    network = build(norm_first=False)
    ids = np.array([[4, 9, 2]], np.int32)
    _, found = network.encode(ids, taps=["encoder_residual"])
    what_the_first_block_reads = found["encoder_residual"][:, 0]
    scaled = np.asarray(network.embedding(ids))
    expected = scaled + network.positional_encoding.matrix[:3]
    np.testing.assert_allclose(what_the_first_block_reads, expected, atol=1e-6)


def parameters(v, d, layers, f, norm_first) -> int:
    attention, fed, norm = 4 * (d * d + d), (d * f + f) + (f * d + d), 2 * d
    encoder, decoder = attention + fed + 2 * norm, 2 * attention + fed + 3 * norm
    embedding = (v + 20 + 22 + 29) * d + v  # jamo rows with "none" first; the output's bias
    return embedding + layers * (encoder + decoder) + 2 * norm * norm_first


def test_the_size_of_the_paper():
    config = TransformerConfig(TOKENIZER.vocab_size)
    sizes = (config.d_model, config.num_layers, config.num_heads, config.dff, config.dropout_rate)
    assert sizes == (512, 6, 8, 2048, 0.1)
    network = Transformer(config, TOKENIZER.features())
    network.build()
    assert network.count_params() == parameters(TOKENIZER.vocab_size, 512, 6, 2048, False)
    assert {tuple(w.shape) for w in network.weights} >= {(512, 512), (512, 2048), (2048, 512), (512,)}


def test_parameters_and_paths(network):
    norm_first = network.config.norm_first
    assert network.count_params() == parameters(TOKENIZER.vocab_size, D_MODEL, LAYERS, 12, norm_first)
    paths = [w.path for w in network.weights]
    assert len(set(paths)) == len(paths)  # a model folder stores each under its path
    assert all(path.startswith("transformer/") for path in paths)
