"""``laboratory_of`` a Keras network that is a decoder alone, against the same done by hand."""

import keras
import numpy as np
import pytest
from keras import ops

from examples.keras_networks import DecoderAlone
from model import Intervention, laboratory_of, trace_keras
from model.analysis import contrast_of_row, contribution, contribution_rows
from model.analysis.contributions import methods_of
from model.trace.interventions import Head
from tests.model.adapters.test_keras import Mixed
from tests.model.adapters.test_keras_laboratory import LETTERS

PROMPT, WRITTEN, ROW = "cab", "dc", 1
IDS = (
    [1, *LETTERS.encode_source(PROMPT)],
    LETTERS.encode_target(WRITTEN),
)  # the start mark is the first token of the prompt
HEAD = Head("decoder_attention", 0, 1)


@pytest.fixture
def model():
    keras.utils.set_random_seed(3)
    made = DecoderAlone()
    laboratory_of(made, LETTERS)  # its first pass makes the weights
    for weights in made.weights:
        weights.assign(weights * 2)  # as they are made, every row looks at all tokens alike
    return made


@pytest.fixture
def lab(model):
    return laboratory_of(model, LETTERS)


def logits(lab, intervention: Intervention) -> np.ndarray:
    return lab.laboratory.pass_over([IDS[0]], [IDS[1]], [intervention]).logits[0]


def test_without_a_change_it_is_the_pass_that_trace_keras_shows(model, lab):
    whole = [*IDS[0], *IDS[1]]
    found, plain = lab.trace(PROMPT, WRITTEN), trace_keras(model, whole[:-1])
    np.testing.assert_allclose(found.decoder_attention, plain.decoder_attention, atol=1e-6)
    np.testing.assert_allclose(found.log_probabilities[:-1], plain.log_probabilities[:-1], atol=1e-4)
    assert found.prompt == 4 and found.decoder_input_tokens == ("<s>", "c", "a", "b", "d", "c")
    assert found.target_tokens[3:] == ("d", "c", "</s>") and found.target_spans[3] == (3, 4)
    own = ops.convert_to_numpy(model(np.array([whole[:-1]], "int32")))[0, 3:]
    np.testing.assert_allclose(logits(lab, Intervention()), own, atol=1e-5)


def test_a_head_that_is_off_puts_out_zeros(model, lab):
    found = logits(lab, Intervention(off={HEAD}))
    kernel = model.attention._output_dense.kernel  # (H, D/H, D)
    kernel.assign(kernel * (np.arange(4) != HEAD.head)[:, None, None])
    np.testing.assert_allclose(found, logits(lab, Intervention()), atol=1e-5)


def test_what_is_left_out_is_not_looked_at(lab):
    for gone, place in ((Intervention(without_source={1}), 1), (Intervention(without_target={1}), 4)):
        weights = lab.trace_under(PROMPT, WRITTEN, gone).decoder_attention
        assert not weights[..., place].any()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_replaced_weights_are_used_and_shown(lab):
    rows = np.full((6, 6), np.nan, np.float32)
    rows[4] = np.eye(6)[2]
    change = Intervention(weights={HEAD: rows})
    np.testing.assert_allclose(lab.attention_under(PROMPT, WRITTEN, HEAD, [change])[0][4], rows[4], atol=1e-6)
    assert np.abs(logits(lab, change) - logits(lab, Intervention())).max() > 1e-4


def test_its_methods_and_all_rows(lab):
    assert methods_of(lab) == ("attention", "rollout", "gradient", "integrated_gradients", "occlusion")
    contrast = contrast_of_row(lab, PROMPT, WRITTEN, ROW)
    step, asked = 1e-2, (contrast.row, contrast.written, contrast.instead)
    found = lab.laboratory.slopes(*IDS, asked, [1 - step, 1.0, 1 + step])
    total = found.source.sum(-1) + found.target.sum(-1)  # the derivative by one factor of all embeddings
    assert total[1] == pytest.approx((found.score[2] - found.score[0]) / (2 * step), rel=0.02, abs=1e-3)
    source, before = contribution_rows(lab, PROMPT, WRITTEN, "gradient")
    one = contribution(lab, PROMPT, WRITTEN, contrast, "gradient")
    np.testing.assert_allclose(source[ROW], one.source, atol=1e-5)
    np.testing.assert_allclose(before[ROW, : ROW + 1], one.before, atol=1e-5)


def test_what_it_writes_is_its_likeliest_token_each_time(model, lab):
    (written,) = lab.written_under(PROMPT, [Intervention()])
    ids = [*IDS[0]]
    for _ in range(3):
        ids.append(int(ops.convert_to_numpy(model(np.array([ids], "int32")))[0, -1].argmax()))
    assert written.startswith(LETTERS.decode_written(ids[4:]))


class Tagger(DecoderAlone):
    """Each of its rows sees all tokens."""

    def call(self, ids):
        state = self.embedding(ids)
        return self.out(self.attention(state, state))


def test_what_looks_ahead_writes_nothing():
    with pytest.raises(ValueError, match="looks ahead"):
        laboratory_of(Tagger(), LETTERS)


def test_heads_of_fused_attention_can_be_off_too():
    keras.utils.set_random_seed(3)
    lab = laboratory_of(Mixed(), LETTERS)
    assert lab.laboratory.sizes["decoder_attention"].layers == 3
    embedding = lab.laboratory.model.embedding.embeddings
    embedding.assign(embedding * 30)  # as they are made, every row looks at all tokens alike
    plain = logits(lab, Intervention())
    for layer in range(3):
        off = Intervention(off={Head("decoder_attention", layer, head) for head in range(4)})
        assert np.abs(logits(lab, off) - plain).max() > 1e-4
