"""Changes among tokens that are no characters, and the copies between them."""

from dataclasses import replace

import numpy as np
import pytest

from model import AttentionTrace
from model.analysis.attention_maps import aligned_difference
from model.analysis.edits import (
    by_character,
    changes_in_tokens,
    copied_tokens,
    leading_heads,
    row_positions,
    spans_of,
    text_of,
)
from model.text.changes import find_changes, find_rewriting
from model.trace.trace import Selection
from tests.own_model import RIGHT, SHAPES, WRONG, Speller
from tests.ui.fake_corrector import random_trace

TRACE = Speller().trace(WRONG, RIGHT)  # te h ▁ca t ▁왓다 </s> -> th e ▁ca t ▁왔다 </s>


def placed(trace: AttentionTrace, source: str, target: str) -> list[tuple[int, int, int, int]]:
    changes = changes_in_tokens(trace, find_changes(source, target))
    return [(c.source_start, c.source_end, c.target_start, c.target_end) for c in changes]


def test_a_token_that_a_change_touches_belongs_to_it():
    # h is inserted inside "te" and "th"; the h behind the e is deleted, before "▁ca"; 왓 becomes 왔.
    assert placed(TRACE, WRONG, RIGHT) == [(0, 1, 0, 1), (1, 2, 2, 2), (4, 5, 4, 5)]


def test_where_tokens_are_characters_nothing_moves():
    source, target = "고갱이 왓다", "고객이 왔다 "
    changes = find_changes(source, target)
    assert changes_in_tokens(random_trace(source, target), changes) == changes


def test_what_is_added_at_the_end_stands_before_the_end_mark():
    trace = Speller().trace("a big", "a big cat")
    assert placed(trace, "a big", "a big cat") == [(3, 3, 3, 5)]


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
    assert head.share == pytest.approx(0.25)  # the end mark's row looks at what was left out


def test_heads_are_ranked_over_pieces_of_words():
    changes = changes_in_tokens(TRACE, find_changes(WRONG, RIGHT))
    found = leading_heads(TRACE, changes[2], changes)
    share = TRACE.cross_attention[:, :, 4, 4]
    assert all(head.share == pytest.approx(share[head.layer, head.head]) for head in found)


def test_aligned_tokens_match_whole_tokens():
    one, other = Speller().trace("a big cat", "a big cat"), Speller().trace("a cat", "a cat")
    weights = one.cross_attention[0, 0], other.cross_attention[0, 0]
    found, missing = aligned_difference("cross_attention", one, other, weights)
    assert not missing.any()
    rows = [0, 3, 4, 5]  # a ▁bi g ▁ca t </s> -> a ▁ca t </s>
    np.testing.assert_allclose(found, weights[1] - weights[0][np.ix_(rows, rows)])


def test_a_selection_takes_the_last_layer_and_head_of_a_kind_with_fewer():
    chosen = Selection("cross_attention", 2, 1)
    np.testing.assert_array_equal(chosen.weights(TRACE), TRACE.cross_attention[2, 1])
    np.testing.assert_array_equal(chosen.weights(TRACE, "decoder_attention"), TRACE.decoder_attention[0, 1])
    assert SHAPES["decoder_attention"] == (1, 4)


def test_a_translation_is_one_change_of_the_whole():
    assert find_rewriting(WRONG, RIGHT) == find_changes(WRONG, RIGHT)
    (whole,) = find_rewriting("the cat", "고양이")
    assert (whole.wrong, whole.right) == ("the cat", "고양이")
    assert find_rewriting("", "a") == find_changes("", "a")
