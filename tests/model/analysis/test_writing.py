"""Who wrote it: the parts sum to the score, each is what an independent pass says, and what was planted is found."""

import doctest

import numpy as np
import pytest

from model.analysis.residual_stream import KINDS, direct_logit_attribution
from model.correction.corrector import Corrector
from model.network.loading import build_network
from model.stored.config import Seq2SeqConfig
from model.text.changes import find_changes
from model.trace import interventions as output_weights
from tests.planted import CAUSE, CODA, COPY, DECOY, FEED_FORWARD, RIGHT, ROW, WRONG

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
CHANGES = find_changes(SOURCE, TARGET)
TOLERANCE = 1e-4  # nats


def test_the_parts_sum_to_the_score_of_every_row_and_every_change(both):
    _, corrector, _ = both
    written = direct_logit_attribution(corrector, SOURCE, TARGET, CHANGES)
    assert len(written.questions) == len(TARGET) + 1 + len(CHANGES)
    trace = corrector.trace(SOURCE, TARGET)
    for number, contrast in enumerate(written.questions):
        assert abs(written.remainder(number)) < TOLERANCE
        if number <= len(TARGET):
            best, second = np.log(trace.alternative_probabilities[number][:2])
            first = trace.alternatives[number][0] == contrast.written_token
            if first:
                assert written.score[number] == pytest.approx(best - second, abs=TOLERANCE)


def test_the_network_in_numpy_gives_the_same_parts(both):
    _, *correctors = both
    one, other = (direct_logit_attribution(each, SOURCE, TARGET, CHANGES) for each in correctors)
    assert [each.written for each in one.questions] == [each.written for each in other.questions]
    for number in range(len(one.questions)):
        parts = zip(one.parts(number), other.parts(number), strict=True)
        assert all(a[:3] == b[:3] and a.nats == pytest.approx(b.nats, abs=TOLERANCE) for a, b in parts)


def without(network, found, sublayer: int, gone: np.ndarray) -> np.ndarray:
    """(T, V) logits of the pass whose sub-layer adds ``gone`` (T, D) less, all that follows it as it was: what other
    sub-layers add, and the scales of normalisations. Computed with the layers of Keras's network, sub-layer by sub-layer."""
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_wrote_what_is_missing_without_its_output(both, kind):
    network, corrector, _ = both
    written = direct_logit_attribution(corrector, SOURCE, TARGET, CHANGES)
    names = ["decoder_residual", "decoder_output", kind.replace("attention", "heads"), "logits"]
    found = corrector.taps(SOURCE, TARGET, names)
    for layer, head in np.ndindex(2, 2):
        kernel = np.asarray(network.decoder_blocks[layer].attentions[kind].output_projection.kernel)
        depth = kernel.shape[0] // 2
        gone = found[names[2]][layer, head] @ kernel[head * depth : (head + 1) * depth]  # (T, D)
        logits = without(network, found, 3 * layer + KINDS.index(kind), gone)
        for number, asked in enumerate(written.questions):
            row = [found["logits"][asked.row], logits[asked.row]]
            plain, less = (each[asked.written] - each[asked.instead] for each in row)
            told = written.by_key[kind][number, layer, head].sum()
            assert told == pytest.approx(plain - less, abs=TOLERANCE)


def test_a_feed_forward_network_wrote_what_is_missing_without_it(both):
    network, corrector, _ = both
    written = direct_logit_attribution(corrector, SOURCE, TARGET)
    found = corrector.taps(SOURCE, TARGET, ["decoder_residual", "decoder_output", "logits"])
    for layer in range(2):
        logits = without(network, found, 3 * layer + 2, found["decoder_output"][3 * layer + 2])
        for number, asked in enumerate(written.questions):
            row = [found["logits"][asked.row], logits[asked.row]]
            plain, less = (each[asked.written] - each[asked.instead] for each in row)
            assert written.feed_forward[number, layer] == pytest.approx(plain - less, abs=TOLERANCE)


def test_nothing_is_written_by_looking_where_the_mask_hides(both):
    _, corrector, _ = both
    maps = direct_logit_attribution(corrector, SOURCE, TARGET).maps("decoder_attention")
    assert maps.shape == (2, 2, len(TARGET) + 1, len(TARGET) + 1)
    assert (maps[..., *np.triu_indices(len(TARGET) + 1, 1)] == 0).all()


def test_exactly_what_was_planted_is_found(planted_writer):
    (change,) = find_changes(WRONG, RIGHT)
    written = direct_logit_attribution(planted_writer, WRONG, RIGHT, [change])
    (number,) = written.changes
    assert written.questions[number].row == ROW
    parts = {part[:3]: part.nats for part in written.parts(number) if abs(part.nats) > 0.01}
    assert parts.keys() == {tuple(COPY), tuple(CODA), ("feed_forward", FEED_FORWARD, None)}
    assert parts[tuple(COPY)] < 0  # it copies what was typed
    assert parts[tuple(CODA)] > 0 and parts["feed_forward", FEED_FORWARD, None] > 0
    assert sum(parts.values()) == pytest.approx(written.score[number], abs=0.01)


def test_each_head_wrote_by_looking_where_it_was_planted_to_look(planted_writer):
    written = direct_logit_attribution(planted_writer, WRONG, RIGHT, find_changes(WRONG, RIGHT))
    maps = written.maps("cross_attention")
    for head, column in ((COPY, ROW), (CODA, CAUSE)):
        row = np.abs(maps[head.layer, head.head, ROW])
        assert row[column] > 1 and row.sum() == pytest.approx(row[column], abs=1e-3)
    trace = planted_writer.trace(WRONG, RIGHT)
    assert trace.cross_attention[DECOY.layer, DECOY.head, ROW, CAUSE] > 0.99  # it looks,
    assert (maps[DECOY.layer, DECOY.head] == 0).all()  # and writes nothing


def test_a_picture_of_the_sentence_asks_about_the_change_where_one_begins(planted_writer):
    (change,) = find_changes(WRONG, RIGHT)
    written = direct_logit_attribution(planted_writer, WRONG, RIGHT, [change])
    assert written.rows() == [0, len(RIGHT) + 1, *range(2, len(RIGHT) + 1)]
    plain = direct_logit_attribution(planted_writer, WRONG, RIGHT)
    assert plain.rows() == list(range(len(RIGHT) + 1)) and plain.changes == ()


def test_a_network_without_a_residual_stream_is_named(tiny_tokenizer):
    network = build_network(Seq2SeqConfig(tiny_tokenizer.vocab_size, 16), tiny_tokenizer)
    corrector = Corrector("tiny", network, tiny_tokenizer, "0")
    with pytest.raises(ValueError, match="a residual stream needs a transformer, received a seq2seq"):
        corrector.output_weights()
    with pytest.raises(ValueError, match="a residual stream needs a transformer, received a seq2seq"):
        direct_logit_attribution(corrector, SOURCE, TARGET)


def test_the_output_weights_give_the_logits_of_a_pass(both):
    _, corrector, plain = both
    found = corrector.taps(SOURCE, TARGET, ["decoder_residual", "encoder_residual", "memory", "logits"])
    for weights in (corrector.output_weights(), plain.output_weights()):
        end = weights.read("decoder", found["decoder_residual"][-1])
        np.testing.assert_allclose(end @ weights.vocabulary.T + weights.bias, found["logits"], atol=1e-4)
        memory = weights.read("encoder", found["encoder_residual"][-1])
        np.testing.assert_allclose(memory, found["memory"], atol=1e-5)


def test_the_examples_of_the_docstrings_run():
    assert doctest.testmod(output_weights).failed == 0
