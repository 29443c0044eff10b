"""``Laboratory``: interventions as in an independent pass, errors, forced tokens."""

import numpy as np
import pytest

from model import Corrector
from model.activations.replacements import every_head
from model.trace.interventions import Head, Intervention, KernelEdit, Node, ZeroedValue
from tests.plain_transformer import plain_pass
from tests.planted import CODA, COPY, RIGHT, WRONG

SENTENCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
NOTHING = Intervention()
EDITED = np.ones((8, 1), np.float32), np.ones((1, 16), np.float32)


@pytest.fixture(scope="module")
def tiny(tiny_corrector):
    """(laboratory, source ids, target ids) of seeded weights, in which every head does something."""
    return tiny_corrector.laboratory, *tiny_corrector._encode(SENTENCE, TARGET)


def pass_under(tiny, *interventions):
    laboratory, source, target = tiny
    return laboratory.pass_over([source] * len(interventions), [target] * len(interventions), interventions)


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_interventions_are_those_of_an_independent_pass(tiny, tiny_corrector, kind):
    _, source, target = tiny
    head = Head(kind, 1, 0)
    rows = np.tril(np.ones((14, 14), np.float32)) if kind == "decoder_attention" else np.ones((14, 14))
    means = {kind: np.full((2, 2, 8), 0.5, np.float32)}
    interventions = [
        NOTHING,
        Intervention(off=frozenset([head])),
        Intervention(off=frozenset([head, Head(kind, 0, 1)]), means=means),
        Intervention(weights={head: rows / rows.sum(axis=1, keepdims=True)}),
        Intervention(zeroed=frozenset([ZeroedValue(kind, 0, 2)])),
        Intervention(without_source=frozenset([1, 3])),
        Intervention(without_target=frozenset([0])),  # then the first row may attend to nothing
    ]
    found, features = pass_under(tiny, *interventions * 2), tiny_corrector.tokenizer.features()
    for row, each in enumerate(interventions * 2):
        logits, seen = plain_pass(tiny_corrector.patched, features, (source, target), intervention=each)
        np.testing.assert_allclose(found.logits[row], logits, atol=1e-4)
        for name, attention in seen.items():
            np.testing.assert_allclose(found.attention[name][row], attention, atol=1e-5)


def test_nothing_is_remembered_of_an_intervention(tiny, tiny_corrector):
    laboratory, source, _ = tiny
    before = tiny_corrector.trace(SENTENCE, TARGET)
    off = Intervention(off=frozenset(every_head(laboratory.config)))
    changed = pass_under(tiny, off).logits
    written = laboratory.write([source], [off])
    after = tiny_corrector.trace(SENTENCE, TARGET)
    np.testing.assert_array_equal(before.log_probabilities, after.log_probabilities)
    np.testing.assert_array_equal(before.cross_attention, after.cross_attention)
    assert np.abs(changed - pass_under(tiny, NOTHING).logits).max() > 1e-2
    plain = laboratory.write([source], [NOTHING])[0]
    produced = tiny_corrector._network.produce([source])[0]
    assert (plain and plain.ids) == (produced and produced.ids)
    assert written[0] is None or plain is None or written[0].ids != plain.ids


def test_fingerprints_tell_interventions_apart():
    rows = np.eye(4)
    different = [
        Intervention(),
        Intervention(off=frozenset([COPY])),
        Intervention(off=frozenset([CODA])),
        Intervention(off=frozenset([COPY]), means={"cross_attention": np.ones((2, 2, 32))}),
        Intervention(weights={COPY: rows}),
        Intervention(weights={COPY: rows[::-1]}),
        Intervention(weights={CODA: rows}),
        Intervention(zeroed=frozenset([ZeroedValue("cross_attention", 0, 1)])),
        Intervention(without_source=frozenset([1])),
        Intervention(without_target=frozenset([1])),
        Intervention(kernels=(KernelEdit(Node("decoder_feed_forward", 1), *EDITED),)),
        Intervention(kernels=(KernelEdit(Node("decoder_feed_forward", 0), *EDITED),)),
        Intervention(kernels=(KernelEdit(Node("decoder_feed_forward", 0), EDITED[0], 2 * EDITED[1]),)),
    ]
    assert len({each.fingerprint for each in different}) == len(different)
    assert (
        Intervention(off=frozenset([COPY, CODA])).fingerprint
        == Intervention(off=frozenset([CODA, COPY])).fingerprint
    )
    assert (
        Intervention(weights={COPY: rows}).fingerprint
        == Intervention(weights={COPY: rows.copy()}).fingerprint
    )


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({"off": frozenset(["cross_attention"])}, "off should name a kind, .* received 'cross_attention'"),
        ({"off": frozenset([("cross_attention", 0)])}, r"received \('cross_attention', 0\)"),
        ({"zeroed": frozenset([("cross_attention", 0, 0.5)])}, "zeroed should count in .* received 0.5"),
        ({"without_source": frozenset(["1"])}, "without_source should count in whole numbers, received '1'"),
    ],
)
def test_what_is_no_place_is_refused(places, message):
    with pytest.raises(ValueError, match=message):
        Intervention(**places)


@pytest.mark.parametrize(
    ("intervention", "message"),
    [
        (Intervention(off=frozenset([Head("cross_attention", 2, 0)])), "layers, heads.*layer=2"),
        (Intervention(off=frozenset([Head("cross", 0, 0)])), "received Head.kind='cross'"),
        (Intervention(off=frozenset([COPY]), means={}), r"shape \(2, 2, 8\), received \(\)"),
        (Intervention(without_source=frozenset([40])), "received 40"),
        (Intervention(without_target=frozenset([-1])), "received -1"),
        (Intervention(zeroed=frozenset([ZeroedValue("cross_attention", 5, 0)])), "layer=5"),
        (Intervention(weights={COPY: np.eye(3)}), r"\(Q, 14\), received \(3, 3\)"),
        (Intervention(weights={COPY: np.full((2, 14), 0.5)}), "sum to 1"),
        (Intervention(kernels=(KernelEdit(Node("decoder_feed_forward", 2), *EDITED),)), "layer=2"),
        (
            Intervention(kernels=(KernelEdit(Node("cross_attention", 0, 0), *EDITED),)),
            "different feed-forward",
        ),
        (
            Intervention(weights={Head("decoder_attention", 0, 0): np.full((2, 2), 0.5)}),
            "right of the diagonal",
        ),
    ],
)
def test_mistakes_are_named_with_what_was_received(tiny, intervention, message):
    with pytest.raises(ValueError, match=message):
        pass_under(tiny, intervention)


def test_the_recurrent_network_takes_no_interventions():
    with pytest.raises(ValueError, match="received a seq2seq"):
        _ = Corrector.load("seq2seq").laboratory


def test_what_is_forced_stands_at_the_beginning_and_the_network_goes_on(planted):
    source = planted.tokenizer.encode_source(WRONG)
    forced = planted.tokenizer.encode_target("나머")[:-1]
    kept, free = planted.laboratory.write([source] * 2, [NOTHING] * 2, [forced, []])
    assert planted.tokenizer.decode(kept.ids, WRONG) == WRONG
    assert planted.tokenizer.decode(free.ids, WRONG) == RIGHT
