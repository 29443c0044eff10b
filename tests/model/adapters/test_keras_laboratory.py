"""``laboratory_of`` Keras networks: interventions and gradients against the same by hand."""

from collections.abc import Iterator
from functools import cache

import keras
import numpy as np
import pytest
from keras import layers, ops

from engine.own_model import load
from engine.records import LIVE, OwnModelError
from examples.keras_networks import (
    LETTERS,
    BahdanauDecoder,
    Block,
    DecoderAlone,
    Gated,
    HandWrittenTransformer,
    OfKerasLayers,
    WholeDecoder,
    grouped,
)
from model import Intervention, laboratory_of, trace_keras
from model.activations.token_network import zero_values
from model.adapters.capture import replaced
from model.analysis import contrast_of_row, contribution
from model.analysis.attribution_methods import METHODS
from model.analysis.contrasts import Edit
from model.analysis.contributions import methods_of
from model.trace.interventions import Head
from tests.model.adapters.test_keras import Mixed

SOURCE, TARGET, ROW = "cabd", "bca", 1
PROMPT, WRITTEN = "cab", "dc"
IDS = [1, *LETTERS.encode_source(PROMPT)], LETTERS.encode_target(WRITTEN)  # the start mark begins the prompt
HEAD = Head("decoder_attention", 0, 1)
PAIR = (
    (SOURCE, TARGET),
    (LETTERS.encode_source(SOURCE), LETTERS.encode_target(TARGET)),
    Head("cross_attention", 0, 1),
    ROW,
)
CASES = {HandWrittenTransformer: PAIR, OfKerasLayers: PAIR, DecoderAlone: ((PROMPT, WRITTEN), IDS, HEAD, 4)}


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


def restored(make) -> Iterator[keras.Model]:
    """The network of ``make``, whose weights may change; the next test has the former ones."""
    before = network(make).get_weights()
    yield network(make)
    network(make).set_weights(before)


@pytest.fixture
def model():
    yield from restored(HandWrittenTransformer)


@pytest.fixture
def decoder():
    yield from restored(DecoderAlone)


def logs(lab, intervention: Intervention) -> np.ndarray:
    return lab.trace_under(SOURCE, TARGET, intervention).log_probabilities


