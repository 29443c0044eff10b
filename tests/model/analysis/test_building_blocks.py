"""Arithmetic of a Transformer: attention steps, positions, parameters, multiplications."""

import math

import numpy as np
import pytest
from keras import ops

from model.activations.sublayers import positional_encoding
from model.analysis import building_blocks as work
from model.network import layers as attention
from model.stored.config import Seq2SeqConfig, TransformerConfig


def arrays(queries: int = 5, keys: int = 7, depth: int = 4, width: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = ((queries, depth), (keys, depth), (keys, width))
    return [rng.normal(0, 2, shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("masked", [False, True])
def test_weights_and_output_are_those_of_the_networks(masked):
    query, key, value = arrays()
    mask = np.random.default_rng(1).random((5, 7)) < 0.6
    mask[2] = False  # a row with nothing to look at
    mask = mask if masked else None
    output, weights = attention.scaled_dot_product_attention(query, key, value, mask)
    steps = work.dot_product_attention(query, key, value, mask)
    np.testing.assert_allclose(steps.weights, ops.convert_to_numpy(weights), atol=1e-6)
    np.testing.assert_allclose(steps.output, ops.convert_to_numpy(output), atol=2e-6)


def test_each_step_follows_from_the_one_before():
    query, key, value = arrays()
    mask = ~work.hidden_by_look_ahead(7)[:5]
    steps = work.dot_product_attention(query, key, value, mask)
    np.testing.assert_allclose(steps.scaled * 2, steps.products)  # the width is 4
    assert (np.isneginf(steps.logits) == ~mask).all()
    np.testing.assert_array_equal(steps.logits[mask], steps.scaled[mask])
    assert (steps.weights[~mask] == 0).all()
    np.testing.assert_allclose(steps.weights.sum(-1), 1)
    np.testing.assert_allclose(steps.weighted_values(3).sum(0), steps.output[3])


@pytest.mark.parametrize(
    ("query", "key", "value", "mask", "message"),
    [
        ([[1, 2]], [[1, 2, 3]], [[1]], None, "equally wide"),
        ([[1, 2]], [[1, 2]], [[1], [2]], None, "each key needs a value"),
        ([1, 2], [[1, 2]], [[1]], None, r"query should have the shape \(rows, width\)"),
        ([[1, 2]], [[1, 2]], [[1]], [[True, True]], r"mask should have the shape \(1, 1\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(query, key, value, mask, message):
    with pytest.raises(ValueError, match=message):
        work.dot_product_attention(query, key, value, mask)


P, D = 24, 16


@pytest.fixture
def embeddings():
    return np.random.default_rng(0).normal(size=(5, D)).astype(np.float32)


def test_the_curve_over_distances_is_the_first_row_and_a_sum_of_cosines():
    found = work.similarity(positional_encoding(P, D))
    curve = work.by_distance(found)
    np.testing.assert_allclose(curve, found[0], atol=1e-4)
    expected = sum(math.cos(5 / 10000 ** (2 * i / D)) for i in range(D // 2))
    assert curve[5] == pytest.approx(expected, abs=1e-4)


def test_the_distance_does_not_know_the_token_but_the_cosine_does(embeddings):
    encoding = positional_encoding(P, D)
    one, other = work.move(embeddings[0], encoding, 2), work.move(3 * embeddings[1], encoding, 2)
    np.testing.assert_allclose(one.distance, other.distance, atol=1e-4)
    assert np.abs(one.cosine - other.cosine).max() > 0.01
    assert len(one.distance) == len(one.cosine) == P - 2
    assert (one.distance[0], one.cosine[0]) == (0, pytest.approx(1))


def test_other_tokens_come_nearest_first_and_each_once():
    rows = np.array([[0, 0], [3, 0], [1, 0], [1, 0], [0, 0]], np.float32)
    found = work.nearest_others("가나다다가", rows, positional_encoding(5, 2), 0)
    assert [other.token for other in found] == ["다", "나"]
    assert [other.distance for other in found] == pytest.approx([math.sqrt(2), 3 * math.sqrt(2)])
    assert work.nearest_others("가가", np.ones((2, 4)), positional_encoding(2, 4), 1) == []


def test_an_embedding_of_zeros_has_a_cosine_all_the_same():
    assert np.isfinite(work.move(np.zeros(4), np.zeros((3, 4)), 0).cosine).all()


def test_mistakes_show_what_was_received(embeddings):
    encoding = positional_encoding(P, D)
    with pytest.raises(ValueError, match=r"\(P, D\), received \(16,\)"):
        work.similarity(encoding[0])
    with pytest.raises(ValueError, match=r"0\.\.23, received 24"):
        work.move(embeddings[0], encoding, 24)
    with pytest.raises(ValueError, match=r"5 rows of 16, received \(4, 16\)"):
        work.sizes(embeddings, encoding[:4])
    with pytest.raises(ValueError, match="received 2 and 5"):
        work.nearest_others("가나", embeddings, encoding, 0)


@pytest.fixture(scope="module")
def recurrent_network(tiny_tokenizer):
    from model.network.networks import Seq2Seq

    network = Seq2Seq(
        Seq2SeqConfig(vocab_size=tiny_tokenizer.vocab_size, d_model=8, num_layers=2),
        tiny_tokenizer.features(),
    )
    network.build()
    return network


@pytest.fixture(params=["transformer", "recurrent"])
def network(request, tiny_network, recurrent_network):
    return tiny_network if request.param == "transformer" else recurrent_network


def sizes_of_arrays(network) -> dict[str, int]:
    return {weight.path: math.prod(weight.shape) for weight in network.weights}


def test_the_parts_add_up_to_the_network_and_each_has_a_role(network):
    parts = work.group_parameters(sizes_of_arrays(network))
    roles = work.by_role(parts)
    assert sum(parts.values()) == sum(roles.values()) == network.count_params()
    assert list(roles) == [role for role in work.ROLES if role in roles]


def test_the_parts_of_a_transformer(tiny_network):
    parts = work.group_parameters(sizes_of_arrays(tiny_network))
    d, f = tiny_network.config.d_model, tiny_network.config.dff
    assert parts["encoder_1/self_attention"] == parts["decoder_2/cross_attention"] == 4 * (d * d + d)
    assert parts["decoder_1/feed_forward"] == d * f + f + f * d + d
    assert parts["encoder_2/around_attention"] == parts["encoder_norm"] == 2 * d
    assert parts["output_bias"] == tiny_network.config.vocab_size
    assert work.under(parts, "encoder_1") == 4 * (d * d + d) + d * f + f + f * d + d + 4 * d
    assert work.under(parts, "encoder_10") == 0


def test_the_share_of_attention_by_hand():
    parts = {"embedding": 60, "encoder_1/self_attention": 10, "decoder_1/cross_attention": 20, "join": 10}
    assert work.attention_share(parts) == pytest.approx(0.3)
    assert work.attention_share({}) == 0


def test_unknown_paths_are_named():
    with pytest.raises(ValueError, match="'kernel'"):
        work.group_parameters({"kernel": 3})
    with pytest.raises(ValueError, match="'convolution'"):
        work.role_of("convolution")


def test_one_token_on_each_side_multiplies_once_with_every_entry_of_every_matrix(network):
    found = work.multiplications(network.config, 1, 1)
    kernels = sum(size for path, size in sizes_of_arrays(network).items() if path.endswith("kernel"))
    scores = found.pop(work.MIXING)
    config = network.config
    assert sum(found.values()) == kernels + config.d_model * config.vocab_size
    assert scores == 2 * config.attention_layers * len(config.attention_kinds) * config.d_model


def test_attention_weights_are_layers_times_heads_times_rows_times_columns():
    config = TransformerConfig(vocab_size=50, d_model=8, num_layers=3, num_heads=2, dff=16)
    assert work.attention_weights(config, 5, 4) == {
        "encoder_attention": 6 * 25,
        "decoder_attention": 6 * 16,
        "cross_attention": 6 * 20,
    }
    assert work.attention_weights(Seq2SeqConfig(vocab_size=50, d_model=8), 5, 4) == {"cross_attention": 20}
