"""``AttentionTrace``: kinds, axes, refused fields; ``Selection``: one map of it."""

from dataclasses import replace

import numpy as np
import pytest

from model.trace.strict_npz import TraceError
from model.trace.trace import ATTENTION_KINDS, AttentionTrace, Selection

LAYERS, HEADS, SOURCE, TARGET, D_MODEL = 3, 2, 4, 5, 6


def arrays() -> dict:
    return {
        "source_tokens": (*"가 나", "</s>"),
        "target_tokens": (*"다 라마", "</s>"),
        "decoder_input_tokens": ("<s>", *"다 라마"),
        "encoder_attention": np.zeros((LAYERS, HEADS, SOURCE, SOURCE), np.float32),
        "decoder_attention": np.zeros((LAYERS, HEADS, TARGET, TARGET), np.float32),
        "cross_attention": np.zeros((LAYERS, HEADS, TARGET, SOURCE), np.float32),
        "source_positional_encoding": np.zeros((SOURCE, D_MODEL), np.float32),
        "target_positional_encoding": np.ones((TARGET, D_MODEL), np.float32),
        "log_probabilities": np.zeros(TARGET, np.float32),
        "alternatives": (("다", "라"),) * TARGET,
        "alternative_probabilities": np.full((TARGET, 2), 0.5, np.float32),
    }


OF_A_TRANSFORMER = (
    "encoder_attention",
    "decoder_attention",
    "source_positional_encoding",
    "target_positional_encoding",
)
OF_A_DECODER = ("target_tokens", "decoder_input_tokens", "decoder_attention", "target_positional_encoding")
NETWORKS = {  # name -> fields, kinds of attention, positions
    "transformer": (arrays(), ATTENTION_KINDS, TARGET),
    "recurrent": (arrays() | dict.fromkeys(OF_A_TRANSFORMER), ("cross_attention",), None),
    "decoder alone": ({name: arrays()[name] for name in OF_A_DECODER}, ("decoder_attention",), TARGET),
    "no tokens that the decoder read": (
        {name: arrays()[name] for name in ("source_tokens", "target_tokens", "cross_attention")},
        ("cross_attention",),
        None,
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_kinds_axes_and_positions_of_each_network(name):
    fields, kinds, positions = NETWORKS[name]
    trace = AttentionTrace(**fields)
    assert (trace.kinds, trace.num_layers, trace.num_heads) == (kinds, LAYERS, HEADS)
    axes = {
        "encoder_attention": (trace.source_tokens, trace.source_tokens),
        "decoder_attention": (trace.target_tokens, trace.decoder_input_tokens),
        "cross_attention": (trace.target_tokens, trace.source_tokens),
    }
    for kind in ATTENTION_KINDS:
        if kind in kinds:
            assert trace.attention(kind) is getattr(trace, kind) and trace.axes(kind) == axes[kind]
            continue
        for method in (trace.attention, trace.axes):
            with pytest.raises(ValueError, match=f"received '{kind}'"):
                method(kind)
    encoding = trace.positional_encoding  # the longer side's
    assert encoding is None if positions is None else encoding.shape == (positions, D_MODEL)


def test_each_kind_has_its_own_layers_and_heads():
    fields = arrays()
    fields["encoder_attention"] = np.zeros((6, 8, SOURCE, SOURCE), np.float32)
    trace = AttentionTrace(**fields)
    assert [trace.shape(kind) for kind in trace.kinds] == [(6, 8), (LAYERS, HEADS), (LAYERS, HEADS)]
    assert (trace.num_layers, trace.num_heads) == (6, 8)
    assert Selection("encoder_attention", head=7).heads(trace) == [(layer, 7) for layer in range(6)]
    assert len(Selection("cross_attention").heads(trace)) == LAYERS * HEADS


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"source_spans": ((0, 1),) * SOURCE}, "source_text should come with the spans in it"),
        ({"source_text": "가 나", "source_spans": ((0, 1),)}, r"source_spans should have the shape \(4,\)"),
        ({"source_text": "가", "source_spans": ((0, 2),) * SOURCE}, r"source_spans\[0\] should lie in 0..1"),
        ({"source_text": "가", "source_spans": ((1, 0),) * SOURCE}, r"source_spans\[0\] should lie in 0..1"),
        ({"target_words": ((0, 2), (3, 5))}, "target_words should cover 5 tokens"),
        ({"target_words": ((0, 2), (2, 4))}, "target_words should cover 5 tokens"),
        ({"target_words": ()}, "target_words should cover 5 tokens"),
        (
            {"alternatives": ((),) * TARGET},
            r"alternatives\[0\] should have the shape \(2,\), received \(0,\)",
        ),
        ({"decoder_input_tokens": ()}, r"decoder_input_tokens should have the shape \(5,\), received \(0,\)"),
        ({"alternatives": ()}, r"alternatives should have the shape \(5,\), received \(0,\)"),
    ],
)
def test_fields_that_do_not_fit_each_other_are_refused_by_name(fields, told):
    with pytest.raises(TraceError, match=told):
        AttentionTrace(**arrays() | fields)


@pytest.mark.parametrize(
    "name", [name for name in arrays() if name not in ("source_tokens", "target_tokens")]
)
def test_a_field_of_another_length_is_refused_by_name(name):
    fields = arrays()
    fields[name] = fields[name][:-1] if not name.endswith("attention") else fields[name][:, :, :-1]
    with pytest.raises(ValueError, match=f"{name} should have the shape"):
        AttentionTrace(**fields)


EVERY = [(layer, head) for layer in (None, 0, LAYERS - 1) for head in (None, 0, HEADS - 1)]


def say(key: str, /, **values) -> str:
    return " ".join([key, *(f"{name}={value}" for name, value in values.items())])


@pytest.fixture
def trace() -> AttentionTrace:
    rng = np.random.default_rng(0)
    maps = {kind: rng.random(arrays()[kind].shape).astype(np.float32) for kind in ATTENTION_KINDS}
    return AttentionTrace(**arrays() | maps)


def one_map(trace: AttentionTrace) -> AttentionTrace:
    """The trace of a recurrent network: one kind, one layer, one head."""
    return replace(trace, cross_attention=trace.cross_attention[:1, :1], **dict.fromkeys(OF_A_TRANSFORMER))


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_the_weights_are_the_mean_of_the_heads_that_are_named(trace, kind):
    for layer, head in EVERY:
        selection = Selection(kind, layer, head)
        weights = selection.weights(trace)
        named = [trace.attention(kind)[place] for place in selection.heads(trace)]
        np.testing.assert_allclose(weights, np.mean(named, axis=0), rtol=1e-6)
        assert weights.dtype == np.float32


def test_people_count_from_1(trace):
    labels = [Selection("cross_attention", layer, head).label(say, trace) for layer, head in EVERY]
    assert labels == [
        "place_all",
        "place_mean_layers head=1",
        f"place_mean_layers head={HEADS}",
        "place_mean layer=1",
        "place_head layer=1 head=1",
        f"place_head layer=1 head={HEADS}",
        f"place_mean layer={LAYERS}",
        f"place_head layer={LAYERS} head=1",
        f"place_head layer={LAYERS} head={HEADS}",
    ]


def test_where_there_is_one_map_every_selection_is_that_map(trace):
    only = one_map(trace)
    for layer in (None, 0):
        for head in (None, 0):
            selection = Selection("cross_attention", layer, head)
            np.testing.assert_array_equal(selection.weights(only), only.cross_attention[0, 0])
            assert selection.label(say, only) == "place_only"
            assert selection.heads(only) == [(0, 0)]
