"""Attention to a change: its rows and columns, leading heads, agreement with guesses."""

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from model.analysis.attention_maps import aligned_difference
from model.analysis.edits import (
    agreement,
    attention_of_change,
    attention_to_edit,
    by_character,
    changes_in_tokens,
    copied_tokens,
    copy_positions,
    focus,
    leading_heads,
    row_positions,
    spans_of,
    text_of,
)
from model.text.changes import Change, find_changes
from model.trace.trace import ATTENTION_KINDS, AttentionTrace
from tests.own_model import RIGHT, WRONG, Speller
from tests.ui.fake_corrector import random_trace


def trace_of(source: str, target: str, **attention: np.ndarray) -> AttentionTrace:
    """A trace whose maps are uniform (causal in the decoder) unless given as (H, Q, K) of one layer."""
    s, t = len(source) + 1, len(target) + 1
    causal = np.tril(np.ones((t, t), np.float32))
    maps = {
        "encoder_attention": np.full((1, s, s), 1 / s, np.float32),
        "decoder_attention": (causal / causal.sum(1, keepdims=True))[None],
        "cross_attention": np.full((1, t, s), 1 / s, np.float32),
    } | attention
    heads = max(map(len, maps.values()))
    maps = {kind: np.broadcast_to(each, (heads, *each.shape[1:]))[None] for kind, each in maps.items()}
    return replace(random_trace(source, target), **maps)


def one_hot(keys, length: int) -> np.ndarray:
    """(1, Q, K): row q gives all its attention to keys[q]."""
    return np.eye(length, dtype=np.float32)[np.asarray(keys)][None]


def texts(count: int = 300):
    rng = random.Random(4)
    for _ in range(count):
        yield ("".join(rng.choices("가나다 .", k=rng.randrange(0, 10))) for _ in range(2))


def test_a_copy_looks_at_the_same_character_and_pairs_what_was_replaced():
    source, target = "손니미 갔 다", "손님이 갔다요"
    positions = copy_positions(find_changes(source, target), len(source) + 1, len(target) + 1)
    #                              손 님 이 ␣ 갔 다 요 </s>
    assert positions.tolist() == [0, 1, 2, 3, 4, 6, -1, 7]


def test_lengths_that_the_changes_do_not_explain_are_refused():
    with pytest.raises(ValueError, match="make 4 source tokens 6, received 4 target tokens"):
        copy_positions([Change(1, 2, 1, 4, "나", "다라마")], 4, 4)


@pytest.mark.parametrize(
    ("source", "target", "cross", "encoder", "decoder"),
    [
        ("가나다라", "가바사라", ((1, 2), (1, 2)), ((1, 2), (0, 1, 2, 3)), ((1, 2), (1, 2))),
        ("나다", "바다", ((0,), (0,)), ((0,), (0, 1)), ((0,), (0,))),
        ("가나다", "가 나다", ((1,), (0, 1)), ((0, 1), (0, 1)), ((1,), (1,))),
        ("가나", "다가나", ((0,), (0,)), ((0,), (0,)), ((0,), (0,))),
        ("가나", "가나요", ((2,), (1, 2)), ((1, 2), (1, 2)), ((2,), (2,))),
        ("가 나", "가나", ((1,), (1,)), ((1,), (0, 1, 2)), ((1,), (1,))),
        ("가나", "가", ((1,), (1,)), ((1,), (0, 1, 2)), ((1,), (1,))),
    ],
)
def test_what_belongs_to_a_change(source, target, cross, encoder, decoder):
    (change,) = find_changes(source, target)
    trace = trace_of(source, target)
    for kind, expected in zip(ATTENTION_KINDS, (encoder, decoder, cross), strict=True):
        found = focus(trace, kind, change)
        assert (found.rows, found.columns) == expected, kind


SOURCE, TARGET = "손니미 갔 다", "손님이 갔다"
CHANGES = find_changes(SOURCE, TARGET)


