"""Residual stream of Keras Transformers, read from one pass, against the values of Keras."""

from dataclasses import replace
from types import SimpleNamespace

import keras
import numpy as np
import pytest
from keras import layers

from engine.own_model import load
from engine.questions import own_config
from examples.keras_networks import (
    LETTERS,
    Block,
    ByHand,
    Gated,
    HandWrittenAttention,
    HandWrittenTransformer,
    WholeTransformer,
    forward,
)
from model import Intervention, laboratory_of
from model.activations.drafting import log_softmax
from model.activations.token_network import insides_of
from model.adapters.own_stream import OwnStream
from model.analysis import (
    AttentionCell,
    activation_patching,
    contrast_of_row,
    contribution,
    corrupted_by_text,
    decompose_attention_score,
    direct_logit_attribution,
    exchanges,
    find_circuit,
    logit_lens,
)
from model.analysis.attribution_methods import added_vectors
from model.analysis.contrasts import Edit
from model.analysis.contributions import methods_of
from model.analysis.path_patching import circuit_edges
from model.stored.config import STREAM
from model.trace.interventions import Head
from tests.model.adapters.test_keras_laboratory import BUILDS, ROW, SOURCE, TARGET, whole_decoder
from tests.silent_heads import silent_and_off


class Doubled(keras.layers.Dense):
    """A dense layer with a doubled output."""

    def call(self, x, training=None):
        return 2 * super().call(x)


def doubled():
    """A feed-forward network of other layers and another function than most."""
    return keras.Sequential([Doubled(8, activation="softsign"), Doubled(8)])


NETWORKS = {
    "by hand, with probabilities": {"attention": ByHand, "activation": "softmax", "feed_forward": doubled},
    "normalised first, gated": {"norm_first": True, "feed_forward": Gated, "norm": layers.RMSNormalization},
}
CLOSE = {"atol": 2e-3}
IDS = LETTERS.encode_source(SOURCE), LETTERS.encode_target(TARGET)


def network(**built):
    keras.utils.set_random_seed(5)
    model = WholeTransformer(**built)
    model((np.array([[3]]), np.array([[1]])))  # makes the weights
    for weights in model.weights:
        weights.assign(weights * 1.5 + 0.1 * keras.random.normal(weights.shape))
    return model


@pytest.fixture(scope="module", params=list(NETWORKS))
def lab(request):
    return laboratory_of(network(**NETWORKS[request.param]), LETTERS)


def test_the_walk_is_the_network_s_own_pass(lab):
    assert STREAM in lab.config.abilities and lab.why_no_stream == ""
    kinds = ("encoder_attention", "decoder_attention", "cross_attention")
    walked, trace = lab.patched.taps(*IDS, ["logits", *kinds]), lab.trace(SOURCE, TARGET)
    for kind in kinds:
        np.testing.assert_allclose(walked[kind], trace.attention(kind), atol=1e-4)
    logs = log_softmax(walked["logits"].astype(np.float64))
    np.testing.assert_allclose(logs[np.arange(len(logs)), IDS[1]], trace.log_probabilities, **CLOSE)


def test_a_head_without_output_is_a_head_that_is_off(lab):
    """Its numbers come from Keras, whose softmaxes are replaced."""
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    np.testing.assert_allclose(*silent_and_off(lab, (SOURCE, TARGET), IDS, contrast), **CLOSE)


def test_every_question_about_the_stream_is_answered(lab):
    written = direct_logit_attribution(lab, SOURCE, TARGET)
    assert max(abs(written.remainder(number)) for number in range(len(written.questions))) < 1e-3
    (score,) = lab.logit_differences(SOURCE, TARGET, written.questions[ROW], [Intervention()]).differences
    np.testing.assert_allclose(written.score[ROW], score, **CLOSE)
    decided = logit_lens(lab, SOURCE, TARGET)
    np.testing.assert_allclose(
        np.log(decided.written[-1]), lab.trace(SOURCE, TARGET).log_probabilities, **CLOSE
    )
    look = decompose_attention_score(
        lab, SOURCE, TARGET, AttentionCell(Head("cross_attention", 0, 1), ROW, 2)
    )
    assert abs(look.remainder()) < 1e-2 and look.ablations
    (change, *_) = lab.changes(SOURCE, TARGET)
    circuit = find_circuit(lab, Edit(SOURCE, TARGET, change))
    assert set(circuit.nodes) == set(lab.patched.nodes)
    if circuit.is_telling:
        assert circuit_edges(lab, Edit(SOURCE, TARGET, circuit.contrast), circuit).edges


