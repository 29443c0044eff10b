import numpy as np
import pytest

from model.analysis.attention_maps import (
    WordAxis,
    by_word,
    masked_by_word,
    word_axes,
    word_labels,
    words,
    words_in_text,
)
from model.trace.trace import AttentionTrace


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


def test_keys_are_summed_and_queries_averaged():
    weights = np.array([[0.5, 0.25, 0.25], [0.0, 0.75, 0.25]], np.float32)
    found = by_word(weights, ((0, 2),), ((0, 2), (2, 3)))
    assert found.dtype == np.float32
    assert found.tolist() == [[0.75, 0.25]]


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


def test_a_word_is_masked_where_none_of_it_can_be_seen():
    hidden = np.triu(np.ones((5, 5), bool), k=1)
    spans = ((0, 1), (1, 3), (3, 5))
    assert masked_by_word(hidden, spans, spans).tolist() == np.triu(np.ones((3, 3), bool), k=1).tolist()
    weights = np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]
    assert (by_word(weights, spans, spans)[masked_by_word(hidden, spans, spans)] == 0).all()


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
