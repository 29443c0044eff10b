import numpy as np
import pytest

from model.trace import ATTENTION_KINDS, AttentionTrace

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


def test_sizes_and_axes():
    trace = AttentionTrace(**arrays())
    assert (trace.num_layers, trace.num_heads) == (LAYERS, HEADS)
    assert trace.kinds == ATTENTION_KINDS
    assert trace.positional_encoding.shape == (TARGET, D_MODEL)  # the longer side's
    for kind in ATTENTION_KINDS:
        rows, columns = trace.axes(kind)
        assert trace.attention(kind) is getattr(trace, kind)
        assert trace.attention(kind).shape == (LAYERS, HEADS, len(rows), len(columns))
    assert trace.axes("cross_attention") == (trace.target_tokens, trace.source_tokens)
    assert trace.axes("decoder_attention") == (trace.target_tokens, trace.decoder_input_tokens)


OF_A_TRANSFORMER = (
    "encoder_attention",
    "decoder_attention",
    "source_positional_encoding",
    "target_positional_encoding",
)


def test_a_recurrent_network_has_one_map_and_no_positions():
    trace = AttentionTrace(**{**arrays(), **dict.fromkeys(OF_A_TRANSFORMER)})
    assert trace.kinds == ("cross_attention",)
    assert (trace.num_layers, trace.num_heads) == (LAYERS, HEADS)
    assert trace.attention("cross_attention") is trace.cross_attention
    assert trace.axes("cross_attention") == (trace.target_tokens, trace.source_tokens)
    assert trace.positional_encoding is None
    for method in (trace.attention, trace.axes):
        with pytest.raises(ValueError, match=r"one of \('cross_attention',\), received 'encoder_attention'"):
            method("encoder_attention")


@pytest.mark.parametrize("name", OF_A_TRANSFORMER)
def test_half_a_pair_is_refused(name):
    with pytest.raises(ValueError, match=f"{name}.* come together"):
        AttentionTrace(**{**arrays(), name: None})


@pytest.mark.parametrize("name", ["cross_attention", "log_probabilities"])
def test_what_every_network_has_may_not_be_missing(name):
    with pytest.raises(ValueError, match=rf"{name} should have the shape .* received \(\)"):
        AttentionTrace(**{**arrays(), **dict.fromkeys(OF_A_TRANSFORMER), name: None})


@pytest.mark.parametrize(
    "name", [name for name in arrays() if name not in ("source_tokens", "target_tokens")]
)
def test_a_field_of_another_length_is_refused_by_name(name):
    fields = arrays()
    fields[name] = fields[name][:-1] if not name.endswith("attention") else fields[name][:, :, :-1]
    with pytest.raises(ValueError, match=f"{name} should have the shape"):
        AttentionTrace(**fields)


def test_an_unknown_kind_is_refused():
    trace = AttentionTrace(**arrays())
    for method in (trace.attention, trace.axes):
        with pytest.raises(ValueError, match="'self_attention'"):
            method("self_attention")