def test_what_layers_hold_inside_gives_the_other_methods(lab):
    insides = insides_of(lab.patched, *IDS)
    taps = lab.patched.taps(*IDS, ["encoder_output", "decoder_output"])
    added = added_vectors(insides, "cross_attention", 0).sum(1) + insides.output_biases["cross_attention"][0]
    np.testing.assert_allclose(added, taps["decoder_output"][1], atol=1e-4)
    assert {"norms", "alti", "value_zeroing"} <= set(methods_of(lab))
    contrast = contrast_of_row(lab, SOURCE, TARGET, ROW)
    for method in ("norms", "alti"):
        found = contribution(lab, Edit(SOURCE, TARGET, contrast), method)
        assert found.source.sum() + found.before.sum() == pytest.approx(1, abs=1e-4)


def test_the_gradient_of_a_feed_forward_network_is_exact():
    lab = laboratory_of(network(feed_forward=doubled), LETTERS)
    hidden, output = lab.laboratory.model.decoder[0].feed_forward.layers
    entered, towards = np.random.default_rng(0).normal(size=(2, 3, 8)).astype(np.float32)
    kernel, bias = (keras.ops.convert_to_numpy(each) for each in (hidden.kernel, hidden.bias))
    slopes = 4 / (1 + np.abs(entered @ kernel + bias)) ** 2  # of softsign, doubled by both layers
    expected = towards @ keras.ops.convert_to_numpy(output.kernel).T * slopes @ kernel.T
    found = lab.patched.feed_forward_gradient("decoder", 0, entered, towards)
    np.testing.assert_allclose(found, expected, atol=1e-5)


class Unjoined(Block):
    """The output of a sub-layer replaces its input."""

    def around(self, number, x, sublayer):
        return self.norms[number](sublayer(x))


def unjoined():
    model = WholeTransformer()
    parts = False, ByHand, forward, layers.LayerNormalization
    model.encoder, model.decoder = [Unjoined(*parts, False)], [Unjoined(*parts, True)]
    return model


class Scaled(WholeTransformer):
    """Its logits are squeezed behind its last layer."""

    def call(self, pair, training=None):
        return 3 * keras.ops.tanh(super().call(pair))


class Halved(Block):
    """Half of the output of its feed-forward network is added."""

    def around(self, number, x, sublayer):
        return super().around(number, x, lambda x: sublayer(x) / 2 if number == -1 else sublayer(x))


def halved():
    model = WholeTransformer()
    model.decoder = [Halved(False, ByHand, forward, layers.LayerNormalization, True)]
    return model


class AddNorm(layers.Layer):
    """Adds and normalises in one layer of two arguments, as many courses write it."""

    def __init__(self):
        super().__init__()
        self.norm = layers.LayerNormalization()

    def call(self, x, added):
        return self.norm(x + added)


class Added(Block):
    def around(self, number, x, sublayer):
        return self.norms[number](x, sublayer(x))


def test_a_layer_may_add_and_normalise():
    model, parts = WholeTransformer(), (False, ByHand, forward, AddNorm)
    model.encoder, model.decoder = [Added(*parts, False)], [Added(*parts, True)]
    assert laboratory_of(model, LETTERS).why_no_stream == ""


class Neighbours(layers.Layer):
    """A feed-forward network of one token and the two beside it."""

    def __init__(self):
        super().__init__()
        self.hidden, self.end = layers.Conv1D(16, 3, padding="same"), layers.Dense(8)

    def call(self, x):
        return self.end(self.hidden(x))


