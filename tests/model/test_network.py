import numpy as np
import pytest

from model.config import Seq2SeqConfig
from model.folder import build_network
from model.network import CompiledNetwork
from model.tokenizer import END_ID, START_ID

SOURCES = ((10, 11, 12, 13, END_ID), (20, END_ID))
TARGETS = ((10, 14, 12, END_ID), (21, 22, 23, 24, 25, END_ID))
ALTERNATIVES = ((11, 11, 12, 13), (9, 9, 9, 9, 9, 9))


@pytest.fixture(scope="module", params=["transformer", "seq2seq"])
def network(request, tiny_network, tiny_tokenizer):
    if request.param == "transformer":
        return tiny_network
    network = build_network(Seq2SeqConfig(tiny_tokenizer.vocab_size, 16), tiny_tokenizer)
    rng = np.random.default_rng(0)
    for variable in network.weights:
        variable.assign(rng.normal(0, 0.3, variable.shape).astype(np.float32))
    return network


@pytest.fixture(scope="module")
def compiled(network):
    return CompiledNetwork(network)


def test_log_probabilities_are_those_of_each_sentence_alone(network, compiled):
    weighed = compiled.probabilities(SOURCES, TARGETS, ALTERNATIVES)
    for source, target, alternative, pair in zip(SOURCES, TARGETS, ALTERNATIVES, weighed, strict=True):
        inputs = np.array([[START_ID, *target[:-1]]], np.int32)
        logits = np.asarray(network((np.array([source], np.int32), inputs)), np.float64)[0]
        logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        for received, ids in zip(pair, (target, alternative), strict=True):
            np.testing.assert_allclose(received, logs[np.arange(len(ids)), ids], atol=1e-4)


def test_they_are_those_that_looking_finds(compiled):
    weighed = compiled.probabilities(SOURCES, TARGETS, TARGETS)
    for source, target, (first, second) in zip(SOURCES, TARGETS, weighed, strict=True):
        seen = compiled.attend(source, target)["log_probabilities"]
        np.testing.assert_allclose(first, seen, atol=1e-4)
        np.testing.assert_array_equal(first, second)


def test_what_the_network_cannot_write_has_no_probability(network, compiled):
    vocab_size = network.config.vocab_size
    alternatives = ((vocab_size - 1, vocab_size, vocab_size + 11171, 1),)
    ((_, logs),) = compiled.probabilities(SOURCES[:1], TARGETS[:1], alternatives)
    assert np.isneginf(logs).tolist() == [False, True, True, False]


def test_nothing_to_weigh_and_an_alternative_missing(compiled):
    assert compiled.probabilities([], [], []) == []
    with pytest.raises(ValueError, match="4 expected, received 3"):
        compiled.probabilities(SOURCES[:1], TARGETS[:1], [(1, 2, 3)])


def test_what_is_produced_is_produced_alone_too(compiled):
    for source, together in zip(SOURCES, compiled.produce(SOURCES), strict=True):
        (alone,) = compiled.produce([source])
        if together is None:
            assert alone is None
        else:
            assert alone.ids == together.ids
            np.testing.assert_allclose(alone.log_probabilities, together.log_probabilities, atol=1e-4)
