"""``laboratory_of`` a Keras network, against the same done by hand."""

from functools import cache

import keras
import numpy as np
import pytest

from engine import OwnModelError
from engine.own_model import load
from engine.records import LIVE
from examples.keras_networks import BahdanauDecoder, HandWrittenTransformer, OfKerasLayers
from model import Intervention, Vocabulary, laboratory_of, trace_keras
from model.analysis import contrast_of_row, contribution, contribution_rows, head_effects
from model.analysis.contributions import methods_of
from model.trace.interventions import Head

LETTERS = Vocabulary(
    encode=lambda text: [ord(letter) - ord("a") + 3 for letter in text],
    decode=lambda ids: "".join(chr(each - 3 + ord("a")) for each in ids),
    start=1,
    end=2,
)
SOURCE, TARGET, ROW = "cabd", "bca", 1


@cache  # opening a laboratory takes Keras a dozen passes: one is enough for who only asks
def network(make=HandWrittenTransformer):
    keras.utils.set_random_seed(3)
    model = make()
    laboratory_of(model, LETTERS)  # its first pass makes the weights
    for weights in model.weights:
        weights.assign(weights * 2)  # as they are made, every row looks at all tokens alike
    return model


@cache
def laboratory(make=HandWrittenTransformer):
    return laboratory_of(network(make), LETTERS)


@pytest.fixture(params=[HandWrittenTransformer, OfKerasLayers])
def lab(request):
    return laboratory(request.param)


@pytest.fixture
def model():
    """Its weights may be changed; the next test finds them as they were."""
    before = network().get_weights()
    yield network()
    network().set_weights(before)


def logs(lab, intervention: Intervention) -> np.ndarray:
    return lab.trace_under(SOURCE, TARGET, intervention).log_probabilities


def test_without_a_change_it_is_the_pass_that_trace_keras_shows(lab):
    found = lab.trace(SOURCE, TARGET)
    plain = trace_keras(
        lab.laboratory.model, LETTERS.encode_source(SOURCE), [1, *LETTERS.encode_target(TARGET)]
    )
    for kind in plain.kinds:
        np.testing.assert_allclose(found.attention(kind), plain.attention(kind), atol=1e-6)
    np.testing.assert_allclose(found.log_probabilities, plain.log_probabilities, atol=1e-4)
    assert found.target_tokens == ("b", "c", "a", "</s>") and found.target_spans[1] == (1, 2)


def test_a_head_that_is_off_puts_out_zeros(model):
    found = logs(laboratory(), Intervention(off={("cross_attention", 1, 1)}))
    out = model.decoder[1][1].out
    out.kernel.assign(out.kernel * (np.arange(8) < 4)[:, None])  # the second head's part of the projection
    np.testing.assert_allclose(found, logs(laboratory_of(model, LETTERS), Intervention()), atol=1e-5)


def test_what_is_left_out_is_not_looked_at(lab):
    trace = lab.trace_under(SOURCE, TARGET, Intervention(without_source={1}))
    assert not trace.cross_attention[..., 1].any() and not trace.encoder_attention[..., 1].any()
    np.testing.assert_allclose(trace.cross_attention.sum(-1), 1, atol=1e-5)


