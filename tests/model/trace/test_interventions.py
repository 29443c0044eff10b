"""Named activations of a pass: equal in the NumPy walk, in Keras and independently."""

from dataclasses import replace

import numpy as np
import pytest

from model.activations.walk import ActivationWalk
from model.analysis.building_blocks import softmax
from model.correction.corrector import Corrector
from model.network.networks import build_network
from model.stored.config import MASKED_LOGIT, Seq2SeqConfig
from model.text.tokenizer import START_ID
from model.trace.interventions import TAPS, Head, Intervention, Projections
from tests.random_weights import equal_networks

SENTENCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"


# 200 and 5000 are syllables outside the vocabulary, which have a meaning by their jamo alone.
SOURCE_IDS, WRITTEN_IDS = np.array([5, 9, 200, 12, 30, 5000, 4, 3]), np.array([8, 6, 11, 14, 9, 3])


@pytest.fixture(scope="module", params=[True, False], ids=["norm first", "norm last"])
def both(request, tiny_network, tiny_tokenizer):
    """(Keras's network, all activations of the walk, all of the independent pass), of one sentence with B =
    1.
    """
    config = replace(tiny_network.config, norm_first=request.param)
    network, plain = equal_networks(config, tiny_tokenizer)
    walk = ActivationWalk(config, plain._features, plain._weights)
    found = {
        name: array[None]
        for name, array in walk.taps(SOURCE_IDS.tolist(), WRITTEN_IDS.tolist(), TAPS).items()
    }
    memory, read = plain.encode(SOURCE_IDS[None], TAPS)
    _, written = plain.decode(np.array([[START_ID, *WRITTEN_IDS[:-1]]]), memory, TAPS)
    return network, found, read | written


def test_every_tap_has_the_shape_that_its_line_says(both):
    network, found, _ = both
    layers, heads, width = network.config.num_layers, network.config.num_heads, network.config.d_model
    sizes = {"B": 1, "L": layers, "2L": 2 * layers, "2L+1": 2 * layers + 1, "3L": 3 * layers}
    sizes |= {
        "3L+1": 3 * layers + 1,
        "H": heads,
        "S": len(SOURCE_IDS),
        "T": len(WRITTEN_IDS),
        "D": width,
        "D/H": width // heads,
    }
    sizes["V"] = network.config.vocab_size
    assert found.keys() == TAPS.keys()
    for name, array in found.items():
        assert array.shape == tuple(sizes[letter] for letter in TAPS[name].strip("()").split(", ")), name


@pytest.mark.parametrize("name", TAPS)
def test_the_network_in_numpy_hands_out_the_same(both, name):
    _, found, plain = both
    np.testing.assert_allclose(plain[name], found[name], atol=2e-5)


def test_the_walk_is_the_pass_of_keras(both):
    network, found, _ = both
    expected = network.full_pass(SOURCE_IDS[None], np.array([[START_ID, *WRITTEN_IDS[:-1]]]))
    for name in expected._fields:
        np.testing.assert_allclose(found[name], getattr(expected, name), atol=2e-5)


def test_a_corrector_hands_out_one_sentence(tiny_corrector):
    found = tiny_corrector.taps(SENTENCE, TARGET, ["cross_attention", "decoder_residual", "decoder_output"])
    trace = tiny_corrector.trace(SENTENCE, TARGET)
    np.testing.assert_allclose(found["cross_attention"], trace.cross_attention, atol=1e-6)
    stream, added = found["decoder_residual"], found["decoder_output"]
    assert stream.shape == (7, len(TARGET) + 1, 16)
    np.testing.assert_allclose(stream[0] + added.sum(axis=0), stream[-1], atol=1e-5)


