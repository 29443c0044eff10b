"""How alike positions are and how far a token moves: invariants of the sinusoid, and examples by hand."""

import math

import numpy as np
import pytest

from model.activations.sublayers import positional_encoding
from model.analysis.building_blocks import by_distance, move, nearest_others, similarity, sizes

P, D = 24, 16


@pytest.fixture
def embeddings():
    return np.random.default_rng(0).normal(size=(5, D)).astype(np.float32)


def test_similarity_depends_on_the_distance_alone_and_peaks_on_the_diagonal():
    found = similarity(positional_encoding(P, D))
    np.testing.assert_allclose(found, found.T, atol=1e-5)
    np.testing.assert_allclose(found[3:, 3:], found[:-3, :-3], atol=1e-4)  # moved along the diagonal
    np.testing.assert_allclose(np.diagonal(found), D / 2, rtol=1e-5)
    assert (found.argmax(axis=1) == np.arange(P)).all()


def test_the_curve_over_distances_is_the_first_row_and_a_sum_of_cosines():
    found = similarity(positional_encoding(P, D))
    curve = by_distance(found)
    np.testing.assert_allclose(curve, found[0], atol=1e-4)
    expected = sum(math.cos(5 / 10000 ** (2 * i / D)) for i in range(D // 2))
    assert curve[5] == pytest.approx(expected, abs=1e-4)


def test_two_dimensions_are_a_circle():
    np.testing.assert_allclose(
        by_distance(similarity(positional_encoding(4, 2))), np.cos(range(4)), atol=1e-6
    )


def test_sizes_of_a_sentence_by_hand():
    found = sizes([[3.0, 4.0], [0.0, 1.0]], positional_encoding(5, 2))
    np.testing.assert_allclose(found.embedding, [5, 1])
    np.testing.assert_allclose(found.scaled, [5 * math.sqrt(2), math.sqrt(2)], rtol=1e-6)
    np.testing.assert_allclose(found.encoding, [1, 1], rtol=1e-6)


def test_every_encoding_has_the_length_root_of_half_the_width(embeddings):
    np.testing.assert_allclose(
        sizes(embeddings, positional_encoding(P, D)).encoding, math.sqrt(D / 2), rtol=1e-6
    )


def test_the_distance_does_not_know_the_token_but_the_cosine_does(embeddings):
    encoding = positional_encoding(P, D)
    one, other = move(embeddings[0], encoding, 2), move(3 * embeddings[1], encoding, 2)
    np.testing.assert_allclose(one.distance, other.distance, atol=1e-4)
    assert np.abs(one.cosine - other.cosine).max() > 0.01
    assert len(one.distance) == len(one.cosine) == P - 2


def test_the_distance_does_not_know_the_position_either(embeddings):
    encoding = positional_encoding(P, D)
    first, later = (move(embeddings[0], encoding, position).distance for position in (0, 9))
    np.testing.assert_allclose(first[: len(later)], later, atol=1e-4)
    assert first[1] == pytest.approx(np.linalg.norm(encoding[1] - encoding[0]))


def test_staying_is_no_move(embeddings):
    found = move(embeddings[0], positional_encoding(P, D), 7)
    assert found.distance[0] == 0
    assert found.cosine[0] == pytest.approx(1)


def test_other_tokens_come_nearest_first_and_each_once():
    rows = np.array([[0, 0], [3, 0], [1, 0], [1, 0], [0, 0]], np.float32)
    found = nearest_others("가나다다가", rows, positional_encoding(5, 2), 0)
    assert [other.token for other in found] == ["다", "나"]
    assert [other.distance for other in found] == pytest.approx([math.sqrt(2), 3 * math.sqrt(2)])


def test_a_sentence_of_one_repeated_token_has_no_others():
    assert nearest_others("가가", np.ones((2, 4)), positional_encoding(2, 4), 1) == []


def test_an_embedding_of_zeros_has_a_cosine_all_the_same():
    assert np.isfinite(move(np.zeros(4), np.zeros((3, 4)), 0).cosine).all()


def test_mistakes_show_what_was_received(embeddings):
    encoding = positional_encoding(P, D)
    with pytest.raises(ValueError, match=r"\(P, D\), received \(16,\)"):
        similarity(encoding[0])
    with pytest.raises(ValueError, match=r"0\.\.23, received 24"):
        move(embeddings[0], encoding, 24)
    with pytest.raises(ValueError, match=r"5 rows of 16, received \(4, 16\)"):
        sizes(embeddings, encoding[:4])
    with pytest.raises(ValueError, match="received 2 and 5"):
        nearest_others("가나", embeddings, encoding, 0)