def test_a_head_that_looked_at_nothing_else_looks_at_what_is_left(model):
    """It is hidden before the softmax, since nothing would be left behind it."""
    lab, plain = laboratory_of(model, LETTERS), np.zeros(1)
    while not (plain == 1).any():  # each library begins with other weights
        for attention in (*model.encoder, *(each for pair in model.decoder for each in pair)):
            attention.query.kernel.assign(attention.query.kernel * 2)
        plain = lab.trace_under(SOURCE, TARGET, Intervention()).encoder_attention
    *_, gone = np.argwhere(plain == 1)[0]  # in float32 nothing is left for the others
    found = lab.trace_under(SOURCE, TARGET, Intervention(without_source={int(gone)}))
    assert not found.encoder_attention[..., gone].any() and not found.cross_attention[..., gone].any()
    np.testing.assert_allclose(found.encoder_attention.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(found.cross_attention.sum(-1), 1, atol=1e-5)


def test_a_row_whose_only_token_is_left_out_sees_nothing(lab):
    found = lab.trace_under(SOURCE, TARGET, Intervention(without_target={0})).decoder_attention
    assert not found[:, :, 0].any()  # what comes later stays masked
    np.testing.assert_allclose(found[:, :, 1:].sum(-1), 1, atol=1e-5)


def test_replaced_weights_are_used_and_shown(lab):
    head = Head("cross_attention", 0, 1)
    rows = np.full((4, 4), np.nan, np.float32)
    rows[ROW] = np.eye(4)[2]
    used = lab.attention_under(SOURCE, TARGET, head, [Intervention(weights={head: rows})])[0]
    np.testing.assert_allclose(used[ROW], rows[ROW], atol=1e-6)
    assert np.abs(logs(lab, Intervention(weights={head: rows})) - logs(lab, Intervention()))[ROW] > 1e-6


def test_gradients_are_the_limit_of_differences(lab):
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    asked = contrast.row, contrast.written, contrast.instead
    source, target = LETTERS.encode_source(SOURCE), LETTERS.encode_target(TARGET)
    step = 1e-2
    found = lab.laboratory.slopes(source, target, asked, [1 - step, 1.0, 1 + step])
    total = found.source.sum(-1) + found.target.sum(-1)  # the derivative by one factor of all embeddings
    assert total[1] == pytest.approx((found.score[2] - found.score[0]) / (2 * step), rel=0.02, abs=1e-3)
    odds = lab.logit_differences(SOURCE, TARGET, contrast, [Intervention()]).differences[0]
    assert found.score[1] == pytest.approx(odds, abs=1e-4)


def test_the_questions_of_model_analysis_are_answered():
    lab = laboratory()
    assert methods_of(lab) == ("attention", "rollout", "gradient", "integrated_gradients", "occlusion")
    (change, *_) = lab.changes("abcd", "abca")
    assert len(head_effects(lab, "abcd", "abca", change).heads) == 2 * 2 * 3
    source, before = contribution_rows(lab, SOURCE, TARGET, "occlusion")
    assert source.shape == (4, 4) and before.shape == (4, 4)
    one = contribution(lab, SOURCE, TARGET, contrast_of_row(lab, SOURCE, TARGET, ROW), "occlusion")
    np.testing.assert_allclose(source[ROW], one.source, atol=1e-6)


def test_a_text_without_an_end_is_cut_and_told(model):
    model.out.bias.assign(np.float32([0, 0, -1e9, *[0] * (model.out.bias.shape[0] - 3)]))  # 2 is the end mark
    lab = laboratory_of(model, LETTERS, longest=8)
    with pytest.warns(UserWarning, match="wrote no end mark in 8 tokens"):
        assert len(lab.correct("cab").text) > len("cab")
    assert lab.written_under("cab", [Intervention()]) == [None]


def test_weights_that_are_no_numbers_are_refused(model):
    lab = laboratory_of(model, LETTERS)
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    model.out.bias.assign(model.out.bias * np.nan)
    for ask in (lambda: lab.correct("cab"), lambda: contribution(lab, SOURCE, TARGET, contrast, "gradient")):
        with pytest.raises(ValueError, match="the network computes NaN"):
            ask()


def test_a_network_without_layers_of_attention_is_told_so():
    with pytest.raises(ValueError, match="the tokenizer should be a Vocabulary, received list"):
        laboratory_of(HandWrittenTransformer(), ["a", "b"])
    with pytest.raises(ValueError, match="should be a Transformer, but its pass has no encoder_attention"):
        laboratory_of(BahdanauDecoder(), LETTERS)
    with pytest.raises(ValueError, match="should be of transformers or Keras, received object"):
        laboratory_of(object(), LETTERS)


def live():
    return laboratory_of(network(), LETTERS).that(task="rewrite", examples=["cab"])


def test_it_answers_live_in_the_app():
    corrector = load("tests.model.adapters.test_keras_laboratory:live")
    assert corrector.config.described.task == "rewrite" and corrector.fingerprint == LIVE
    contrast = contrast_of_row(corrector, SOURCE, TARGET, ROW)
    found = contribution(corrector, SOURCE, TARGET, contrast, "gradient")
    assert found.source.shape == (4,)
    with pytest.raises(OwnModelError, match="trace_under raised ValueError"):
        corrector.trace_under(SOURCE, TARGET, Intervention(off={("cross_attention", 9, 0)}))