class Differences(layers.Dense):
    """A feed-forward network of the differences from the mean of a sentence."""

    def call(self, x, training=None):
        return super().call(x - keras.ops.mean(x, axis=1, keepdims=True))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("feed_forward", [Neighbours, lambda: Differences(8)])
def test_a_feed_forward_network_that_mixes_tokens_is_told(feed_forward, norm_first):
    lab = laboratory_of(network(feed_forward=feed_forward, norm_first=norm_first), LETTERS)
    assert "encoder 1 does not compute each token alone" in lab.why_no_stream


@pytest.mark.parametrize(
    ("make", "why", "kind"),
    [
        (HandWrittenTransformer, "no layer of it normalises", "no_normalisation"),
        (unjoined, "neither normalised nor summed", "other_parts"),
        (halved, "network of layer decoder 1 adds: put it into a layer of its own", "other_parts"),
        (Scaled, "does not give its own logits", "other_logits"),
    ],
)
def test_what_is_built_otherwise_is_told_why_and_keeps_the_rest(make, why, kind):
    keras.utils.set_random_seed(1)
    lab = laboratory_of(make(), LETTERS)
    assert STREAM not in lab.config.abilities and why in lab.why_no_stream
    assert lab.config.no_stream == kind
    with pytest.raises(ValueError, match=why):
        direct_logit_attribution(lab, SOURCE, TARGET)
    assert lab.trace(SOURCE, TARGET).cross_attention is not None


class Unnamed(layers.Layer):
    """The four layers of its attention have no names."""

    def __init__(self):
        super().__init__()
        self.parts = [layers.Dense(8) for _ in range(4)]

    def call(self, query, memory, use_causal_mask=False):
        length = query.shape[1], memory.shape[1]
        mask = 1 - np.tri(*length, dtype="float32") if use_causal_mask else np.zeros(length, "float32")
        mask = keras.ops.convert_to_tensor(mask)
        named = SimpleNamespace(**dict(zip(("query", "key", "value", "out"), self.parts, strict=True)))
        return HandWrittenAttention.call(named, query, memory, mask)


def test_attention_without_the_usual_names_is_said_in_one_argument():
    model = network(attention=Unnamed)
    assert "say them: attention=[(query, key, value, output)" in laboratory_of(model, LETTERS).why_no_stream
    blocks = [*model.encoder, *model.decoder]
    said = [tuple(each.parts) for block in blocks for each in block.attentions]
    lab = laboratory_of(model, LETTERS, attention=said)
    assert STREAM in lab.config.abilities
    walked = log_softmax(lab.patched.taps(*IDS, ["logits"])["logits"].astype(np.float64))
    own = lab.trace(SOURCE, TARGET).log_probabilities
    np.testing.assert_allclose(walked[np.arange(len(own)), IDS[1]], own, **CLOSE)


