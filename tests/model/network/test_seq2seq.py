import numpy as np
import pytest

from model import Corrector
from model.network.compiled import CompiledNetwork
from model.network.decoding import greedy
from model.network.loading import build_network, load_model_folder
from model.network.seq2seq import RecurrentPass
from model.stored.config import Seq2SeqConfig
from model.stored.folder import save_model_folder
from model.text.tokenizer import END_ID, START_ID, Tokenizer

BATCH, SOURCE, TARGET, D_MODEL, LAYERS = 3, 7, 5, 8, 2
TOKENIZER = Tokenizer("가각간갇갈감 .,abc")
LENGTHS = (7, 2, 6)  # real tokens of each source row


@pytest.fixture(scope="module")
def network():
    network = build_network(Seq2SeqConfig(TOKENIZER.vocab_size, D_MODEL, LAYERS, max_length=20), TOKENIZER)
    rng = np.random.default_rng(0)
    for variable in network.weights:
        variable.assign(rng.normal(0, 0.4, variable.shape).astype(np.float32))
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
    return RecurrentPass(*map(np.asarray, network.full_pass(source, decoder_input)))


def test_shapes_of_one_full_pass(network, source, decoder_input, full_pass):
    assert full_pass.logits.shape == (BATCH, TARGET, TOKENIZER.vocab_size)
    assert full_pass.cross_attention.shape == (BATCH, 1, 1, TARGET, SOURCE)
    np.testing.assert_allclose(network((source, decoder_input)), full_pass.logits, atol=1e-6)


def test_rows_sum_to_1_and_padding_is_exactly_0(full_pass):
    np.testing.assert_allclose(full_pass.cross_attention.sum(-1), 1, atol=1e-5)
    for row, length in enumerate(LENGTHS):
        assert (full_pass.cross_attention[row, ..., length:] == 0).all()
        assert (full_pass.cross_attention[row, ..., :length] > 0).all()


def test_padding_a_batch_changes_no_sentence(network, source, decoder_input, full_pass):
    for row, length in enumerate(LENGTHS):
        alone = network.full_pass(source[row : row + 1, :length], decoder_input[row : row + 1])
        np.testing.assert_allclose(alone.logits[0], full_pass.logits[row], atol=1e-5)
        attention = np.asarray(alone.cross_attention)[0]
        np.testing.assert_allclose(attention, full_pass.cross_attention[row, ..., :length], atol=1e-5)


def test_every_source_token_is_read_in_both_directions(network, source):
    # Values of the states are projections: a first token changes the last one's, and the other way round.
    before = np.asarray(network.encode(source[:1])[0].values)[0]
    for changed, far in ((0, SOURCE - 1), (SOURCE - 1, 0)):
        other = source[:1].copy()
        other[0, changed] = 5 if other[0, changed] != 5 else 6
        after = np.asarray(network.encode(other)[0].values)[0]
        assert np.abs(after[far] - before[far]).max() > 1e-6


def test_a_later_token_changes_nothing_before_it(network, source, decoder_input, full_pass):
    other = decoder_input.copy()
    other[:, 3] = np.where(other[:, 3] == 5, 6, 5)
    logits = np.asarray(network((source, other)))
    np.testing.assert_allclose(logits[:, :3], full_pass.logits[:, :3], atol=1e-5)
    assert np.abs(logits[:, 3:] - full_pass.logits[:, 3:]).max() > 1e-3


def test_steps_equal_the_full_pass(network, source, decoder_input, full_pass):
    step, cache = network.start(source, TARGET)
    for index in range(TARGET):
        logits, cache = step(decoder_input[:, index], index, cache)
        np.testing.assert_allclose(logits, full_pass.logits[:, index], atol=1e-5)


def test_what_is_written_is_the_most_probable_of_the_full_pass(network, source):
    step, cache = network.start(source, 9)
    tokens = np.asarray(greedy(step, cache, BATCH, 9))
    inputs = np.concatenate([np.full((BATCH, 1), START_ID), tokens[:, :-1]], axis=1).astype(np.int32)
    logits = np.asarray(network((source, inputs)))
    for row in range(BATCH):
        length = list(tokens[row]).index(END_ID) + 1 if END_ID in tokens[row] else 9
        np.testing.assert_array_equal(tokens[row, :length], logits[row, :length].argmax(-1))


