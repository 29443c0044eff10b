"""Decoding with drafts writes the text of step-by-step decoding, in few passes."""

import random

import numpy as np

from model.activations.drafting import (
    AHEAD,
    Produced,
    longest_target,
    settle,
    settle_ahead,
)
from model.text.tokenizer import END_ID

SPACE, A, B, C, D, E = range(4, 10)
VOCABULARY = 12


class Speller:
    """A reading whose network knows the answer: after the right tokens it predicts the next one, after a
    wrong token ``lost`` of it."""

    def __init__(self, answers, lost=lambda token: token):
        self.answers, self.lost, self.passes = answers, lost, 0

    def pass_over(self, drafts):
        self.passes += 1
        assert len(drafts) == len(self.answers)
        self.logits = np.zeros((len(drafts), max(map(len, drafts)), VOCABULARY))
        for row, (draft, answer) in enumerate(zip(drafts, self.answers, strict=True)):
            for t in range(len(draft)):
                token = answer[t] if t < len(answer) else D  # it never ends where the answer has no end
                token = token if draft[:t] == answer[:t] else self.lost(token)
                self.logits[row, t, token] = 1
        return self

    def keep(self, rows):
        self.answers = [self.answers[row] for row in rows]

    def row(self, number, source, ids):
        return Produced(ids, self.logits[number, : len(ids)], {})


def correct(source, answer, **options):
    reading = Speller([answer], **options)
    (produced,) = settle(reading, [source], SPACE)
    return produced.ids, reading.passes


def test_any_number_of_replaced_tokens_takes_two():
    source, answer = [A, B, C, D, E, A, END_ID], [A, D, C, B, E, C, END_ID]
    assert correct(source, answer) == (answer, 2)


def test_any_answer_is_found_by_the_network_that_knows_it():
    rng = random.Random(0)
    for _ in range(300):
        source = [*rng.choices((SPACE, A, B, C), k=rng.randrange(14)), END_ID]
        answer = [*rng.choices((SPACE, A, B, C), k=rng.randrange(20)), END_ID]
        lost = rng.choice([lambda token: SPACE, lambda token: rng.choice((SPACE, A, B, C, END_ID))])
        reading = Speller([answer], lost)
        (produced,) = settle(reading, [source], SPACE)
        assert (produced.ids if produced else None) == (
            answer if len(answer) <= longest_target(len(source)) else None
        )
        assert reading.passes <= longest_target(len(source))  # each is sure of one token more


def test_reading_a_draft_piece_by_piece_finds_the_same_answer():
    rng = random.Random(0)
    for _ in range(100):
        source = [*rng.choices((SPACE, A, B, C), k=rng.randrange(3 * AHEAD)), END_ID]
        answer = [token if rng.random() < 0.9 else rng.choice((SPACE, A, B)) for token in source[:-1]]
        answer.insert(rng.randrange(len(answer) + 1), SPACE)
        answer += [END_ID] if rng.random() < 0.9 else [D] * longest_target(len(source))
        lost = rng.choice([lambda token: token, lambda token: rng.choice((SPACE, A, B, C, END_ID))])
        (expected,) = settle(Speller([answer], lost), [source], SPACE)
        found = settle_ahead(Speller([answer], lost), source, SPACE)
        assert (found and found.ids) == (expected and expected.ids)


def test_a_right_sentence_is_read_once_piece_by_piece():
    source = [*[A, B] * AHEAD, END_ID]
    reading = Speller([source])
    assert settle_ahead(reading, source, SPACE).ids == source
    assert reading.passes == 3


def test_a_row_that_is_settled_is_not_looked_at_again():
    answers = [[A, END_ID], [B, SPACE, A, END_ID], [C, D, END_ID]]
    reading = Speller(answers)
    produced = settle(reading, [[A, END_ID], [B, A, END_ID], [C, D, END_ID]], SPACE)
    assert [one.ids for one in produced] == answers
    assert len(reading.answers) == 1


def test_without_an_end_mark_there_is_no_answer():
    source = [A, END_ID]
    endless = [D] * (longest_target(len(source)) + 5)
    assert settle(Speller([endless]), [source], SPACE) == [None]
    # With a missing space at every place the draft outgrows its room and loses its end mark on the way.
    source, endless = [A] * 70 + [END_ID], [A, SPACE] * longest_target(71)
    assert settle(Speller([endless], lost=lambda token: SPACE), [source], SPACE) == [None]


def test_log_probabilities_are_those_of_the_logits():
    logits = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    produced = Produced([1, 2, 3], logits, {})
    for t in range(3):
        probabilities = [np.exp(produced.log_probability(t, token)) for token in range(5)]
        np.testing.assert_allclose(probabilities, np.exp(logits[t]) / np.exp(logits[t]).sum(), rtol=1e-6)
    assert produced.log_probability(0, 5) == -np.inf  # it can be read, not produced
