import pytest

from model.config import TransformerConfig


def test_a_config_survives_its_dictionary():
    config = TransformerConfig(vocab_size=50, d_model=16, num_heads=2, norm_first=True)
    assert TransformerConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"d_model": 10, "num_heads": 4}, "10 and 4"),
        ({"num_layers": 0}, "num_layers .* received 0"),
        ({"dff": 2.5}, r"dff .* received 2\.5"),
        ({"num_heads": True}, "num_heads .* received True"),
        ({"max_length": "long"}, "max_length .* received 'long'"),
        ({"dropout_rate": 1.0}, r"dropout_rate .* received 1\.0"),
        ({"dropout_rate": float("nan")}, "dropout_rate .* received nan"),
        ({"norm_first": "yes"}, "norm_first .* received 'yes'"),
    ],
)
def test_values_that_cannot_work_are_refused_with_what_was_received(settings, message):
    with pytest.raises(ValueError, match=message):
        TransformerConfig(**{"vocab_size": 50, **settings})


def test_unknown_and_missing_settings_are_named():
    with pytest.raises(ValueError, match="num_experts"):
        TransformerConfig.from_dict({"vocab_size": 50, "num_experts": 8})
    with pytest.raises(ValueError, match="vocab_size"):
        TransformerConfig.from_dict({"d_model": 16, "num_heads": 2})
