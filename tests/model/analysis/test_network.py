"""Parameters by part and the work of one pass, held against the networks themselves."""

import math

import pytest

from model.analysis import building_blocks as work
from model.analysis.building_blocks import ROLES, attention_share, by_role, group_parameters, role_of, under
from model.stored.config import Seq2SeqConfig, TransformerConfig


@pytest.fixture(scope="module")
def recurrent_network(tiny_tokenizer):
    from model.network.seq2seq import Seq2Seq

    network = Seq2Seq(
        Seq2SeqConfig(vocab_size=tiny_tokenizer.vocab_size, d_model=8, num_layers=2),
        tiny_tokenizer.features(),
    )
    network.build()
    return network


@pytest.fixture(params=["transformer", "recurrent"])
def network(request, tiny_network, recurrent_network):
    return tiny_network if request.param == "transformer" else recurrent_network


def sizes(network) -> dict[str, int]:
    return {weight.path: math.prod(weight.shape) for weight in network.weights}


def test_the_parts_add_up_to_the_network_and_each_has_a_role(network):
    parts = group_parameters(sizes(network))
    roles = by_role(parts)
    assert sum(parts.values()) == sum(roles.values()) == network.count_params()
    assert list(roles) == [role for role in ROLES if role in roles]


def test_the_parts_of_a_transformer(tiny_network):
    parts = group_parameters(sizes(tiny_network))
    d, f = tiny_network.config.d_model, tiny_network.config.dff
    assert parts["encoder_1/self_attention"] == parts["decoder_2/cross_attention"] == 4 * (d * d + d)
    assert parts["decoder_1/feed_forward"] == d * f + f + f * d + d
    assert parts["encoder_2/around_attention"] == parts["encoder_norm"] == 2 * d
    assert parts["output_bias"] == tiny_network.config.vocab_size
    assert under(parts, "encoder_1") == 4 * (d * d + d) + d * f + f + f * d + d + 4 * d
    assert under(parts, "encoder_10") == 0


def test_the_recurrent_network_has_neither_norms_nor_feed_forward(recurrent_network):
    parts = group_parameters(sizes(recurrent_network))
    assert set(by_role(parts)) == {
        "embedding",
        "encoder_recurrence",
        "bridge",
        "decoder_recurrence",
        "only_attention",
        "join",
        "output_bias",
    }
    assert by_role(parts)["only_attention"] == under(parts, "query", "key", "value") == 3 * (8 * 8 + 8)


def test_the_share_of_attention_by_hand():
    parts = {"embedding": 60, "encoder_1/self_attention": 10, "decoder_1/cross_attention": 20, "join": 10}
    assert attention_share(parts) == pytest.approx(0.3)
    assert attention_share({}) == 0


def test_unknown_paths_are_named():
    with pytest.raises(ValueError, match="'kernel'"):
        group_parameters({"kernel": 3})
    with pytest.raises(ValueError, match="'convolution'"):
        role_of("convolution")


def test_one_token_on_each_side_multiplies_once_with_every_entry_of_every_matrix(network):
    found = work.multiplications(network.config, 1, 1)
    kernels = sum(size for path, size in sizes(network).items() if path.endswith("kernel"))
    scores = found.pop(work.MIXING)
    config = network.config
    assert sum(found.values()) == kernels + config.d_model * config.vocab_size
    assert scores == 2 * config.attention_layers * len(config.attention_kinds) * config.d_model


def test_twice_as_long_a_sentence_mixes_four_times_as_much():
    config = TransformerConfig(vocab_size=50, d_model=8, num_layers=3, num_heads=2, dff=16)
    short, long = work.multiplications(config, 5, 6), work.multiplications(config, 10, 12)
    assert {name: long[name] / short[name] for name in short} == {
        "attention": 2,
        work.MIXING: 4,
        "feed_forward": 2,
        "output": 2,
    }


def test_attention_weights_are_layers_times_heads_times_rows_times_columns():
    config = TransformerConfig(vocab_size=50, d_model=8, num_layers=3, num_heads=2, dff=16)
    assert work.attention_weights(config, 5, 4) == {
        "encoder_attention": 6 * 25,
        "decoder_attention": 6 * 16,
        "cross_attention": 6 * 20,
    }
    assert work.attention_weights(Seq2SeqConfig(vocab_size=50, d_model=8), 5, 4) == {"cross_attention": 20}