def logits(lab, intervention: Intervention) -> np.ndarray:
    return lab.laboratory.pass_over([IDS[0]], [IDS[1]], [intervention]).logits[0]


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
    assert not found[:, :, 0].any()  # later tokens stay masked
    np.testing.assert_allclose(found[:, :, 1:].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("make", CASES)
def test_replaced_weights_are_used_and_shown(make):
    lab, (texts, _, head, row) = laboratory(make), CASES[make]
    rows = np.full(lab.trace(*texts).attention(head.kind).shape[2:], np.nan, np.float32)
    rows[row] = np.eye(len(rows))[2]
    change = Intervention(weights={head: rows})
    np.testing.assert_allclose(lab.attention_under(*texts, head, [change])[0][row], rows[row], atol=1e-6)
    moved = np.abs(lab.trace_under(*texts, change).log_probabilities - lab.trace(*texts).log_probabilities)
    assert moved[row] > 1e-6


@pytest.mark.parametrize("make", CASES)
def test_gradients_are_the_limit_of_differences(make):
    lab, step, (texts, ids, *_) = laboratory(make), 1e-2, CASES[make]
    contrast = contrast_of_row(lab, *texts, ROW)
    asked = contrast.row, contrast.written, contrast.instead
    found = lab.laboratory.slopes(*ids, asked, [1 - step, 1.0, 1 + step])
    total = found.source.sum(-1) + found.target.sum(-1)  # the derivative by one factor of all embeddings
    assert total[1] == pytest.approx((found.score[2] - found.score[0]) / (2 * step), rel=0.02, abs=1e-3)
    odds = lab.logit_differences(*texts, contrast, [Intervention()]).differences[0]
    assert found.score[1] == pytest.approx(odds, abs=1e-4)


def test_a_text_without_an_end_is_cut_and_told(model):
    model.out.bias.assign(np.float32([0, 0, -1e9, *[0] * (model.out.bias.shape[0] - 3)]))  # 2 is the end mark
    lab = laboratory_of(model, LETTERS, longest=8)
    with pytest.warns(UserWarning, match="wrote no end mark in 8 tokens"):
        assert len(lab.correct("cab").text) > len("cab")
    assert lab.written_under("cab", [Intervention()]) == [None]


def test_weights_that_are_no_numbers_are_refused(model):
    lab = laboratory_of(model, LETTERS)
    edit = Edit(SOURCE, TARGET, contrast_of_row(lab, SOURCE, TARGET, ROW))
    model.out.bias.assign(model.out.bias * np.nan)
    for ask in (lambda: lab.correct("cab"), lambda: contribution(lab, edit, "gradient")):
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
    corrector = load(f"{__name__}:live")
    assert corrector.config.described.task == "rewrite" and corrector.fingerprint == LIVE
    contrast = contrast_of_row(corrector, SOURCE, TARGET, ROW)
    found = contribution(corrector, Edit(SOURCE, TARGET, contrast), "gradient")
    assert found.source.shape == (4,)
    with pytest.raises(OwnModelError, match="trace_under raised ValueError"):
        corrector.trace_under(SOURCE, TARGET, Intervention(off={("cross_attention", 9, 0)}))


def test_without_a_change_a_decoder_has_the_pass_that_trace_keras_shows(decoder):
    lab = laboratory(DecoderAlone)
    whole = [*IDS[0], *IDS[1]]
    found, plain = lab.trace(PROMPT, WRITTEN), trace_keras(decoder, whole[:-1])
    np.testing.assert_allclose(found.decoder_attention, plain.decoder_attention, atol=1e-6)
    np.testing.assert_allclose(found.log_probabilities[:-1], plain.log_probabilities[:-1], atol=1e-4)
    assert found.prompt == 4 and found.decoder_input_tokens == ("<s>", "c", "a", "b", "d", "c")
    assert found.target_tokens[3:] == ("d", "c", "</s>") and found.target_spans[3] == (3, 4)
    own = ops.convert_to_numpy(decoder(np.array([whole[:-1]], "int32")))[0, 3:]
    np.testing.assert_allclose(logits(lab, Intervention()), own, atol=1e-5)


def test_a_head_of_a_decoder_that_is_off_puts_out_zeros(decoder):
    lab = laboratory(DecoderAlone)
    found = logits(lab, Intervention(off={HEAD}))
    kernel = decoder.attention._output_dense.kernel  # (H, D/H, D)
    kernel.assign(kernel * (np.arange(4) != HEAD.head)[:, None, None])
    np.testing.assert_allclose(found, logits(lab, Intervention()), atol=1e-5)


def test_a_token_left_out_of_a_decoder_is_not_looked_at():
    for gone, place in ((Intervention(without_source={1}), 1), (Intervention(without_target={1}), 4)):
        weights = laboratory(DecoderAlone).trace_under(PROMPT, WRITTEN, gone).decoder_attention
        assert not weights[..., place].any()
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_a_decoder_writes_its_likeliest_token_each_time(decoder):
    (written,) = laboratory(DecoderAlone).written_under(PROMPT, [Intervention()])
    ids = [*IDS[0]]
    for _ in range(3):
        ids.append(int(ops.convert_to_numpy(decoder(np.array([ids], "int32")))[0, -1].argmax()))
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


BUILDS = {
    "norms behind": {},
    "gated, with shared keys": {"norm_first": True, "attention": grouped, "feed_forward": Gated},
}
READ = [*IDS[0], *IDS[1][:-1]]
PLACE = 1


@pytest.fixture(params=BUILDS, scope="module")
def whole(request):
    return whole_decoder(**BUILDS[request.param])


@cache
def whole_decoder(**built):
    keras.utils.set_random_seed(3)
    model = WholeDecoder(**built)
    model(np.array([READ], "int32"))
    for weights in model.weights:
        weights.assign(weights * 2)  # as they are made, every row looks at all tokens alike
    return laboratory_of(model, LETTERS)


def outputs(model, part) -> np.ndarray:
    """(N, D) output of a part of the model in one pass."""
    found, call = [], part.call

    def kept(*args, **kwargs):
        found.append(call(*args, **kwargs))
        return found[-1]

    with replaced(part, "call", kept):
        model(np.array([READ], "int32"))
    return ops.convert_to_numpy(found[0])[0]


def test_all_methods_of_a_whole_decoder_are_defined(whole):
    assert methods_of(whole) == tuple(METHODS)
    contrast = contrast_of_row(whole, PROMPT, WRITTEN, ROW)
    for method in ("norms", "alti", "value_zeroing"):
        found = contribution(whole, Edit(PROMPT, WRITTEN, contrast), method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)


def test_a_zeroed_value_changes_what_its_layer_puts_out(whole):
    model = whole.laboratory.model
    block = model.blocks[1]
    values = block.attentions[0]._value_dense
    plain, project = outputs(model, block), values.call
    kept = ops.convert_to_tensor(np.float32(np.arange(len(READ)) != PLACE)[None, :, None, None])
    with replaced(values, "call", lambda *args, **kwargs: project(*args, **kwargs) * kept):
        zeroed = outputs(model, block)
    norms = np.linalg.norm(plain, axis=-1) * np.linalg.norm(zeroed, axis=-1)
    found = zero_values(whole.patched, *IDS).decoder
    np.testing.assert_allclose(found[1, :, PLACE], 1 - (plain * zeroed).sum(-1) / norms, atol=1e-5)
    assert found.max() > 1e-3


def test_a_network_that_scales_what_it_adds_has_no_such_methods():
    class Scaled(Block):
        def around(self, number, x, sublayer):
            return self.norms[number](x + 0.5 * sublayer(x))

    keras.utils.set_random_seed(3)
    model = WholeDecoder()
    model.blocks = [Scaled(False, grouped, Gated, layers.LayerNormalization, False)]
    whole = laboratory_of(model, LETTERS)
    assert "norms" not in methods_of(whole)
    with pytest.raises(ValueError, match="method should be one of"):
        contribution(whole, Edit(PROMPT, WRITTEN, contrast_of_row(whole, PROMPT, WRITTEN, ROW)), "norms")
