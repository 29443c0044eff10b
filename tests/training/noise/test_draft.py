import pytest

from training.noise.draft import Draft, Edit


def test_a_new_draft_is_its_own_text():
    draft = Draft("꽃이 핀다")
    assert draft.wrong == "꽃이 핀다"
    assert draft.cells == list("꽃이 핀다")
    assert draft.edits == []


def test_cells_never_move_whatever_is_dropped_or_added():
    draft = Draft("꽃이 핀다")
    draft.put("liaison", "pronunciation", 0, ["꼬", "치"])
    draft.put("dropped_space", "spacing", 2, [""])
    draft.put("doubled", "typing", 4, ["다다"])
    assert draft.wrong == "꼬치핀다다"
    assert len(draft.cells) == len(draft.text) == 5
    assert draft.edits == [
        Edit("liaison", "pronunciation", 0, 2),
        Edit("dropped_space", "spacing", 2, 3),
        Edit("doubled", "typing", 4, 5),
    ]


def test_touched_tells_which_characters_an_earlier_rule_changed():
    draft = Draft("가나다라")
    draft.put("rule", "typing", 1, ["너", "더"])
    spans = {(0, 1): False, (0, 2): True, (1, 2): True, (2, 3): True, (3, 4): False, (1, 1): False}
    assert {span: draft.touched(*span) for span in spans} == spans


def test_nothing_is_recorded_where_nothing_changes():
    draft = Draft("가나")
    draft.put("rule", "typing", 0, ["가", "나"])
    draft.put("rule", "typing", 1, [])
    assert draft.edits == []


@pytest.mark.parametrize(("start", "cells"), [(-1, ["다"]), (1, ["다", "라"]), (2, ["다"])])
def test_cells_outside_the_sentence_are_refused(start, cells):
    with pytest.raises(ValueError, match=f"cells {start}:{start + len(cells)} lie outside a sentence of 2"):
        Draft("가나").put("rule", "typing", start, cells)


def test_drafts_share_nothing():
    first, second = Draft("가나"), Draft("가나")
    first.put("rule", "typing", 0, ["다"])
    assert (second.wrong, second.edits) == ("가나", [])
