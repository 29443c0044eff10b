"""``GraphNetwork`` against Keras: equal text, probabilities, attention; refused files."""

import random
import shutil
from dataclasses import fields, replace

import numpy as np
import pytest

from model import Corrector, ModelFolderError
from model.export.graphs import graph_of, write_graph
from model.graph.files import DESCRIPTION_FILE, GRAPH_FOLDER, HALVES, read_files
from model.graph.network import GraphNetwork, given_arrays, load_graph, open_halves
from model.network.keras_network import KerasNetwork
from model.network.networks import build_network
from model.stored.config import Seq2SeqConfig
from model.stored.folder import ASSETS, read_config
from model.trace.trace import AttentionTrace
from tests.random_weights import fill_at_random
from training.noise.everyday import everyday_sentence
from training.noise.pairs import make_pair

CLOSE = 1e-5  # of probabilities and attention
SHIPPED = ("transformer", "seq2seq", "growing-up")


@pytest.fixture(scope="module")
def sentences():
    """Everyday sentences with errors of all kinds."""
    rng = random.Random(43)
    return [make_pair(everyday_sentence(rng), rng).wrong for _ in range(4)]


@pytest.fixture(scope="module")
def in_keras():
    """The shipped models, answered by Keras alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_BACKEND", "keras")
        return {name: Corrector.load(name) for name in SHIPPED}


def networks(name, in_keras):
    """The network of a shipped folder, from its graph and in Keras."""
    graph, tokenizer, *_ = load_graph(ASSETS / name, None, lambda: None)
    return graph, in_keras[name]._network, tokenizer


def assert_same(found, expected):
    """Two corrections of one text, with every array and token of all their traces."""
    assert found == expected
    for one, other in zip(found.proposed, expected.proposed, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=CLOSE)
    for sentence, other in zip(found.sentences, expected.sentences, strict=True):
        for field in fields(AttentionTrace):
            one, two = getattr(sentence.trace, field.name), getattr(other.trace, field.name)
            if isinstance(two, np.ndarray) and two.dtype.kind == "f":
                assert one.dtype == two.dtype
                close = 1e-4 if field.name == "log_probabilities" else CLOSE
                np.testing.assert_allclose(one, two, rtol=0, atol=close, err_msg=field.name)
            else:
                np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", SHIPPED)
def test_corrections_are_those_of_keras(name, sentences, in_keras):
    corrector, other = Corrector.load(name), in_keras[name]
    assert (corrector.fingerprint, corrector.config) == (other.fingerprint, other.config)
    assert corrector.num_parameters == other.num_parameters
    assert corrector.weight_sizes() == other.weight_sizes()
    for pair in zip(*(each.correct_batch(sentences) for each in (corrector, other)), strict=True):
        assert_same(*pair)
    np.testing.assert_allclose(corrector.embeddings("가나"), other.embeddings("가나"), atol=1e-6)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_token_of_an_answer_is_the_likeliest_in_keras(name, sentences, in_keras):
    """An answer of which each token is the likeliest after those before it is the greedy one, so a pass over
    the graph's answers shows that decoding in Keras gives the same, for the time of one step of it."""
    graph, keras_network, tokenizer = networks(name, in_keras)
    answered = [(source, graph.produce([source])[0]) for source in map(tokenizer.encode_source, sentences)]
    assert all(found is not None for _, found in answered)
    passed = keras_network.read([source for source, _ in answered], [found.ids for _, found in answered])
    for (_, found), expected in zip(answered, passed, strict=True):
        assert found.ids == expected.logits.argmax(axis=-1).tolist()
        np.testing.assert_allclose(found.logits, expected.logits, atol=1e-4)
        assert found.attention.keys() == expected.attention.keys()
        for kind, weights in expected.attention.items():
            np.testing.assert_allclose(found.attention[kind], weights, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("norm_first", [True, False])
def test_either_order_of_normalisation(tiny_network, tiny_tokenizer, norm_first):
    config = replace(tiny_network.config, norm_first=norm_first)
    assert_any_weights(config, tiny_tokenizer, ("encoder_attention", "decoder_attention", "cross_attention"))


def test_a_recurrent_network_of_several_layers(tiny_tokenizer):
    config = Seq2SeqConfig(vocab_size=tiny_tokenizer.vocab_size, d_model=8, num_layers=2)
    assert_any_weights(config, tiny_tokenizer, ("cross_attention",))


def assert_any_weights(config, tokenizer, kinds):
    """Graph and Keras on a batch with padding, with weights drawn at random."""
    network, rng = build_network(config, tokenizer), np.random.default_rng(0)
    fill_at_random(network, rng)
    stored = {w.path: w.numpy() for w in network.weights}
    arrays = given_arrays(config, tokenizer.features(), stored)
    encode, decode = open_halves(graph_of(config), arrays, "weights.npz")
    lengths, target = (9, 5, 1), rng.integers(1, config.vocab_size, (3, 7)).astype(np.int32)
    source = rng.integers(4, config.vocab_size, (3, 9)).astype(np.int32)
    for row, length in enumerate(lengths):
        source[row, length:] = 0  # padding
    expected = network.full_pass(source, target)._asdict()
    state = encode({"source": source})
    kept = {name: array for name, array in state.items() if name.startswith(("memory_", "cache_"))}
    found = state | decode({"ids": target, **kept})
    for name in ("logits", *kinds):
        for row, length in enumerate(lengths):  # rows of padding mean nothing
            one, two = found[name][row], np.asarray(expected[name][row])
            if name == "encoder_attention":
                one, two = one[..., :length, :], two[..., :length, :]
            np.testing.assert_allclose(one, two, atol=CLOSE, err_msg=name)
            if name in ("encoder_attention", "cross_attention"):
                assert not one[..., length:].any()
            if name != "logits":
                np.testing.assert_allclose(one.sum(axis=-1), 1, atol=CLOSE)
    if "decoder_attention" in kinds:
        assert not np.triu(found["decoder_attention"], 1).any()


def test_a_shipped_graph_is_what_its_config_says():
    for name in SHIPPED:
        config = read_config(ASSETS / name)
        assert read_files(ASSETS / name, config) == graph_of(config), f"python -m model export assets/{name}"


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(
        ASSETS / "growing-up", tmp_path / "model", ignore=shutil.ignore_patterns("snapshots")
    )


def test_a_graph_of_another_network_is_refused_by_name(folder):
    shutil.rmtree(folder / GRAPH_FOLDER)
    shutil.copytree(ASSETS / "transformer" / GRAPH_FOLDER, folder / GRAPH_FOLDER)
    with pytest.raises(
        ModelFolderError, match="belongs to another network: its d_model is 128, the config's 64"
    ):
        Corrector.load(folder)


def test_weights_of_another_network_are_refused_by_name(folder):
    shutil.copy(ASSETS / "transformer" / "weights.npz", folder)
    with pytest.raises(ModelFolderError, match=r"weights\.npz belongs to another network: .* should be \("):
        Corrector.load(folder)


@pytest.mark.parametrize("name", [*(f"{half}.onnx" for half in HALVES), DESCRIPTION_FILE])
def test_a_damaged_graph_is_refused_by_name(folder, name):
    path = folder / GRAPH_FOLDER / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ModelFolderError, match=GRAPH_FOLDER):
        Corrector.load(folder)


def test_a_folder_without_a_graph_and_one_that_gets_it(folder):
    shutil.rmtree(folder / GRAPH_FOLDER)
    assert isinstance(Corrector.load(folder)._network, KerasNetwork)
    write_graph(folder)
    assert isinstance(Corrector.load(folder)._network, GraphNetwork)
    assert isinstance(Corrector.load(folder, beam_width=2)._network, KerasNetwork)


@pytest.mark.parametrize("padding", [0, 3])
def test_what_a_graph_does_not_hand_out_numpy_computes(in_keras, padding):
    corrector = Corrector.load("growing-up")
    both = corrector, in_keras["growing-up"]
    one, other = (each.taps("머거요", "먹어요", ["decoder_residual"])["decoder_residual"] for each in both)
    np.testing.assert_allclose(one, other, atol=1e-4)
    found, expected = (each.projections("머거요", "먹어요", padding) for each in both)
    assert found.keys() == expected.keys()
    for kind in found:
        for part in ("query", "key", "value"):
            one, other = (getattr(each[kind], part) for each in (found, expected))
            np.testing.assert_allclose(one, other, atol=1e-4)
    assert corrector.laboratory.config == corrector.config
    assert corrector._network._keras is None  # no call had to wait for Keras
