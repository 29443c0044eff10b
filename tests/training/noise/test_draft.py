"""``Draft``: a cell for each character of the right sentence; aimed slips."""

import random

import pytest

from training.noise.draft import Aim, Draft
from training.noise.pairs import Writer, make_pair


@pytest.mark.parametrize(("start", "cells"), [(-1, ["다"]), (1, ["다", "라"]), (2, ["다"])])
def test_cells_outside_the_sentence_are_refused(start, cells):
    with pytest.raises(ValueError, match=f"cells {start}:{start + len(cells)} lie outside a sentence of 2"):
        Draft("가나").put("rule", "typing", start, cells)


TEXT = "사람들은 오늘 두루마기를 입었다."
AIM = Aim(["사람들은 오늘 입었다."] * 200 + [TEXT])


def test_some_aimed_writers_slip_several_times_in_one_word():
    weights, bunched = AIM.weights(TEXT), 0
    for seed in range(300):
        pair = make_pair(TEXT, random.Random(seed), "typing", Writer(0.1, weights=weights))
        start = TEXT.index("두루마기를")
        bunched += sum(start <= edit.start < start + 5 for edit in pair.edits) > 1
    assert 30 < bunched < 150
