"""Table of native writers' mistakes: no doubles, no contradictions, cells of a row."""

from training.noise import native
from training.noise.draft import changed_cells


def test_table_is_large_and_each_pair_is_there_once():
    rows = native.table()
    assert len({(row.right, row.wrong) for row in rows}) == len(rows) > 2000
    assert len({row.name for row in rows}) >= 40


def test_no_wrong_spelling_is_another_rows_right_one():
    rights = {row.right for row in native.table()}
    assert [row for row in native.table() if row.wrong in rights] == []


def test_cells_of_each_row_spell_its_wrong_form_and_keep_what_is_equal():
    for row in native.table():
        start, cells = changed_cells(row.right, row.wrong)
        end = start + len(cells)
        assert cells and end <= len(row.right)
        assert row.right[:start] + "".join(cells) + row.right[end:] == row.wrong
