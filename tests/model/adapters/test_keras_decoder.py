"""``laboratory_of`` a Keras network that is a decoder alone, against its own layers and the same computed by hand."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from examples.keras_networks import Block, Causal, DecoderAlone, Gated, WholeDecoder, grouped
from model import Intervention, laboratory_of, trace_keras
from model.adapters.capture import replaced
from model.analysis import contrast_of_row, contribution, contribution_rows
from model.analysis.attribution_methods import METHODS, added_vectors
from model.analysis.contributions import methods_of
from model.trace.interventions import Head
from tests.model.adapters.test_keras import Mixed
from tests.model.adapters.test_keras_laboratory import LETTERS

PROMPT, WRITTEN, ROW = "cab", "dc", 1
IDS = [1, *LETTERS.encode_source(PROMPT)], LETTERS.encode_target(WRITTEN)  # the start mark begins the prompt
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


BUILDS = {
    "norms behind": {},
    "norms before": {"norm_first": True},
    "gated, with shared keys": {"norm_first": True, "attention": grouped, "feed_forward": Gated},
}
READ = [*IDS[0], *IDS[1][:-1]]
PLACE = 1


@pytest.fixture(params=BUILDS, scope="module")
def whole(request):
    keras.utils.set_random_seed(3)
    model = WholeDecoder(**BUILDS[request.param])
    model(np.array([READ], "int32"))
    for weights in model.weights:
        weights.assign(weights * 2)  # as they are made, every row looks at all tokens alike
    return laboratory_of(model, LETTERS)


def outputs(model, part) -> np.ndarray:
    """(N, D): what ``part`` of a model puts out in one pass."""
    found, call = [], part.call

    def kept(*args, **kwargs):
        found.append(call(*args, **kwargs))
        return found[-1]

    with replaced(part, "call", kept):
        model(np.array([READ], "int32"))
    return ops.convert_to_numpy(found[0])[0]


def test_all_methods_are_defined(whole):
    assert methods_of(whole) == tuple(METHODS)
    contrast = contrast_of_row(whole, PROMPT, WRITTEN, ROW)
    for method in ("norms", "alti", "value_zeroing"):
        found = contribution(whole, PROMPT, WRITTEN, contrast, method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)


def test_what_the_keys_add_is_the_output_of_the_attention(whole):
    """Kobayashi et al. 2020, equation 3: the sum over all keys, and the bias."""
    insides, model = whole.laboratory.insides(*IDS), whole.laboratory.model
    for number, block in enumerate(model.blocks):
        added = added_vectors(insides, "decoder_attention", number).sum(1)
        found = added + insides.output_biases["decoder_attention"][number]
        np.testing.assert_allclose(found, outputs(model, block.attentions[0]), atol=1e-4)


def test_a_zeroed_value_changes_what_its_layer_puts_out(whole):
    model = whole.laboratory.model
    block = model.blocks[1]
    values = block.attentions[0].inner._value_dense
    plain, project = outputs(model, block), values.call
    kept = ops.convert_to_tensor(np.float32(np.arange(len(READ)) != PLACE)[None, :, None, None])
    with replaced(values, "call", lambda *args, **kwargs: project(*args, **kwargs) * kept):
        zeroed = outputs(model, block)
    norms = np.linalg.norm(plain, axis=-1) * np.linalg.norm(zeroed, axis=-1)
    found = whole.laboratory.zeroed(*IDS).decoder
    np.testing.assert_allclose(found[1, :, PLACE], 1 - (plain * zeroed).sum(-1) / norms, atol=1e-5)
    assert found.max() > 1e-3


def test_a_network_that_scales_what_it_adds_has_no_such_methods():
    class Scaled(Block):
        def around(self, number, x, sublayer):
            return self.norms[number](x + 0.5 * sublayer(x))

    keras.utils.set_random_seed(3)
    model = WholeDecoder()
    model.blocks = [Scaled(False, lambda: Causal(grouped), Gated, layers.LayerNormalization, False)]
    whole = laboratory_of(model, LETTERS)
    assert "norms" not in methods_of(whole)
    with pytest.raises(ValueError, match="not known from outside"):
        whole.laboratory.insides(*IDS)
