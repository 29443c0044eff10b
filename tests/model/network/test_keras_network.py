"""``KerasNetwork``: greedy decoding, beam search and the arrays of a pass."""

from itertools import product

import numpy as np
import pytest

from model.activations.drafting import longest_target, read_off
from model.network.keras_network import KerasNetwork, beam_search
from model.network.networks import build_network
from model.stored.config import Seq2SeqConfig
from model.text.tokenizer import END_ID, START_ID
from tests.conftest import END_BIAS
from tests.random_weights import fill_at_random

SHORT, LONG = [10, 11, 12, 13, END_ID], [20, 21, 22, 23, 24, 25, 26, 27, 28, END_ID]
TARGET = [10, 14, 12, END_ID]


@pytest.fixture(scope="module", params=["transformer", "seq2seq"])
def keras_network(request, tiny_network, tiny_tokenizer):
    network = tiny_network
    if request.param == "seq2seq":
        network = build_network(Seq2SeqConfig(tiny_tokenizer.vocab_size, 16), tiny_tokenizer)
        fill_at_random(network, np.random.default_rng(0))
        ends = np.eye(tiny_tokenizer.vocab_size, dtype=np.float32)[END_ID] * END_BIAS
        network.embedding.output_bias.assign(ends)
    return KerasNetwork(network, tiny_tokenizer.encode_target(" ")[0])


@pytest.fixture(scope="module")
def sources(tiny_tokenizer):
    rng = np.random.default_rng(1)
    return [
        [*rng.integers(4, tiny_tokenizer.vocab_size, length).tolist(), END_ID] for length in range(1, 25, 4)
    ]


def step_by_step(network, source) -> list[int] | None:
    """Greedy decoding, one token after the other."""
    ids = beam_search(network.reading(source).next_logits, longest_target(len(source)), 1)
    assert ids is None or ids[-1] == END_ID
    return ids


def probability(produced) -> float:
    return sum(map(produced.log_probability, range(len(produced.ids)), produced.ids))


def test_drafting_writes_what_step_by_step_decoding_writes(keras_network, sources):
    expected = [step_by_step(keras_network, source) for source in sources]
    assert any(expected)
    assert [each and each.ids for each in keras_network.produce(sources)] == expected


def test_beams_find_sentences_that_are_more_probable(keras_network, sources):
    wide = KerasNetwork(keras_network.network, keras_network.space_id, beam_width=4)
    pairs = list(zip(keras_network.produce(sources), wide.produce(sources), strict=True))
    gains = [probability(widest) - probability(greedy) for greedy, widest in pairs if greedy and widest]
    assert np.mean(gains) >= 0
    assert max(gains) > 0.01


@pytest.mark.parametrize("width", [0, 1.5])
def test_no_beam_and_half_a_beam_are_refused(tiny_network, width):
    with pytest.raises(ValueError, match=f"whole number of 1 or more, received {width}"):
        KerasNetwork(tiny_network, 4, beam_width=width)


def test_the_pass_that_produced_has_the_arrays_of_a_pass_over_its_text(keras_network, sources):
    produced, source = next((found, s) for s in sources if (found := keras_network.produce([s])[0]))
    seen, again = read_off(produced), keras_network.attend(source, produced.ids)
    assert seen.keys() == again.keys()
    for name, array in again.items():
        np.testing.assert_allclose(seen[name], array, atol=1e-5)


def test_a_pass_leaves_nothing_behind(keras_network):
    before = keras_network.attend(SHORT, TARGET)
    keras_network.attend(LONG, TARGET)
    keras_network.produce([SHORT])
    for name, array in keras_network.attend(SHORT, TARGET).items():
        np.testing.assert_array_equal(array, before[name])


LETTERS = range(3, 7)  # the end mark and three others: all tokens of the chains below
VOCABULARY = 12


def chain(seed):
    """A model that knows only its last token: logits (from, to) over the vocabulary."""
    logits = np.full((VOCABULARY, VOCABULARY), -30.0)
    logits[:, LETTERS] = np.random.default_rng(seed).normal(0, 2, (VOCABULARY, len(LETTERS)))
    return logits


def after(logits):
    return lambda beginnings: logits[[each[-1] if each else START_ID for each in beginnings]]


def log_probability(logits, tokens):
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return sum(logs[a, b] for a, b in zip((START_ID, *tokens[:-1]), tokens, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_enough_beams_find_the_most_probable_sentence_of_all(seed):
    logits = chain(seed)
    others = [letter for letter in LETTERS if letter != END_ID]
    sentences = [(*first, END_ID) for length in range(7) for first in product(others, repeat=length)]
    expected = max(sentences, key=lambda tokens: log_probability(logits, tokens))
    assert beam_search(after(logits), 12, VOCABULARY) == list(expected)


def test_a_second_beam_finds_what_greedy_search_passes_by():
    probabilities = np.full((VOCABULARY, VOCABULARY), 1e-9)
    probabilities[START_ID, [5, 6]] = 0.6, 0.4  # 5 begins better, but only 6 continues well
    probabilities[5, [4, 7, 8, END_ID]] = 0.25
    probabilities[6, END_ID] = 1
    following = after(np.log(probabilities))
    assert beam_search(following, 4, 1)[0] == 5
    assert beam_search(following, 4, 2) == [6, END_ID]


def test_without_an_end_mark_a_search_gives_up():
    assert beam_search(lambda beginnings: np.eye(VOCABULARY)[[4] * len(beginnings)] * 50, 3, 2) is None