def parameters(v: int, d: int, layers: int) -> int:
    def recurrence(units):  # three gates, each with a bias for either product
        return 3 * units * (d + units + 2)

    dense = d * d + d
    embedding = (v + 20 + 22 + 29) * d + v  # jamo rows with "none" first; the output's bias
    once = 3 * dense + 2 * d * d + d  # query, key, value; context and state joined
    return embedding + once + layers * (2 * recurrence(d // 2) + dense + recurrence(d))


def test_parameters_and_paths(network):
    assert network.count_params() == parameters(TOKENIZER.vocab_size, D_MODEL, LAYERS)
    paths = [w.path for w in network.weights]
    assert len(set(paths)) == len(paths)  # a model folder stores each under its path
    assert all(path.startswith("seq2seq/") for path in paths)
    everything = [v.path for v in network.variables]
    assert len(set(everything)) == len(everything)  # and a checkpoint each of these


def test_one_training_step_moves_every_weight_and_leaves_padding_out_of_the_loss(source):
    import keras

    from training.run.network import MaskedCrossEntropy

    keras.utils.set_random_seed(0)
    network = build_network(Seq2SeqConfig(TOKENIZER.vocab_size, 16, 1, 0.0), TOKENIZER)
    network.compile(keras.optimizers.SGD(0.5), MaskedCrossEntropy(), jit_compile=False)
    target = np.where(source >= TOKENIZER.vocab_size, 4, source)
    inputs = np.concatenate([np.full((BATCH, 1), START_ID, np.int32), target[:, :-1]], axis=1)
    logits = np.asarray(network((source, inputs)), np.float64)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    expected = -np.take_along_axis(logs, target[..., None], -1)[..., 0][target > 0].mean()
    before = network.get_weights()
    losses = [float(network.train_on_batch((source, inputs), target)) for _ in range(5)]
    assert losses[0] == pytest.approx(expected, rel=1e-4)
    assert losses[-1] < losses[0]
    for variable, old in zip(network.weights, before, strict=True):
        assert np.abs(variable - old).max() > 0, variable.path


@pytest.fixture(scope="module")
def folder(network, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "recurrent"
    save_model_folder(folder, network, TOKENIZER)
    return folder


def test_a_saved_network_comes_back(network, source, decoder_input, full_pass, folder):
    loaded, tokenizer, _ = load_model_folder(folder)
    assert loaded.config == network.config
    assert tokenizer.characters == TOKENIZER.characters
    for after, before in zip(loaded.weights, network.weights, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-6)  # float16 on disk
    np.testing.assert_allclose(loaded((source, decoder_input)), full_pass.logits, atol=0.03)


def test_looking_returns_its_one_map(network, source, decoder_input, full_pass):
    compiled = CompiledNetwork(network, space_id=4)
    target = [*decoder_input[1, 1:], END_ID]
    seen = compiled.attend(source[1, : LENGTHS[1]], target)
    assert {name for name in seen if name.endswith("attention")} == {"cross_attention"}
    attention = full_pass.cross_attention[1, ..., : LENGTHS[1]]
    np.testing.assert_allclose(seen["cross_attention"], attention, atol=1e-5)
    assert seen["log_probabilities"].shape == (TARGET,)


def test_the_library_gives_it_the_same_face(folder):
    corrector = Corrector.load(folder)
    assert corrector.config.num_heads == corrector.config.attention_layers == 1
    trace = corrector.correct("각간 갈.").trace
    assert trace.kinds == corrector.config.attention_kinds == ("cross_attention",)
    assert trace.cross_attention.shape == (1, 1, len(trace.target_tokens), len(trace.source_tokens))
    np.testing.assert_allclose(trace.cross_attention.sum(-1), 1, atol=1e-5)
    assert trace.positional_encoding is None
