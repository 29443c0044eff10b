"""A draft keeps a cell for each character of the right sentence; slips fall on its rarer words."""

import random
from collections import Counter

import pytest

from training.noise.draft import Aim, Draft, Edit, changed_cells, choose_word, stem
from training.noise.pairs import Writer, make_pair
from training.noise.typing_slips import slip


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


def test_nothing_is_recorded_where_nothing_changes():
    draft = Draft("가나")
    draft.put("rule", "typing", 0, ["가", "나"])
    draft.put("rule", "typing", 1, [])
    assert draft.edits == []


@pytest.mark.parametrize(("start", "cells"), [(-1, ["다"]), (1, ["다", "라"]), (2, ["다"])])
def test_cells_outside_the_sentence_are_refused(start, cells):
    with pytest.raises(ValueError, match=f"cells {start}:{start + len(cells)} lie outside a sentence of 2"):
        Draft("가나").put("rule", "typing", start, cells)


@pytest.mark.parametrize(
    ("right", "wrong", "start", "cells"),
    [
        ("며칠", "몇일", 0, ["몇", "일"]),
        ("안 돼요", "안되요", 1, ["", "되"]),
        ("설렘", "설레임", 1, ["레임"]),
        ("가나", "가다나", 0, ["가다"]),
        ("나", "가나", 0, ["가나"]),
        ("사귀어", "사겨", 1, ["겨", ""]),
    ],
)
def test_changed_cells(right, wrong, start, cells):
    assert changed_cells(right, wrong) == (start, cells)


TEXT = "사람들은 오늘 두루마기를 입었다."
AIM = Aim(["사람들은 오늘 입었다."] * 200 + [TEXT])


@pytest.mark.parametrize(
    ("word", "without"),
    [
        ("사과를", "사과"),
        ("학교에서는", "학교"),
        ("사람들은", "사람"),
        ("나는", "나는"),
        ("먹었다", "먹었다"),
    ],
)
def test_a_particle_is_left_out_where_two_syllables_stay(word, without):
    assert stem(word) == without


def test_rare_words_weigh_more_than_common_ones():
    weights = AIM.weights(TEXT)
    assert len(weights) == len(TEXT) and min(weights) > 0
    by_word = {word: weights[TEXT.index(word)] for word in ("사람들은", "오늘", "두루마기를", "입었다")}
    assert max(by_word, key=by_word.get) == "두루마기를"
    assert by_word["두루마기를"] > 3 * by_word["오늘"]
    assert weights[TEXT.index("두")] == weights[TEXT.index("를")]


def test_slips_within_a_span_stay_there():
    start = TEXT.index("두루마기를")
    for seed in range(50):
        draft = Draft(TEXT)
        assert slip(draft, random.Random(seed), 2, (start, start + 5)) == 2
        assert all(start <= edit.start and edit.end <= start + 5 for edit in draft.edits)


def test_some_aimed_writers_slip_several_times_in_one_word():
    weights, bunched = AIM.weights(TEXT), 0
    for seed in range(300):
        pair = make_pair(TEXT, random.Random(seed), "typing", Writer(0.1, weights=weights))
        start = TEXT.index("두루마기를")
        bunched += sum(start <= edit.start < start + 5 for edit in pair.edits) > 1
    assert 30 < bunched < 150


def test_a_word_is_drawn_by_its_weight():
    drawn = Counter(choose_word(TEXT, AIM.weights(TEXT), random.Random(seed)) for seed in range(200))
    start = TEXT.index("두루마기를")
    assert drawn.most_common(1)[0][0] == (start, start + 5)
    assert choose_word("이 그 1 a", [1.0] * 7, random.Random(0)) is None