def test_a_head_that_copies_does_nothing_unusual_at_a_correction():
    trace = trace_of(SOURCE, TARGET, cross_attention=one_hot([0, 1, 2, 3, 4, 6, 7], 8))
    attention = attention_to_edit(trace, "cross_attention", CHANGES[0], CHANGES)
    assert attention.share.shape == attention.usual.shape == (1, 1)
    assert attention.share.item() == 1
    # Row 1 of the change sees its own and the next character, as each other row sees its own.
    assert attention.usual.item() == 1
    assert attention.beyond_usual.item() == 0
    deletion = attention_to_edit(trace, "cross_attention", CHANGES[1], CHANGES)
    assert (deletion.share.item(), deletion.usual.item()) == (0, 0)


def test_a_head_that_turns_to_the_mistake_alone_stands_out():
    looks = one_hot([7, 1, 1, 7, 7, 7, 7], 8)  # elsewhere it rests on the end mark
    trace = trace_of(SOURCE, TARGET, cross_attention=looks)
    attention = attention_to_edit(trace, "cross_attention", CHANGES[0], CHANGES)
    assert attention.share.item() == 1
    # Row 1 of the change: elsewhere the columns at a row's own place and right of it, in rows 0, 3 and 4:
    # none holds the end mark. Row 2: the columns left of the place and at it, in rows 3, 4 and 6: that of row
    # 6 does.
    assert attention.usual.item() == pytest.approx((0 / 3 + 1 / 3) / 2)


def test_the_decoder_is_asked_for_what_it_has_just_written():
    previous = trace_of(SOURCE, TARGET, decoder_attention=one_hot(range(7), 7))
    attention = attention_to_edit(previous, "decoder_attention", CHANGES[0], CHANGES)
    assert attention.share.item() == attention.usual.item() == 1
    # While it writes the second syllable this head looks back to the token before the change.
    back = trace_of(SOURCE, TARGET, decoder_attention=one_hot([0, 1, 1, 0, 0, 0, 0], 7))
    attention = attention_to_edit(back, "decoder_attention", CHANGES[0], CHANGES)
    assert attention.share.item() == 1
    assert attention.usual.item() == pytest.approx((1 / 4 + 0 / 3) / 2)  # row 0 has nothing but <s>


def test_leading_heads_are_those_that_do_there_what_they_do_nowhere_else():
    copies, turns, rests = [0, 1, 2, 3, 4, 6, 7], [7, 1, 1, 7, 7, 7, 7], [7] * 7
    heads = np.concatenate([one_hot(keys, 8) for keys in (copies, turns, rests, copies)])
    trace = trace_of(SOURCE, TARGET, cross_attention=heads)
    leading = leading_heads(trace, CHANGES[0], CHANGES, count=2)
    assert [(each.layer, each.head) for each in leading] == [(0, 1), (0, 0)]  # of equal ones the first
    layer, head, share, usual = leading[0]
    assert (layer, head, share) == (0, 1, 1.0) and usual < 0.2
    assert [type(value) for value in leading[0]] == [int, int, float, float]
    assert len(leading_heads(trace, CHANGES[0], CHANGES, count=9)) == 4


def test_a_change_of_another_sentence_is_refused():
    with pytest.raises(ValueError, match=r"one of .* received source\[0:1\] to target"):
        attention_to_edit(
            trace_of(SOURCE, TARGET), "cross_attention", Change(0, 1, 0, 1, "가", "나"), CHANGES
        )


TRACE = Speller().trace(WRONG, RIGHT)  # te h ▁ca t ▁왓다 </s> -> th e ▁ca t ▁왔다 </s>


def placed(trace: AttentionTrace, source: str, target: str) -> list[tuple[int, int, int, int]]:
    changes = changes_in_tokens(trace, find_changes(source, target))
    return [(c.source_start, c.source_end, c.target_start, c.target_end) for c in changes]


def test_a_token_that_a_change_touches_belongs_to_it():
    # h is inserted inside "te" and "th"; the h behind the e is deleted, before "▁ca"; 왓 becomes 왔.
    assert placed(TRACE, WRONG, RIGHT) == [(0, 1, 0, 1), (1, 2, 2, 2), (4, 5, 4, 5)]


def test_without_places_there_are_none():
    blind = replace(TRACE, source_spans=None)
    assert changes_in_tokens(blind, find_changes(WRONG, RIGHT)) is None
    assert spans_of(blind, "source") is None
    assert (copied_tokens(blind) == -1).all()


