import itertools
import random

import numpy as np
import pytest

from model.analysis.edits import (
    attention_to_edit,
    changed_rows,
    copy_positions,
    focus,
    leading_heads,
    row_positions,
)
from model.text.changes import Change, find_changes
from model.trace.trace import ATTENTION_KINDS, AttentionTrace


def trace_of(source: str, target: str, **attention: np.ndarray) -> AttentionTrace:
    """A trace whose maps are uniform (causal in the decoder) unless given as (H, Q, K) of one layer."""
    s, t = len(source) + 1, len(target) + 1
    causal = np.tril(np.ones((t, t), np.float32))
    maps = {
        "encoder_attention": np.full((1, s, s), 1 / s, np.float32),
        "decoder_attention": (causal / causal.sum(1, keepdims=True))[None],
        "cross_attention": np.full((1, t, s), 1 / s, np.float32),
    } | attention
    heads = max(len(each) for each in maps.values())
    maps = {kind: np.broadcast_to(each, (heads, *each.shape[1:]))[None] for kind, each in maps.items()}
    return AttentionTrace(
        source_tokens=(*source.replace(" ", "␣"), "</s>"),
        target_tokens=(*target.replace(" ", "␣"), "</s>"),
        decoder_input_tokens=("<s>", *target.replace(" ", "␣")),
        source_positional_encoding=np.zeros((s, 4), np.float32),
        target_positional_encoding=np.zeros((t, 4), np.float32),
        log_probabilities=np.zeros(t, np.float32),
        alternatives=((),) * t,
        alternative_probabilities=np.zeros((t, 0), np.float32),
        **maps,
    )


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


def test_a_replacement_by_a_longer_text_leaves_its_last_rows_without_counterpart():
    longer = (Change(1, 2, 1, 4, "나", "다라마"),)
    assert copy_positions(longer, 4, 6).tolist() == [0, 1, -1, -1, 2, 3]
    shorter = (Change(1, 4, 1, 2, "다라마", "나"),)
    assert copy_positions(shorter, 6, 4).tolist() == [0, 1, 4, 5]


def test_rows_outside_changes_find_their_own_character_and_ends_meet():
    for source, target in texts():
        changes = find_changes(source, target)
        positions = copy_positions(changes, len(source) + 1, len(target) + 1)
        changed = changed_rows(changes, len(target) + 1)
        assert positions[-1] == len(source)
        for row in np.flatnonzero(~changed[:-1]):
            assert source[positions[row]] == target[row]
        looked_at = positions[positions >= 0]
        assert (np.diff(looked_at) > 0).all()  # from left to right, no character twice


def test_lengths_that_the_changes_do_not_explain_are_refused():
    with pytest.raises(ValueError, match="make 4 source tokens 6, received 4 target tokens"):
        copy_positions([Change(1, 2, 1, 4, "나", "다라마")], 4, 4)


def test_a_deletion_shows_in_the_row_that_follows_also_at_the_end():
    assert changed_rows(find_changes("가나 다", "가나다"), 4).tolist() == [False, False, True, False]
    assert changed_rows(find_changes("가나", "가"), 2).tolist() == [False, True]
    assert changed_rows(find_changes("가", "가나"), 3).tolist() == [False, True, False]
    assert not changed_rows((), 3).any()


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


def test_a_focus_lies_inside_its_map_and_shows_each_row_something_it_may_see():
    for source, target in texts():
        trace = trace_of(source, target)
        for change, kind in itertools.product(find_changes(source, target), ATTENTION_KINDS):
            queries, keys = trace.axes(kind)
            found = focus(trace, kind, change)
            assert set(found.rows) <= set(range(len(queries))) and found.rows
            assert set(found.columns) <= set(range(len(keys))) and found.columns
            if kind == "decoder_attention":
                assert trace.attention(kind)[0, 0][np.ix_(found.rows, found.columns)].any(axis=1).all()


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
    # Row 1 of the change: elsewhere the columns at a row's own place and right of it, in rows 0, 3 and 4: none holds the end mark.
    # Row 2: the columns left of the place and at it, in rows 3, 4 and 6: that of row 6 does.
    assert attention.usual.item() == pytest.approx((0 / 3 + 1 / 3) / 2)


def test_usual_is_what_corresponding_columns_get_elsewhere():
    # Each row gives 0.25 to the character before the one it copies; the deletion's column is just that.
    weights = np.zeros((1, 7, 8), np.float32)
    for row, copied in enumerate([0, 1, 2, 3, 4, 6, 7]):
        weights[0, row, [max(copied - 1, 0), copied]] = (0.25, 0.75) if row != 5 else (0.875, 0.125)
    trace = trace_of(SOURCE, TARGET, cross_attention=weights)
    attention = attention_to_edit(trace, "cross_attention", CHANGES[1], CHANGES)
    assert (attention.share.item(), attention.usual.item()) == (0.875, 0.25)


