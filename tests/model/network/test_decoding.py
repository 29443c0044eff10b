from itertools import product

import numpy as np
import pytest
from keras import ops

from model.network.decoding import beam_search, greedy
from model.text.tokenizer import END_ID, PAD_ID, START_ID

VOCABULARY = 12


def spelling_step(tokens, index, cache):
    """A model whose cache spells a word: it says the first id and keeps the others."""
    return ops.one_hot(cache[:, 0], VOCABULARY), ops.roll(cache, -1, axis=1)


def spell(words, max_tokens):
    words = ops.convert_to_tensor(np.array(words, np.int32))
    return np.asarray(greedy(spelling_step, words, len(words), max_tokens))


def test_the_loop_writes_what_the_cache_spells():
    assert spell([[7, 5, 9, END_ID]], 4).tolist() == [[7, 5, 9, END_ID]]


def test_a_finished_row_stays_padding_while_others_go_on():
    words = [[7, END_ID, 8, 8, 8], [5, 6, 9, END_ID, 8], [END_ID, 8, 8, 8, 8]]
    assert spell(words, 5).tolist() == [
        [7, END_ID, PAD_ID, PAD_ID, PAD_ID],
        [5, 6, 9, END_ID, PAD_ID],
        [END_ID, PAD_ID, PAD_ID, PAD_ID, PAD_ID],
    ]


def test_without_an_end_mark_it_stops_at_the_longest_length():
    assert spell([[7, 5, 9, 4]], 3).tolist() == [[7, 5, 9]]


def test_each_step_consumes_what_the_one_before_produced():
    successor = ops.convert_to_tensor(np.array([0, 0, 6, 0, END_ID, 0, 8, 0, 4, 0, 0, 0], np.int32))

    def step(tokens, index, cache):
        return ops.one_hot(ops.take(successor, tokens), VOCABULARY), cache + index

    # START_ID (2) -> 6 -> 8 -> 4 -> the end mark
    assert START_ID == 2
    assert np.asarray(greedy(step, ops.convert_to_tensor(0), 1, 6)).tolist() == [[6, 8, 4, END_ID, 0, 0]]


def test_the_most_probable_token_wins():
    def step(tokens, index, cache):
        return cache, cache

    logits = ops.convert_to_tensor(np.array([[0.1, 0.2, -1.0, 0.3, 0.9, 0.8]], np.float32))
    assert np.asarray(greedy(step, logits, 1, 2)).tolist() == [[4, 4]]


LETTERS = range(3, 7)  # the end mark and three others: all that the chains below can say


def chain(seed):
    """A model that knows only its last token: logits (from, to) over the vocabulary."""
    logits = np.full((VOCABULARY, VOCABULARY), -30.0, np.float32)
    logits[:, LETTERS] = np.random.default_rng(seed).normal(0, 2, (VOCABULARY, len(LETTERS)))
    return logits


def step_of(logits):
    table = ops.convert_to_tensor(logits)
    return lambda tokens, index, cache: (ops.take(table, tokens, axis=0), cache)


def log_probability(logits, tokens):
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return sum(logs[a, b] for a, b in zip((START_ID, *tokens[:-1]), tokens, strict=True))


def most_probable(logits, longest):
    """By asking all sentences of at most ``longest`` tokens."""
    others = [letter for letter in LETTERS if letter != END_ID]
    sentences = [
        (*beginning, END_ID) for length in range(longest) for beginning in product(others, repeat=length)
    ]
    return max(sentences, key=lambda tokens: log_probability(logits, tokens))


@pytest.mark.parametrize("seed", range(6))
def test_enough_beams_find_the_most_probable_sentence_of_all(seed):
    logits = chain(seed)
    tokens, score = beam_search(step_of(logits), np.zeros((VOCABULARY, 1)), 1, 12, VOCABULARY)
    expected = most_probable(logits, 7)
    assert [token for token in np.asarray(tokens)[0] if token != PAD_ID] == list(expected)
    assert float(score[0]) == pytest.approx(log_probability(logits, expected), abs=1e-4)


def test_one_beam_is_greedy_search():
    for seed in range(6):
        step = step_of(chain(seed))
        tokens, _ = beam_search(step, np.zeros((1, 1)), 1, 8, 1)
        assert np.asarray(tokens).tolist() == np.asarray(greedy(step, np.zeros((1, 1)), 1, 8)).tolist()


def test_a_second_beam_finds_what_greedy_search_passes_by():
    probabilities = np.full((VOCABULARY, VOCABULARY), 1e-9, np.float32)
    probabilities[START_ID, [5, 6]] = 0.6, 0.4  # 5 begins better, but only 6 goes on well
    probabilities[5, [4, 7, 8, END_ID]] = 0.25
    probabilities[6, END_ID] = 1
    step = step_of(np.log(probabilities))
    assert np.asarray(greedy(step, np.zeros((1, 1)), 1, 4))[0, 0] == 5
    tokens, score = beam_search(step, np.zeros((2, 1)), 1, 4, 2)
    assert np.asarray(tokens).tolist() == [[6, END_ID, PAD_ID, PAD_ID]]
    assert float(score[0]) == pytest.approx(np.log(0.4), abs=1e-4)


def test_beams_of_neighbouring_sentences_do_not_mix():
    """Each sentence's cache spells its own word, and follows its beams."""
    words = np.array([[7, 5, 9, END_ID], [8, END_ID, 0, 0]], np.int32)
    cache = ops.convert_to_tensor(np.repeat(words, 3, axis=0))

    def sure_step(tokens, index, cache):
        return 20 * ops.one_hot(cache[:, 0], VOCABULARY), ops.roll(cache, -1, axis=1)

    tokens, score = beam_search(sure_step, cache, 2, 4, 3)
    assert np.asarray(tokens).tolist() == [[7, 5, 9, END_ID], [8, END_ID, PAD_ID, PAD_ID]]
    np.testing.assert_allclose(score, [0, 0], atol=1e-5)