@pytest.mark.parametrize("build", BUILDS.values(), ids=list(BUILDS))
def test_a_decoder_alone_is_walked_and_asked(build):
    """Rows of the question count in the continuation, positions of the stream from the first read token."""
    lab = whole_decoder(**build)
    assert STREAM in lab.config.abilities and STREAM in own_config(lab).abilities
    read, (source, target) = 4, (lab.tokenizer.encode_source("cab"), lab.tokenizer.encode_target("dc"))
    walked = lab.patched.taps(source, target, ["logits", "decoder_attention", "decoder_residual"])
    own = lab.laboratory.pass_over([source], [target], [Intervention()])
    np.testing.assert_allclose(walked["logits"], own.logits[0], atol=1e-4)
    np.testing.assert_allclose(walked["decoder_attention"], own.attention["decoder_attention"][0], atol=1e-5)
    contrast = contrast_of_row(lab, "cab", "dc", row=1)
    edit, number = Edit("cab", "dc", contrast), len(target)
    attribution = direct_logit_attribution(lab, "cab", "dc", [contrast])
    assert abs(attribution.remainder(number)) < 1e-3 and attribution.by_key.keys() == {"decoder_attention"}
    score = own.logits[0, 1, contrast.written] - own.logits[0, 1, contrast.instead]
    lens = logit_lens(lab, "cab", "dc", [contrast])
    assert attribution.score[number] == pytest.approx(score, abs=1e-4)
    assert lens.scores[-1, number] == pytest.approx(score, abs=1e-3) and lens.written.shape == (7, 3)
    patching = activation_patching(lab, corrupted_by_text(lab, edit, "cbb"), "residual", "decoder")
    assert patching.patched.shape == (7, read + 1) and patching.score == pytest.approx(score, abs=1e-4)
    same = patching.patched[0, [0, 1, 3]]  # the same tokens in both prompts
    np.testing.assert_allclose(same, patching.corrupted_score, atol=1e-4)
    np.testing.assert_allclose(patching.patched[-1, -1], score, atol=1e-4)  # the end that the answer reads
    circuit = find_circuit(lab, edit)
    assert {node.side for node in circuit.nodes} == {"decoder"} and len(circuit.nodes) == 6
    assert circuit_edges(lab, edit, replace(circuit, members=circuit.nodes)).edges
    about = Edit("cab", "cb", lab.changes("cab", "cb")[0])
    for ask in (lambda: exchanges(lab, about), lambda: corrupted_by_text(lab, edit, "ab")):
        with pytest.raises(ValueError, match="give other texts|as many tokens"):
            ask()


def rotated(heads):
    """(1, N, H, d): each pair of dimensions is turned by its position (Su et al. 2021)."""
    angle = np.arange(heads.shape[1], dtype="float32")[None, :, None, None]
    one, other = keras.ops.split(heads, 2, axis=-1)
    cosine, sine = keras.ops.cos(angle), keras.ops.sin(angle)
    return keras.ops.concatenate([one * cosine - other * sine, one * sine + other * cosine], axis=-1)


class Rotating(layers.Layer):
    """Attention of two heads of four dimensions, its queries and keys rotated by hand."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (layers.Dense(8) for _ in range(4))

    def call(self, query, memory, use_causal_mask=False):
        size = 1, query.shape[1], 2, 4
        query, key = (rotated(keras.ops.reshape(part(query), size)) for part in (self.query, self.key))
        later = keras.ops.convert_to_tensor(1e9 * (1 - np.tri(size[1], dtype="float32")))
        scores = keras.ops.einsum("bqhd,bkhd->bhqk", query, key) / 2 - later
        value = keras.ops.reshape(self.value(memory), size)
        heads = keras.ops.einsum("bhqk,bkhd->bqhd", keras.ops.softmax(scores), value)
        return self.out(keras.ops.reshape(heads, (1, size[1], 8)))


def test_a_rotation_by_hand_is_said_beside_the_layers_of_its_attention():
    lab = whole_decoder(attention=Rotating, norm_first=True)
    assert STREAM not in lab.config.abilities
    assert "does not give its own logits" in lab.why_no_stream
    model = lab.laboratory.model
    inner = [block.attentions[0] for block in model.blocks]
    said = [(each.query, each.key, each.value, each.out, rotated) for each in inner]
    lab = laboratory_of(model, LETTERS, attention=said)
    assert STREAM in lab.config.abilities
    look = decompose_attention_score(lab, "cab", "dc", AttentionCell(Head("decoder_attention", 1, 1), 4, 2))
    assert abs(look.remainder()) < 1e-3
    assert look.weight == pytest.approx(lab.trace("cab", "dc").decoder_attention[1, 1, 4, 2], abs=1e-4)


def live():
    return laboratory_of(network(), LETTERS)


def without_a_stream():
    return laboratory_of(HandWrittenTransformer(), LETTERS)


def test_live_it_has_its_stream_or_terminal_and_page_are_told_why(capfd):
    assert isinstance(load(f"{__name__}:live").patched, OwnStream)
    assert "residual stream" not in capfd.readouterr().err
    told = load(f"{__name__}:without_a_stream").config.why_no_stream
    assert told.startswith("no layer of it normalises")
    assert "is not known from outside: no layer of it normalises" in capfd.readouterr().err
