"""Configs of networks: round trip as a dictionary, kinds of attention, refused values."""

import pytest

from model.stored.config import CONFIGS, Seq2SeqConfig, TransformerConfig
from model.trace.trace import ATTENTION_KINDS


@pytest.mark.parametrize(
    "config",
    [
        TransformerConfig(vocab_size=50, d_model=16, num_heads=2, norm_first=True),
        Seq2SeqConfig(vocab_size=50, d_model=16, num_layers=2, minimum_confidence=0.5),
    ],
)
def test_a_config_survives_its_dictionary(config):
    assert CONFIGS[config.architecture].from_dict(config.to_dict()) == config


def test_what_both_kinds_tell_of_their_attention():
    transformer, recurrent = TransformerConfig(vocab_size=50), Seq2SeqConfig(vocab_size=50, num_layers=3)
    assert (transformer.attention_layers, transformer.num_heads) == (6, 8)  # the size of the paper
    assert (transformer.d_model, transformer.dff, transformer.dropout_rate) == (512, 2048, 0.1)
    assert (recurrent.attention_layers, recurrent.num_heads) == (1, 1)
    assert transformer.attention_kinds == ATTENTION_KINDS
    assert recurrent.attention_kinds == ("cross_attention",)
    assert (transformer.has_positions, recurrent.has_positions) == (True, False)


@pytest.mark.parametrize(
    ("config", "settings", "message"),
    [
        (TransformerConfig, {"d_model": 10, "num_heads": 4}, "10 and 4"),
        (TransformerConfig, {"num_layers": 0}, "num_layers .* received 0"),
        (TransformerConfig, {"dff": 2.5}, r"dff .* received 2\.5"),
        (TransformerConfig, {"num_heads": True}, "num_heads .* received True"),
        (TransformerConfig, {"max_length": "long"}, "max_length .* received 'long'"),
        (TransformerConfig, {"dropout_rate": 1.0}, r"dropout_rate .* received 1\.0"),
        (TransformerConfig, {"dropout_rate": float("nan")}, "dropout_rate .* received nan"),
        (TransformerConfig, {"norm_first": "yes"}, "norm_first .* received 'yes'"),
        (Seq2SeqConfig, {"d_model": 7}, "d_model should be even, received 7"),
        (Seq2SeqConfig, {"num_layers": True}, "num_layers .* received True"),
        (Seq2SeqConfig, {"vocab_size": None}, "vocab_size .* received None"),
        (Seq2SeqConfig, {"minimum_confidence": 1.5}, r"minimum_confidence .* received 1\.5"),
    ],
)
def test_values_that_cannot_work_are_refused_with_what_was_received(config, settings, message):
    with pytest.raises(ValueError, match=message):
        config(**{"vocab_size": 50, **settings})


def test_unknown_and_missing_settings_are_named():
    with pytest.raises(ValueError, match="num_experts"):
        TransformerConfig.from_dict({"vocab_size": 50, "num_experts": 8})
    with pytest.raises(ValueError, match="vocab_size"):
        TransformerConfig.from_dict({"d_model": 16, "num_heads": 2})
    with pytest.raises(ValueError, match="num_heads"):
        Seq2SeqConfig.from_dict({"vocab_size": 50, "num_heads": 2})
