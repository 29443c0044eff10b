"""Attention maps by word, aligned differences, entropy and distance of heads."""

import numpy as np
import pytest

from model.analysis.attention_maps import (
    WordAxis,
    aligned_difference,
    by_word,
    distance,
    entropy,
    word_axes,
    word_labels,
    words,
    words_in_text,
)
from model.trace.trace import AttentionTrace
from tests.ui.fake_corrector import attention, random_trace


@pytest.mark.parametrize(
    ("tokens", "spans", "labels"),
    [
        ((*"손님이␣왔다.", "</s>"), ((0, 4), (4, 7), (7, 8)), ("손님이", "왔다.", "</s>")),
        (("<s>", *"가␣␣나"), ((0, 1), (1, 4), (4, 5)), ("<s>", "가", "나")),
        (("<s>", *"␣가"), ((0, 1), (1, 2), (2, 3)), ("<s>", "␣", "가")),
        ((*"가␣", "</s>"), ((0, 2), (2, 3)), ("가", "</s>")),
        ((*"가\t나", "</s>"), ((0, 2), (2, 3), (3, 4)), ("가", "나", "</s>")),
        (("</s>",), ((0, 1),), ("</s>",)),
        ((), (), ()),
    ],
)
def test_a_space_belongs_to_the_word_before_it_and_marks_stand_alone(tokens, spans, labels):
    assert words(tokens) == spans
    assert word_labels(tokens, spans) == labels


def test_rows_still_sum_to_one_whatever_the_words_and_leading_axes():
    rng = np.random.default_rng(1)
    weights = rng.random((2, 3, 9, 9)).astype(np.float32)
    weights /= weights.sum(-1, keepdims=True)
    queries, keys = words((*"가나␣다라마␣바", "</s>")), words(("<s>", *"가␣나다라마바사"))
    found = by_word(weights, queries, keys)
    assert found.shape == (2, 3, len(queries), len(keys))
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-5)
    whole = by_word(weights, ((0, 9),), tuple((i, i + 1) for i in range(9)))
    np.testing.assert_allclose(whole[..., 0, :], weights.mean(-2), rtol=1e-5)


@pytest.mark.parametrize("spans", [((0, 2),), ((0, 1), (2, 3)), ((0, 3), (3, 3)), ()])
def test_words_that_leave_something_out_are_refused(spans):
    with pytest.raises(ValueError, match="cover 3 tokens"):
        by_word(np.ones((3, 3)), ((0, 3),), spans)


@pytest.mark.parametrize(
    ("text", "spans", "found"),
    [
        # As byte-level tokenizers cut: the space belongs to the token behind it.
        ("un happy day", ((0, 2), (2, 8), (8, 10), (10, 12), (12, 12)), ((0, 1), (1, 2), (2, 4), (4, 5))),
        # As WordPiece does: no token holds a space.
        ("손님이 왔다", ((0, 0), (0, 2), (2, 3), (4, 6), (6, 6)), ((0, 1), (1, 3), (3, 4), (4, 5))),
        # Bytes of one character have the same span.
        ("가 나", ((0, 1), (0, 1), (1, 2), (2, 3), (2, 3)), ((0, 3), (3, 5))),
        ("日本語", ((0, 2), (2, 3)), ((0, 2),)),
        (" a", ((0, 1), (1, 2)), ((0, 1), (1, 2))),
        ("", (), ()),
    ],
)
def test_words_come_from_the_spaces_between_spans(text, spans, found):
    assert words_in_text(text, spans) == found


def decoder_alone(**fields) -> AttentionTrace:
    weights = np.tril(np.ones((1, 1, 4, 4), np.float32)) / np.arange(1, 5, dtype=np.float32)[:, None]
    tokens = ("Ġun", "happy", "Ġday", "!")
    return AttentionTrace(
        target_tokens=tokens,
        decoder_input_tokens=("<s>", *tokens[:-1]),
        decoder_attention=weights,
        **fields,
    )


def test_a_decoders_columns_are_its_words_one_token_later():
    trace = decoder_alone(target_text=" unhappy day!", target_spans=((0, 3), (3, 8), (8, 12), (12, 13)))
    rows, columns = word_axes(trace, "decoder_attention")
    assert rows == WordAxis(((0, 2), (2, 4)), ("unhappy", "day!"))
    assert columns == WordAxis(((0, 1), (1, 3), (3, 4)), ("<s>", "unhappy", "day"))
    by_word(trace.decoder_attention, rows.words, columns.words)


def test_words_that_were_given_are_taken():
    rows, columns = word_axes(decoder_alone(target_words=((0, 3), (3, 4))), "decoder_attention")
    assert rows.words == ((0, 3), (3, 4))
    assert columns == WordAxis(((0, 1), (1, 4)), ("<s>", "ĠunhappyĠday"))


def test_each_cell_is_compared_with_its_counterpart():
    one, other = random_trace("가나다", "가나다", seed=1), random_trace("가라나다", "가라나다", seed=2)
    kept = [0, 2, 3, 4]  # positions in the other of the characters of one; 라 has no counterpart
    for kind, rows, columns in (
        ("encoder_attention", kept, kept),
        ("cross_attention", kept, kept),
        (
            "decoder_attention",
            kept,
            [0, 1, 3, 4],
        ),  # its columns: the start mark and the tokens before
    ):
        weights = one.attention(kind)[1, 2], other.attention(kind)[1, 2]
        found, missing = aligned_difference(kind, one, other, weights)
        np.testing.assert_allclose(
            found[np.ix_(rows, columns)], weights[1][np.ix_(rows, columns)] - weights[0], atol=1e-6
        )
        assert missing.sum() == 5 + 5 - 1
        assert not found[missing].any()


def test_weights_of_another_shape_are_named():
    trace = random_trace("가", "가")
    with pytest.raises(ValueError, match=r"shape \(2, 2\), received \(3, 3\)"):
        aligned_difference("cross_attention", trace, trace, (np.zeros((2, 2)), np.zeros((3, 3))))


WEIGHTS = attention(np.random.default_rng(0), 2, 3, 5, 7)


def test_entropy_is_counted_in_bits():
    weights = np.zeros((1, 3, 2, 8), np.float32)
    weights[0, 0] = 1 / 8  # everywhere alike
    weights[0, 1, :, 3] = 1  # one key
    weights[0, 2, 0, :2] = 0.5  # a row of one bit
    weights[0, 2, 1, :4] = 0.25  # and one of two
    assert entropy(weights).tolist() == [[3.0, 0.0, 1.5]]


def test_distance_is_counted_in_tokens_from_where_a_row_stands():
    weights = np.zeros((1, 2, 3, 5), np.float32)
    weights[0, 0, range(3), [0, 1, 2]] = 1
    weights[0, 1, :, [0, 4]] = 0.5
    assert distance(weights, np.array([0, 1, 2])).tolist() == [[0.0, 2.0]]
    assert distance(weights, np.array([1, 2, 3])).tolist() == [[1.0, 2.0]]
    assert distance(weights, np.array([0, 4, 5]))[0, 0] == 2.0  # (0 + 3 + 3) / 3: the first place counts, too


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"\(L, H, Q, K\), received \(5, 7\)"):
        entropy(np.zeros((5, 7)))
    with pytest.raises(ValueError, match=r"\(Q,\) = \(5,\), received \(7,\)"):
        distance(WEIGHTS, np.zeros(7))