def test_a_text_is_given_or_read_from_characters():
    assert text_of(TRACE, "source") == WRONG
    assert text_of(random_trace("가 나", "가"), "source") == "가 나"
    assert text_of(replace(TRACE, source_text=None, source_spans=None), "source") is None
    assert by_character(("가", "</s>"))
    assert not by_character(("가",))
    assert not by_character(())


def test_a_copy_is_the_token_that_holds_the_same_characters():
    assert row_positions(TRACE, "cross_attention", ()).tolist() == [0, 0, 2, 3, 4, 5]
    same = Speller().trace("a big cat", "a big cat")
    assert row_positions(same, "cross_attention", ()).tolist() == list(range(len(same.target_tokens)))


def test_a_trace_of_characters_may_leave_spaces_out():
    marks = {"decoder_input_tokens": ("<s>", "a", "b"), "target_tokens": ("a", "b", "</s>")}
    source = {"source_text": "ab c", "source_tokens": (*"abc", "</s>")}
    source["source_spans"] = ((0, 1), (1, 2), (3, 4), (4, 4))
    weights = np.full((1, 1, 3, 4), 0.25, np.float32)
    trace = AttentionTrace(**source, **marks, target_text="ab", cross_attention=weights)
    changes = changes_in_tokens(trace, find_changes("ab c", "ab"))
    assert row_positions(trace, "cross_attention", changes).tolist() == [0, 1, 3]
    (head,) = leading_heads(trace, changes[0], changes)
    assert head.share == pytest.approx(0.25)  # the end mark's row attends to the deleted space


def test_aligned_tokens_match_whole_tokens():
    one, other = Speller().trace("a big cat", "a big cat"), Speller().trace("a cat", "a cat")
    weights = one.cross_attention[0, 0], other.cross_attention[0, 0]
    found, missing = aligned_difference("cross_attention", one, other, weights)
    assert not missing.any()
    rows = [0, 3, 4, 5]  # a ▁bi g ▁ca t </s> -> a ▁ca t </s>
    np.testing.assert_allclose(found, weights[1] - weights[0][np.ix_(rows, rows)])


def test_shares_worked_out_by_hand():
    weights = np.array([[0.5, 0.25, 0.125, 0.0, 0.125], [0.0, 0.25, 0.25, 0.5, 0.0]])
    found = agreement(weights, [0, 2])
    np.testing.assert_allclose(found.share, [0.625, 0.25])
    np.testing.assert_allclose(found.best, [0.75, 0.75])
    np.testing.assert_allclose(found.random, [0.4, 0.4])
    np.testing.assert_array_equal(found.hits, [1, 0])  # the top two are {0, 1} and {3, 1}
    np.testing.assert_array_equal(found.precision, [0.5, 0.0])


def test_random_is_the_mean_over_all_choices_and_best_their_maximum():
    weights = np.random.default_rng(0).dirichlet(np.ones(7))[:6]  # a part of a row: sums to less than 1
    for count in range(1, 7):  # with all six marked, nothing is left to compare
        shares = [agreement(weights, marked).share for marked in combinations(range(6), count)]
        found = agreement(weights, range(count))
        np.testing.assert_allclose(found.random, np.mean(shares))
        np.testing.assert_allclose(found.best, np.max(shares))


@pytest.mark.parametrize("marked", [[], [3], [-1, 0]])
def test_marks_that_are_no_candidates_are_refused(marked):
    with pytest.raises(ValueError, match=r"some of 0\.\.2, received"):
        agreement(np.array([0.5, 0.3, 0.2]), marked)


def test_attention_of_a_change_is_that_of_the_character_in_question():
    source, target = "머꼬 가", "먹고서 가"
    trace, (change,) = random_trace(source, target), find_changes(source, target)
    for asked, (_, written) in enumerate(change.questions):
        one = replace(change, asked=asked)
        attention = attention_of_change(trace, one)
        np.testing.assert_array_equal(attention, trace.cross_attention[:, :, written])
        columns = list(focus(trace, "cross_attention", change).columns)
        best = leading_heads(trace, one, [one], count=1)[0]
        share = attention[best.layer, best.head, columns].sum()
        assert best.share == pytest.approx(share)
