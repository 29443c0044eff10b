"""A typed table of numbers is read, mended and written back without losing what was typed."""

import numpy as np
import pytest

from ui.parts.number_table import LARGEST, NumberTable, Problem


@pytest.mark.parametrize("text", ["0,10,0", "1,0;10,0;100,5;1000,6", "-.5,1e3", "가,;<b>,2"])
def test_a_table_survives_the_address(text):
    assert NumberTable.parse(text).text == text


def test_rows_may_also_end_at_a_lines_end():
    np.testing.assert_array_equal(NumberTable.parse(" 1, 2\n3 ,4;").numbers(), [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", Problem("empty")),
        (" ; \n", Problem("empty")),
        ("1,2;3,", Problem("missing", 2, 2)),
        ("1,둘", Problem("not_number", 1, 2, "둘")),
        ("nan", Problem("not_number", 1, 1, "nan")),
        ("1_0", Problem("not_number", 1, 1, "1_0")),
        ("١", Problem("not_number", 1, 1, "١")),
        (f"0,{LARGEST * 10}", Problem("huge", 1, 2, str(LARGEST * 10))),
        ("1e999", Problem("huge", 1, 1, "1e999")),
        ("1,2;3", Problem("unequal", 2, 1, "2")),
        (";".join("1" * 9), Problem("many_rows", row=9)),
        (",".join("1" * 7), Problem("many_columns", column=7)),
    ],
)
def test_what_cannot_be_computed_with_is_named(text, problem):
    table = NumberTable.parse(text)
    assert table.problem() == problem
    table.frame()  # and can still be shown
    with pytest.raises(ValueError, match=problem.kind):
        table.numbers()


def test_edits_change_the_touched_cells_alone():
    table = NumberTable.parse("1.50,둘;3,4;5,6")
    edits = {
        "edited_rows": {0: {"1": 2.5}, 2: {"2": None}},
        "deleted_rows": [1],
        "added_rows": [{"1": 7, "2": -0.1}, {}],
    }
    assert table.edited(edits).text == "2.5,둘;5,;7,-0.1;,"
    assert table.edited({}).text == table.text


def test_an_edit_beyond_a_short_row_fills_it_with_empty_cells():
    assert NumberTable.parse("1,2,3;4").edited({"edited_rows": {1: {"3": 9}}}).text == "1,2,3;4,,9"


def test_an_empty_table_takes_its_first_number():
    assert list(NumberTable.parse("").frame().columns) == ["1"]
    assert NumberTable.parse("").edited({"added_rows": [{"1": 3}]}).text == "3"


def test_the_editor_gets_numbers_and_empty_cells():
    frame = NumberTable.parse("1,x;2").frame()
    assert list(frame.columns) == ["1", "2"]
    assert frame["1"].tolist() == [1.0, 2.0]
    assert frame["2"].isna().all()
