"""Direct logit attribution, logit lens, decomposition of attention scores, jamo lens."""

import numpy as np
import pytest

from model.analysis.attention_scores import (
    KEY,
    AttentionCell,
    ScoreAblation,
    decompose_attention_score,
)
from model.analysis.residual_stream import JAMO, POSITION, direct_logit_attribution, logit_lens
from model.correction.corrector import Corrector
from model.network.networks import build_network
from model.stored.config import Seq2SeqConfig
from model.text.changes import find_changes
from model.trace.interventions import Head
from tests.planted import CAUSE, CHANGE, CODA, COPY, DECOY, FEED_FORWARD, RIGHT, ROW, WRONG

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
CHANGES = find_changes(SOURCE, TARGET)
TOLERANCE = 1e-4  # nats


@pytest.fixture(scope="module")
def written(corrector):
    return direct_logit_attribution(corrector, SOURCE, TARGET, CHANGES)


def test_the_parts_sum_to_the_score_of_every_row_and_every_change(corrector, written):
    assert len(written.questions) == len(TARGET) + 1 + len(CHANGES)
    trace = corrector.trace(SOURCE, TARGET)
    for number, contrast in enumerate(written.questions):
        assert abs(written.remainder(number)) < TOLERANCE
        if number <= len(TARGET) and trace.alternatives[number][0] == contrast.written_token:
            best, second = np.log(trace.alternative_probabilities[number][:2])
            assert written.score[number] == pytest.approx(best - second, abs=TOLERANCE)


def test_exactly_what_was_planted_is_found(planted_writer):
    written = direct_logit_attribution(planted_writer, WRONG, RIGHT, [CHANGE])
    (number,) = written.changes
    assert written.questions[number].row == ROW
    parts = {part[:3]: part.nats for part in written.parts(number) if abs(part.nats) > 0.01}
    assert parts.keys() == {tuple(COPY), tuple(CODA), ("feed_forward", FEED_FORWARD, None)}
    assert parts[tuple(COPY)] < 0  # it copies the typed character
    assert parts[tuple(CODA)] > 0 and parts["feed_forward", FEED_FORWARD, None] > 0
    assert sum(parts.values()) == pytest.approx(written.score[number], abs=0.01)


def test_each_head_wrote_by_looking_where_it_was_planted_to_look(planted_writer):
    written = direct_logit_attribution(planted_writer, WRONG, RIGHT, [CHANGE])
    maps = written.maps("cross_attention")
    for head, column in ((COPY, ROW), (CODA, CAUSE)):
        row = np.abs(maps[head.layer, head.head, ROW])
        assert row[column] > 1 and row.sum() == pytest.approx(row[column], abs=1e-3)
    trace = planted_writer.trace(WRONG, RIGHT)
    assert trace.cross_attention[DECOY.layer, DECOY.head, ROW, CAUSE] > 0.99  # it looks,
    assert (maps[DECOY.layer, DECOY.head] == 0).all()  # and writes nothing


def test_a_picture_of_the_sentence_asks_about_the_change_where_one_begins(planted_writer):
    written = direct_logit_attribution(planted_writer, WRONG, RIGHT, [CHANGE])
    assert written.rows() == [0, len(RIGHT) + 1, *range(2, len(RIGHT) + 1)]
    plain = direct_logit_attribution(planted_writer, WRONG, RIGHT)
    assert plain.rows() == list(range(len(RIGHT) + 1)) and plain.changes == ()


def test_a_network_without_a_residual_stream_is_named(tiny_tokenizer):
    network = build_network(Seq2SeqConfig(tiny_tokenizer.vocab_size, 16), tiny_tokenizer)
    corrector = Corrector("tiny", network, tiny_tokenizer, "0")
    for ask in (corrector.output_weights, lambda: direct_logit_attribution(corrector, SOURCE, TARGET)):
        with pytest.raises(ValueError, match="a residual stream needs a transformer, received a seq2seq"):
            ask()


@pytest.fixture(scope="module")
def decided(corrector):
    return logit_lens(corrector, SOURCE, TARGET, CHANGES)


def test_the_last_place_is_the_answer_of_the_pass(corrector, decided):
    trace = corrector.trace(SOURCE, TARGET)
    assert decided.labels()[-1] == [row[0] for row in trace.alternatives]
    np.testing.assert_allclose(
        decided.probabilities[-1], trace.alternative_probabilities[:, :3], atol=1e-5, rtol=1e-3
    )
    np.testing.assert_allclose(np.log(decided.written[-1]), trace.log_probabilities, atol=1e-3)
    logits = corrector.taps(SOURCE, TARGET, ["logits"])["logits"]
    expected = [logits[q.row, q.written] - logits[q.row, q.instead] for q in decided.questions]
    np.testing.assert_allclose(decided.scores[-1], expected, atol=1e-4)
    assert decided.changes == tuple(range(len(TARGET) + 1, len(TARGET) + 1 + len(CHANGES)))


def test_exactly_what_was_planted_is_decided_where_it_was_planted(planted_writer):
    decided = logit_lens(planted_writer, WRONG, RIGHT, [CHANGE])
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


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_both_sums_are_the_score_before_the_softmax(corrector, kind):
    query, key = 5, 3
    trace = corrector.trace(SOURCE, TARGET)
    found = corrector.projections(SOURCE, TARGET)[kind]
    for layer, head in ((0, 1), (1, 0)):
        look = decompose_attention_score(
            corrector, SOURCE, TARGET, AttentionCell(Head(kind, layer, head), query, key)
        )
        assert look.weight == pytest.approx(trace.attention(kind)[layer, head, query, key], abs=1e-5)
        scores = found.query[layer, head, query] @ found.key[layer, head].T / np.sqrt(found.key.shape[-1])
        seen = scores[: query + 1] if kind == "decoder_attention" else scores
        assert look.score == pytest.approx(scores[key] - seen.mean(), abs=1e-4)
        assert abs(look.remainder()) < 1e-4
        for parts in (look.of_query, look.of_key):
            sizes = [abs(part.nats) for part in parts]
            assert sizes == sorted(sizes, reverse=True)


def test_a_claim_holds_where_the_look_moves_as_the_sum_says():
    assert ScoreAblation(KEY, POSITION, 2.0, 0.1).holds(0.9) and ScoreAblation(
        KEY, POSITION, -2.0, 0.95
    ).holds(0.9)
    assert not ScoreAblation(KEY, POSITION, 2.0, 0.95).holds(0.9)


@pytest.mark.parametrize(
    ("kind", "cell", "message"),
    [
        ("cross_attention", (9, 0), "should lie in"),
        ("decoder_attention", (1, 2), "cannot see what comes later"),
    ],
)
def test_a_cell_that_is_none_is_refused(planted, kind, cell, message):
    with pytest.raises(ValueError, match=message):
        decompose_attention_score(planted, WRONG, RIGHT, AttentionCell(Head(kind, 0, 0), *cell))