@pytest.mark.parametrize("kind", ["encoder_attention", "cross_attention"])
def test_a_head_that_looks_everywhere_alike_favours_no_change(kind):
    for source, target in texts():
        trace, changes = trace_of(source, target), find_changes(source, target)
        for change in changes:
            attention = attention_to_edit(trace, kind, change, changes)
            counted = [
                sum(
                    kind == "cross_attention" or column != row
                    for column in focus(trace, kind, change).columns
                )
                for row in focus(trace, kind, change).rows
            ]
            assert attention.share.item() == pytest.approx(np.mean(counted) / (len(source) + 1), abs=1e-6)
            if changes == (change,) and max(counted) <= 1 and len(source) - len(change.wrong) > 4:
                assert attention.usual.item() == pytest.approx(attention.share.item(), abs=1e-6)
            assert 0 <= attention.usual.item() <= 1


def test_what_a_character_gives_to_itself_tells_nothing_of_its_neighbours():
    trace = trace_of(SOURCE, TARGET, encoder_attention=one_hot(range(8), 8))
    attention = attention_to_edit(trace, "encoder_attention", CHANGES[0], CHANGES)
    assert (attention.share.item(), attention.usual.item()) == (0, 0)
    neighbour = trace_of(SOURCE, TARGET, encoder_attention=one_hot([1, 2, 3, 4, 5, 6, 7, 0], 8))
    attention = attention_to_edit(neighbour, "encoder_attention", CHANGES[0], CHANGES)
    assert attention.share.item() == attention.usual.item() == 1


def test_the_decoder_is_asked_for_what_it_has_just_written():
    previous = trace_of(SOURCE, TARGET, decoder_attention=one_hot(range(7), 7))
    attention = attention_to_edit(previous, "decoder_attention", CHANGES[0], CHANGES)
    assert attention.share.item() == attention.usual.item() == 1
    # While it writes the second syllable this head looks back to the token before the change.
    back = trace_of(SOURCE, TARGET, decoder_attention=one_hot([0, 1, 1, 0, 0, 0, 0], 7))
    attention = attention_to_edit(back, "decoder_attention", CHANGES[0], CHANGES)
    assert attention.share.item() == 1
    assert attention.usual.item() == pytest.approx((1 / 4 + 0 / 3) / 2)  # row 0 has nothing but <s>


def test_a_row_without_choice_does_what_it_always_does():
    changes = find_changes("나다라", "바다라")
    trace = trace_of("나다라", "바다라")
    attention = attention_to_edit(trace, "decoder_attention", changes[0], changes)
    assert attention.share.item() == attention.usual.item() == 1


def test_where_no_row_can_be_asked_usual_is_zero():
    changes = find_changes("가", "나")  # behind the end mark there is no neighbour as there is behind 가
    attention = attention_to_edit(trace_of("가", "나"), "encoder_attention", changes[0], changes)
    assert (attention.share.item(), attention.usual.item()) == (0.5, 0)


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


def test_a_recurrent_network_has_cross_attention_alone():
    full = trace_of(SOURCE, TARGET)
    names = ("encoder_attention", "decoder_attention")
    names += ("source_positional_encoding", "target_positional_encoding")
    trace = AttentionTrace(**{**vars(full), **dict.fromkeys(names)})
    assert len(leading_heads(trace, CHANGES[0], CHANGES)) == 1
    for function in (focus, lambda *given: attention_to_edit(*given, CHANGES)):
        with pytest.raises(ValueError, match="received 'encoder_attention'"):
            function(trace, "encoder_attention", CHANGES[0])


def test_rows_stand_at_themselves_or_at_what_they_copy():
    trace = trace_of(SOURCE, TARGET)
    assert row_positions(trace, "encoder_attention", CHANGES).tolist() == list(range(8))
    assert row_positions(trace, "decoder_attention", CHANGES).tolist() == list(range(7))
    assert row_positions(trace, "cross_attention", CHANGES).tolist() == [0, 1, 2, 3, 4, 6, 7]


def test_a_change_of_another_sentence_is_refused():
    with pytest.raises(ValueError, match=r"one of .* received source\[0:1\] to target"):
        attention_to_edit(
            trace_of(SOURCE, TARGET), "cross_attention", Change(0, 1, 0, 1, "가", "나"), CHANGES
        )