def test_an_intervention_reaches_the_taps(tiny_corrector):
    names = ["cross_heads", "cross_attention", "decoder_residual", "decoder_output"]
    plain = tiny_corrector.taps(SENTENCE, TARGET, names)
    nothing = tiny_corrector.taps(SENTENCE, TARGET, names, Intervention())
    for name in names:
        np.testing.assert_allclose(nothing[name], plain[name], atol=1e-5)
    off = Intervention(off=frozenset([Head("cross_attention", 1, 0)]))
    found = tiny_corrector.taps(SENTENCE, TARGET, names, off)
    assert (found["cross_heads"][1, 0] == 0).all() and found["cross_heads"][1, 1].any()
    stream = found["decoder_residual"]
    before = plain["decoder_residual"][:5]  # encoder-decoder attention of layer 2 is sub-layer 5 of 6
    np.testing.assert_allclose(stream[:5], before, atol=1e-5)
    assert np.abs(stream[5:] - plain["decoder_residual"][5:]).max() > 1e-3
    np.testing.assert_allclose(stream[0] + found["decoder_output"].sum(axis=0), stream[-1], atol=1e-5)


@pytest.fixture(scope="module")
def recurrent(tiny_tokenizer):
    config = Seq2SeqConfig(tiny_tokenizer.vocab_size, 16)
    return Corrector("tiny", build_network(config, tiny_tokenizer), tiny_tokenizer, "0")


def test_the_recurrent_network_hands_out_its_one_attention(recurrent):
    found = recurrent.taps(SENTENCE, TARGET, recurrent.config.taps)
    assert tuple(found) == recurrent.config.taps
    np.testing.assert_allclose(
        found["cross_attention"] @ found["cross_value"], found["cross_heads"], atol=1e-5
    )
    np.testing.assert_allclose(
        found["cross_attention"], recurrent.trace(SENTENCE, TARGET).cross_attention, atol=1e-6
    )


def test_what_a_network_lacks_is_named(recurrent, tiny_corrector):
    with pytest.raises(ValueError, match=r"a seq2seq has no taps \['encoder_residual', 'decoder_heads'\]"):
        recurrent.taps(SENTENCE, TARGET, ["encoder_residual", "cross_key", "decoder_heads"])
    with pytest.raises(ValueError, match="interventions need a transformer, received a seq2seq"):
        recurrent.taps(SENTENCE, TARGET, ["cross_key"], Intervention())
    for intervention in (None, Intervention()):
        with pytest.raises(ValueError, match=r"a transformer has no taps \['residual'\]"):
            tiny_corrector.taps(SENTENCE, TARGET, ["residual"], intervention)


@pytest.fixture(scope="module", params=["transformer", "seq2seq"])
def corrector(request, tiny_corrector, recurrent):
    return tiny_corrector if request.param == "transformer" else recurrent


def weights_of(found: Projections, mask: np.ndarray) -> np.ndarray:
    logits = found.query @ found.key.swapaxes(-1, -2) / np.sqrt(found.query.shape[-1])
    return softmax(np.where(mask, logits, MASKED_LOGIT))


def test_the_weights_follow_from_queries_and_keys(corrector):
    trace = corrector.trace(SENTENCE, TARGET)
    found = corrector.projections(SENTENCE, TARGET)
    assert tuple(found) == trace.kinds
    for kind, projections in found.items():
        weights = trace.attention(kind)
        mask = np.ones(weights.shape[2:], bool)
        if kind == "decoder_attention":
            mask = np.tril(mask)
        assert projections.query.shape[:3] == weights.shape[:3]
        np.testing.assert_allclose(weights_of(projections, mask), weights, atol=1e-5)


def test_padding_adds_rows_and_changes_no_other(corrector):
    alone, padded = (corrector.projections(SENTENCE, TARGET, padding) for padding in (0, 3))
    for kind, projections in padded.items():
        for name in ("query", "key", "value"):
            one, other = getattr(alone[kind], name), getattr(projections, name)
            assert other.shape[2] == one.shape[2] + 3
            np.testing.assert_allclose(other[:, :, : one.shape[2]], one, atol=1e-5)


def test_less_than_no_padding_is_refused(tiny_corrector):
    with pytest.raises(ValueError, match="padding should be 0 or more, received -1"):
        tiny_corrector.projections(SENTENCE, TARGET, -1)
