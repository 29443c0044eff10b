import numpy as np
import pytest

from model.activations.drafting import read_off
from model.network.compiled import CompiledNetwork
from model.network.loading import build_network
from model.stored.config import Seq2SeqConfig
from model.text.tokenizer import END_ID, START_ID
from tests.conftest import END_BIAS

SHORT, LONG = [10, 11, 12, 13, END_ID], [20, 21, 22, 23, 24, 25, 26, 27, 28, END_ID]
TARGET = [10, 14, 12, END_ID]


@pytest.fixture(scope="module", params=["transformer", "seq2seq"])
def network(request, tiny_network, tiny_tokenizer):
    if request.param == "transformer":
        return tiny_network
    network = build_network(Seq2SeqConfig(tiny_tokenizer.vocab_size, 16), tiny_tokenizer)
    rng = np.random.default_rng(0)
    for variable in network.weights:
        variable.assign(rng.normal(0, 0.3, variable.shape).astype(np.float32))
    network.embedding.output_bias.assign(
        np.eye(tiny_tokenizer.vocab_size, dtype=np.float32)[END_ID] * END_BIAS
    )
    return network


@pytest.fixture(scope="module")
def space_id(tiny_tokenizer):
    return tiny_tokenizer.encode_target(" ")[0]


@pytest.fixture(scope="module")
def compiled(network, space_id):
    return CompiledNetwork(network, space_id)


@pytest.fixture(scope="module")
def wide(network, space_id):
    """It searches with beams. Its graphs take seconds to make, so there is one."""
    return CompiledNetwork(network, space_id, beam_width=4)


@pytest.fixture(scope="module")
def sources(tiny_tokenizer):
    rng = np.random.default_rng(1)
    return [
        [*rng.integers(4, tiny_tokenizer.vocab_size, length).tolist(), END_ID] for length in range(1, 25, 3)
    ]


def ids_of(produced) -> list:
    return [None if one is None else one.ids for one in produced]


def test_what_is_produced_is_what_step_by_step_decoding_writes(compiled, sources):
    expected = compiled.step_by_step(sources)
    assert any(expected)
    assert ids_of(compiled.produce(sources)) == expected
    assert [ids_of(compiled.produce([source]))[0] for source in sources] == expected


def test_beams_find_sentences_that_are_more_probable(wide, compiled, sources):
    greedily, widely = compiled.produce(sources), wide.produce(sources)

    def probability(one):
        return -np.inf if one is None else sum(map(one.log_probability, range(len(one.ids)), one.ids))

    gains = [
        probability(widest) - probability(greedy)
        for widest, greedy in zip(widely, greedily, strict=True)
        if widest
    ]
    assert max(gains) > 0.01
    assert np.mean(gains) >= 0


def test_one_sentence_finds_with_beams_what_it_finds_among_others(wide, sources):
    assert [ids_of(wide.produce([source]))[0] for source in sources] == ids_of(wide.produce(sources))


@pytest.mark.parametrize("width", [0, 1.5])
def test_no_beam_and_half_a_beam_are_refused(network, space_id, width):
    with pytest.raises(
        ValueError, match=f"beam width should be a whole number of 1 or more, received {width}"
    ):
        CompiledNetwork(network, space_id, beam_width=width)


def test_the_pass_that_produced_shows_what_another_look_shows(compiled, sources):
    source, (produced,) = next(
        (source, found) for source in sources if any(found := compiled.produce([source]))
    )
    seen = read_off(produced)
    looked = compiled.attend(source, produced.ids)
    assert seen.keys() == looked.keys()
    for name, array in looked.items():
        np.testing.assert_allclose(seen[name], array, atol=1e-5)


def test_looking_at_one_sentence_is_not_changed_by_another(compiled):
    before = compiled.attend(SHORT, TARGET)
    compiled.attend(LONG, TARGET)
    compiled.produce([SHORT])
    for name, array in compiled.attend(SHORT, TARGET).items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("source", [SHORT, LONG])
def test_looking_tells_the_logarithms_and_the_best_of_each_row(network, compiled, source):
    inputs = np.array([[START_ID, *TARGET[:-1]]], np.int32)
    logits = np.asarray(network((np.array([source], np.int32), inputs)), np.float64)[0]
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    seen = compiled.attend(source, TARGET)
    np.testing.assert_allclose(seen["log_probabilities"], logs[np.arange(4), TARGET], atol=1e-4)
    best = np.argsort(-logs, axis=-1)[:, : seen["alternative_ids"].shape[1]]
    np.testing.assert_array_equal(seen["alternative_ids"], best)
    chosen = np.take_along_axis(logs, best, axis=-1)
    np.testing.assert_allclose(seen["alternative_probabilities"], np.exp(chosen), atol=1e-5)
