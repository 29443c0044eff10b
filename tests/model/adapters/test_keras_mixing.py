"""What *norms*, ALTI and *value zeroing* are given of a Keras decoder alone, against what its own layers compute."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from examples.keras_networks import Block, Causal, Gated, WholeDecoder, grouped
from model import laboratory_of
from model.adapters.capture import replaced
from model.analysis import contrast_of_row, contribution
from model.analysis.attribution_methods import METHODS, added_vectors
from model.analysis.contributions import methods_of
from tests.model.adapters.test_keras_decoder import IDS, PROMPT, ROW, WRITTEN
from tests.model.adapters.test_keras_laboratory import LETTERS

BUILDS = {
    "norms behind": {},
    "norms before": {"norm_first": True},
    "gated, with shared keys": {"norm_first": True, "attention": grouped, "feed_forward": Gated},
}
READ = [*IDS[0], *IDS[1][:-1]]
PLACE = 1


@pytest.fixture(params=BUILDS, scope="module")
def lab(request):
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


def test_all_methods_are_defined(lab):
    assert methods_of(lab) == tuple(METHODS)
    contrast = contrast_of_row(lab, PROMPT, WRITTEN, ROW)
    for method in ("norms", "alti", "value_zeroing"):
        found = contribution(lab, PROMPT, WRITTEN, contrast, method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)


def test_what_the_keys_add_is_the_output_of_the_attention(lab):
    """Kobayashi et al. 2020, equation 3: the sum over all keys, and the bias."""
    insides, model = lab.laboratory.insides(*IDS), lab.laboratory.model
    for number, block in enumerate(model.blocks):
        added = added_vectors(insides, "decoder_attention", number).sum(1)
        found = added + insides.output_biases["decoder_attention"][number]
        np.testing.assert_allclose(found, outputs(model, block.attentions[0]), atol=1e-4)


def test_a_zeroed_value_changes_what_its_layer_puts_out(lab):
    model = lab.laboratory.model
    block = model.blocks[1]
    values = block.attentions[0].inner._value_dense
    plain, project = outputs(model, block), values.call
    kept = ops.convert_to_tensor(np.float32(np.arange(len(READ)) != PLACE)[None, :, None, None])
    with replaced(values, "call", lambda *args, **kwargs: project(*args, **kwargs) * kept):
        zeroed = outputs(model, block)
    norms = np.linalg.norm(plain, axis=-1) * np.linalg.norm(zeroed, axis=-1)
    found = lab.laboratory.zeroed(*IDS).decoder
    np.testing.assert_allclose(found[1, :, PLACE], 1 - (plain * zeroed).sum(-1) / norms, atol=1e-5)
    assert found.max() > 1e-3


def test_a_network_that_scales_what_it_adds_has_no_such_methods():
    class Scaled(Block):
        def around(self, number, x, sublayer):
            return self.norms[number](x + 0.5 * sublayer(x))

    keras.utils.set_random_seed(3)
    model = WholeDecoder()
    model.blocks = [Scaled(False, lambda: Causal(grouped), Gated, layers.LayerNormalization, False)]
    lab = laboratory_of(model, LETTERS)
    assert "norms" not in methods_of(lab)
    with pytest.raises(ValueError, match="not known from outside"):
        lab.laboratory.insides(*IDS)
