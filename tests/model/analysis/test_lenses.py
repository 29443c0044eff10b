"""What a lens reads: at the last place the output itself, in between what was planted, and jamo apart."""

import numpy as np
import pytest

from model.analysis.residual_stream import JAMO, logit_lens
from model.text import hangul
from model.text.changes import find_changes
from model.text.tokenizer import Tokenizer
from model.trace.interventions import OutputWeights
from tests.planted import CODA, COPY, RIGHT, ROW, WRONG

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
CHANGES = find_changes(SOURCE, TARGET)


def test_the_last_place_says_what_the_network_says(both):
    _, corrector, _ = both
    decided, trace = logit_lens(corrector, SOURCE, TARGET, CHANGES), corrector.trace(SOURCE, TARGET)
    assert decided.labels()[-1] == [row[0] for row in trace.alternatives]
    np.testing.assert_allclose(
        decided.probabilities[-1], trace.alternative_probabilities[:, :3], atol=1e-5, rtol=1e-3
    )
    np.testing.assert_allclose(np.log(decided.written[-1]), trace.log_probabilities, atol=1e-3)


def test_the_score_at_the_last_place_is_that_of_the_pass(both):
    _, corrector, _ = both
    decided = logit_lens(corrector, SOURCE, TARGET, CHANGES)
    logits = corrector.taps(SOURCE, TARGET, ["logits"])["logits"]
    expected = [logits[q.row, q.written] - logits[q.row, q.instead] for q in decided.questions]
    np.testing.assert_allclose(decided.scores[-1], expected, atol=1e-4)
    assert decided.changes == tuple(range(len(TARGET) + 1, len(TARGET) + 1 + len(CHANGES)))


def test_the_network_in_numpy_reads_the_same(both):
    one, other = (logit_lens(each, SOURCE, TARGET, CHANGES) for each in both[1:])
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-3)
    for name, read in one.jamo.items():
        np.testing.assert_allclose(read.expected, other.jamo[name].expected, atol=1e-4)


def test_jamo_while_writing_are_the_sums_over_the_characters_that_have_them(both):
    _, corrector, _ = both
    decided = logit_lens(corrector, SOURCE, TARGET)
    tokens = corrector.tokenizer.labels(list(range(corrector.config.vocab_size)))
    logits = corrector.taps(SOURCE, TARGET, ["logits"])["logits"].astype(np.float64)
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    for number, part in enumerate(JAMO):
        for row, character in enumerate(TARGET):
            expected = decided.jamo[f"decoder {part}"].expected[-1, row]
            if not hangul.is_syllable(character):
                assert np.isnan(expected)
                continue
            wanted = hangul.indices(character)[number]
            having = [
                t
                for t, c in enumerate(tokens)
                if hangul.is_syllable(c) and hangul.indices(c)[number] == wanted
            ]
            assert expected == pytest.approx(shares[row, having].sum(), abs=1e-4)


def test_exactly_what_was_planted_is_decided_where_it_was_planted(planted_writer):
    (change,) = find_changes(WRONG, RIGHT)
    decided = logit_lens(planted_writer, WRONG, RIGHT, [change])
    copied, spoken = (
        3 * head.layer + 2 for head in (COPY, CODA)
    )  # behind encoder-decoder attention of their layers
    column = [row[ROW] for row in decided.labels()]
    assert column[copied:spoken] == ["머"] * (spoken - copied) and column[spoken:] == ["먹"] * (
        len(column) - spoken
    )
    assert decided.settled(ROW) == spoken
    (number,) = decided.changes
    score = decided.scores[:, number]
    assert (score[copied:spoken] < 0).all() and (score[spoken:] > 0).all()
    assert score[-1] > score[-2] + 0.1  # the feed-forward network that writes


def test_the_final_consonant_appears_where_it_was_planted(planted_writer):
    decided = logit_lens(planted_writer, WRONG, RIGHT)
    read = decided.jamo["decoder final"].likeliest[:, ROW]
    finals = [JAMO["final"][number] for number in read.tolist()]
    spoken = 3 * CODA.layer + 2
    assert finals[spoken:] == ["ㄱ"] * (len(finals) - spoken) and finals[spoken - 1] == ""


class Summed:
    """A network whose encoder hands on the sums of jamo vectors, so that what stands in its stream is known."""

    tokenizer = Tokenizer("가각머먹")

    def __init__(self):
        rng, width = np.random.default_rng(0), 256
        self.jamo = {
            part: rng.normal(size=(len(names), width)).astype(np.float32) for part, names in JAMO.items()
        }
        ones = np.stack([np.ones(width), np.zeros(width)]).astype(np.float32)[None]
        size = self.tokenizer.vocab_size
        self.output_weights = OutputWeights(
            True,
            {},
            {},
            {"encoder": ones, "decoder": ones},
            np.zeros((size, width), np.float32),
            np.zeros(size),
            self.jamo,
        )

    @property
    def patched(self):
        return self

    def taps(self, source, target, names):
        rows = [
            sum(self.jamo[p][n] for p, n in zip(JAMO, hangul.indices(each), strict=True))
            for each in self.tokenizer.labels(source[:-1])
        ]
        stream = np.stack([*rows, np.zeros_like(rows[0])])[None]  # one place, the end mark last
        length = len(target)
        return {
            "encoder_residual": stream,
            "decoder_residual": np.zeros((1, length, stream.shape[-1]), np.float32),
            "logits": np.zeros((length, self.tokenizer.vocab_size), np.float32),
        }


def test_a_sum_of_jamo_vectors_is_read_apart():
    decided = logit_lens(Summed(), "먹가", "가")
    for number, part in enumerate(JAMO):
        found = decided.jamo[f"encoder {part}"]
        assert found.likeliest[0].tolist() == [*(hangul.indices(each)[number] for each in "먹가"), -1]
        assert (found.probability[0, :2] > 0.9).all() and np.isnan(found.probability[0, 2])
