"""The development sets are well formed, and their measure says what it should."""

import csv
import unicodedata

import pytest

from training.documents.render import content
from training.documents.tables import Sources
from training.measure.sets import (
    OWN_SETS,
    Result,
    SetCounts,
    SetRow,
    by_set_and_kind,
    count,
    counts_as_json,
    read_rows,
)

PATHS = sorted(OWN_SETS.glob("sets/*.csv"))
ROW = SetRow("slips", "doubled", "우리리는 밥을 먹었다", "우리는 밥을 먹었다")
RIGHT = SetRow("slips", "right", "산 책을 읽었다", "산 책을 읽었다")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_set_is_well_formed(path):
    with path.open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == ["src", "tgt", "kind", "note"]
    rows = list(read_rows([path]))
    assert len(rows) == len(set(rows))
    for row in rows:
        assert row.kind
        for text in (row.wrong, row.right):
            assert text == unicodedata.normalize("NFC", text.strip())


def test_no_text_is_wrong_here_and_right_there():
    rows = list(read_rows(PATHS))
    assert not {row.wrong for row in rows if row.wrong != row.right} & {row.right for row in rows}


@pytest.mark.parametrize(
    ("row", "corrected", "exact", "harmed"),
    [
        (ROW, ROW.right, True, False),
        (ROW, ROW.wrong, False, False),
        (ROW, "우리를 밥을 먹었다", False, False),  # another mistake in the same place
        (ROW, "우리는 법을 먹었다", False, True),
        (RIGHT, RIGHT.right, True, False),
        (RIGHT, "산책을 읽었다", False, True),
    ],
)
def test_harm_is_a_change_of_what_was_right(row, corrected, exact, harmed):
    assert (Result(row, corrected).is_exact, Result(row, corrected).is_harmed) == (exact, harmed)


def test_counts():
    results = [Result(ROW, ROW.right), Result(ROW, ROW.wrong), Result(RIGHT, "산책을 읽었다")]
    assert count(results) == SetCounts(wrong=2, exact=1, left=1, right=1, untouched=0, harmed=1)
    sets = counts_as_json(by_set_and_kind(results))
    table = content(Sources(given={"development": {"sets": sets}}), "development").splitlines()
    assert table[2] == "| **slips** |  | 2 | 1 (50.0%) | 1 | 1 | 0 (0%) | 1 |"
    assert table[3].startswith("|  | doubled | 2 |")
