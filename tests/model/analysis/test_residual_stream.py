"""Direct logit attribution sums to the score; the lens ends on the network's own answer."""

import numpy as np
import pytest

from model.analysis.residual_stream import JAMO, KINDS, direct_logit_attribution, logit_lens
from model.correction.corrector import Corrector
from model.network.networks import build_network
from model.stored.config import Seq2SeqConfig
from model.text import hangul
from model.text.changes import find_changes
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


def test_nothing_is_written_by_looking_where_the_mask_hides(written):
    maps = written.maps("decoder_attention")
    assert maps.shape == (2, 2, len(TARGET) + 1, len(TARGET) + 1)
    assert (maps[..., *np.triu_indices(len(TARGET) + 1, 1)] == 0).all()


def without(network, found, sublayer: int, gone: np.ndarray) -> np.ndarray:
    """(T, V) logits of the pass whose sub-layer adds ``gone`` (T, D) less, all later outputs and scales kept.

    Computed sub-layer by sub-layer with the layers of the Keras network.
    """
    norms = [
        around.norm
        for block in network.decoder_blocks
        for around in (*block.arounds.values(), block.around_feed_forward)
    ]

    def held(norm, stream, as_it_was):
        gamma, beta = (np.asarray(each) for each in (norm.gamma, norm.beta))
        scale = np.sqrt(as_it_was.var(axis=-1, keepdims=True) + 1e-6)
        return (stream - stream.mean(axis=-1, keepdims=True)) / scale * gamma + beta

    stream = found["decoder_residual"][sublayer]
    for n in range(sublayer, len(norms)):
        before = found["decoder_residual"][n] + found["decoder_output"][n]
        stream = stream + found["decoder_output"][n] - (gone if n == sublayer else 0)
        if not network.config.norm_first:
            stream = held(norms[n], stream, before)
    if network.config.norm_first:
        stream = held(network.decoder_norm, stream, found["decoder_residual"][-1])
    return np.asarray(network.embedding.logits(stream[None].astype(np.float32)))[0]


@pytest.mark.parametrize("part", [*KINDS, "feed_forward"])
def test_a_part_wrote_the_difference_to_a_pass_without_its_output(network, corrector, written, part):
    taps = ["decoder_residual", "decoder_output", "logits"]
    heads = part.replace("attention", "heads") if part in KINDS else None
    found = corrector.taps(SOURCE, TARGET, [*taps, heads] if heads else taps)
    for layer, head in np.ndindex(2, 2 if heads else 1):
        place = 3 * layer + [*KINDS, "feed_forward"].index(part)
        gone = found["decoder_output"][place]  # (T, D)
        if heads:
            kernel = np.asarray(network.decoder_blocks[layer].attentions[part].output_projection.kernel)
            gone = found[heads][layer, head] @ np.split(kernel, 2)[head]
        difference = found["logits"] - without(network, found, place, gone)
        for number, asked in enumerate(written.questions):
            expected = difference[asked.row, asked.written] - difference[asked.row, asked.instead]
            nats = (
                written.by_key[part][number, layer, head].sum()
                if heads
                else written.feed_forward[number, layer]
            )
            assert nats == pytest.approx(expected, abs=TOLERANCE)


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


def test_the_output_weights_give_the_logits_of_a_pass(corrector):
    found = corrector.taps(SOURCE, TARGET, ["decoder_residual", "encoder_residual", "memory", "logits"])
    weights = corrector.output_weights()
    end = weights.read("decoder", found["decoder_residual"][-1])
    np.testing.assert_allclose(end @ weights.vocabulary.T + weights.bias, found["logits"], atol=1e-4)
    memory = weights.read("encoder", found["encoder_residual"][-1])
    np.testing.assert_allclose(memory, found["memory"], atol=1e-5)


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


def test_jamo_while_writing_are_the_sums_over_the_characters_that_have_them(corrector, decided):
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


def test_jamo_while_reading_are_the_softmax_of_the_products_with_their_vectors(corrector, decided):
    weights = corrector.output_weights()
    stream = corrector.taps(SOURCE, TARGET, ["encoder_residual"])["encoder_residual"][-1]
    for number, part in enumerate(JAMO):
        shares = np.exp(weights.read("encoder", stream) @ weights.jamo[part].T)
        shares /= shares.sum(axis=-1, keepdims=True)
        found = decided.jamo[f"encoder {part}"]
        for place, character in enumerate([*SOURCE, "</s>"]):
            if not hangul.is_syllable(character):
                assert found.likeliest[-1, place] == -1 and np.isnan(found.probability[-1, place])
                continue
            assert found.likeliest[-1, place] == shares[place].argmax()
            assert found.probability[-1, place] == pytest.approx(shares[place].max(), abs=1e-4)
            wanted = shares[place, hangul.indices(character)[number]]
            assert found.expected[-1, place] == pytest.approx(wanted, abs=1e-4)
