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
    }


def test_sizes_and_axes():
    trace = AttentionTrace(**arrays())
    assert (trace.num_layers, trace.num_heads) == (LAYERS, HEADS)
    assert trace.positional_encoding.shape == (TARGET, D_MODEL)  # the longer side's
    for kind in ATTENTION_KINDS:
        rows, columns = trace.axes(kind)
        assert trace.attention(kind) is getattr(trace, kind)
        assert trace.attention(kind).shape == (LAYERS, HEADS, len(rows), len(columns))
    assert trace.axes("cross_attention") == (trace.target_tokens, trace.source_tokens)
    assert trace.axes("decoder_attention") == (trace.target_tokens, trace.decoder_input_tokens)


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
