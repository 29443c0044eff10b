import numpy as np
from keras import ops

from model.decoding import greedy
from model.tokenizer import END_ID, PAD_ID, START_ID

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
