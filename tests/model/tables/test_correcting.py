"""Correction of a table of texts: counts, written files, resumed runs, the command."""

import csv
import io

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from model.__main__ import main
from model.tables import command
from model.tables.correcting import (
    COLUMNS,
    CorrectedRow,
    PartialResult,
    ResumableJob,
    TableCounts,
    Wording,
    as_bytes,
    correct_rows,
)
from model.tables.reading import count_rows, read_rows
from model.tables.rows import LONGEST, TableRow
from tests.model.tables.made_files import read
from tests.replacing import Replacer


def test_kinds_of_errors_are_counted():
    counts = TableCounts()
    for done in correct_rows(Replacer(), read("안되요.\n날싸가 할수\n좋아요.\n"), together=2):
        counts.add(done)
    assert (counts.rows, counts.changed, counts.bad) == (3, 2, 0)
    # 안되요 has both kinds, and is one place: the page of sentences counts it by the first one, too.
    found = {kind: number for kind, number in counts.by_kind().items() if number}
    assert found == {"spacing": 1, "dwae": 1, "slip": 1}


FORMULAS = ["=1+1", "+82", "-1", "@a", "\t=1", "\r=1", "＝1", '=HYPERLINK("x")', " =1", "'=1"]


def test_no_spreadsheet_calculates_what_was_typed():
    rows = list(correct_rows(Replacer(), [TableRow(i, text) for i, text in enumerate(FORMULAS, 1)]))
    written = list(csv.DictReader(io.StringIO(as_bytes(rows, ".csv").decode("utf-8-sig"), newline="")))
    for name in ("text", "corrected"):
        assert [row[name] for row in written] == [f"'{text}" for text in FORMULAS[:-1]] + FORMULAS[-1:]
    sheet = load_workbook(io.BytesIO(as_bytes(rows, ".xlsx"))).active
    for number, text in enumerate(FORMULAS, start=2):
        assert (sheet.cell(number, 2).data_type, sheet.cell(number, 3).data_type) == ("s", "s")
        assert sheet.cell(number, 2).value.replace("_x000D_", "\r") == text


def test_control_characters_and_half_surrogates_can_be_written():
    rows = list(correct_rows(Replacer(), [TableRow(1, "가\x00\x01\ud800나")]))
    assert "가\x00\x01\ufffd나" in as_bytes(rows, ".csv").decode("utf-8-sig")
    assert load_workbook(io.BytesIO(as_bytes(rows, ".xlsx"))).active.cell(2, 2).value


def test_a_text_that_no_cell_of_xlsx_holds_shows_that_it_is_cut():
    long = "가" * (LONGEST + 5)
    row = CorrectedRow(TableRow(2, "가" * LONGEST, None, (long,)), long, ("spacing",))
    content = as_bytes([row], ".xlsx", others=("memo",))
    _, (_, memo, text, corrected, *_) = load_workbook(io.BytesIO(content)).active.values
    assert text == "가" * LONGEST
    assert memo == corrected == "가" * (LONGEST - 1) + "…"


def test_an_interrupted_run_goes_on(tmp_path):
    result, job = tmp_path / "out.csv", ResumableJob("digest", None, "model", 0.5)
    rows = [TableRow(i, f"날싸 {i}") for i in range(1, 11)]
    with PartialResult(result, job) as part:
        for done in list(correct_rows(Replacer(), rows))[:4]:
            part.add(done)
    with part.path.open("a") as file:
        file.write('[5, "half a li')
    corrector = Replacer()
    with PartialResult(result, job) as part:
        assert part.finished == 4
        for done in correct_rows(corrector, rows[part.finished :]):
            part.add(done)
        part.finish()
    assert len(corrector.asked) == 6
    with result.open(encoding="utf-8-sig", newline="") as file:
        written = list(csv.reader(file))
    assert written[0] == list(COLUMNS)
    assert [row[:3] for row in written[1:]] == [[f"{i}", f"날싸 {i}", f"날씨 {i}"] for i in range(1, 11)]
    assert not part.path.exists()


@pytest.mark.parametrize(
    "change", [{"sha256": "other"}, {"fingerprint": "other"}, {"minimum_confidence": 0.9}]
)
def test_a_part_of_something_else_is_begun_anew(tmp_path, change):
    job = ResumableJob("digest", None, "model", 0.5)
    with PartialResult(tmp_path / "out.xlsx", job) as part:
        part.add(next(correct_rows(Replacer(), [TableRow(1, "가")])))
    with PartialResult(tmp_path / "out.xlsx", ResumableJob(**vars(job) | change)) as part:
        assert part.finished == 0
        assert list(part.rows()) == []


def test_rows_beyond_the_problems_that_are_named_are_counted(capsys):
    command._tell(TableCounts(rows=9, bad=5, problems=[(2, "encoding"), (3, "encoding")]))
    told = capsys.readouterr().err
    assert "row 3 " in told and "and 3 more rows" in told and "5 bad" in told


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_the_command_corrects_a_file(tiny_folder, tiny_corrector, tmp_path, suffix):
    texts = ["전 오래 씂 수 깄는 겍", "ok 🙂", "손니미 완는데"]
    (tmp_path / "in.csv").write_text(
        "id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)) + "9\n"
    )
    out = tmp_path / f"out.{suffix}"
    arguments = ["correct", "--model", str(tiny_folder), "--csv", str(tmp_path / "in.csv"), "--out", str(out)]
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    assert "row 5 has no cell in the column" in done.stderr
    assert "4 rows" in done.stderr
    if suffix == "csv":
        with out.open(encoding="utf-8-sig", newline="") as file:
            corrected = [row["corrected"] or "" for row in csv.DictReader(file)]
    else:
        corrected = [row[3] or "" for row in load_workbook(out).active.iter_rows(min_row=2, values_only=True)]
    assert corrected == [*(tiny_corrector.correct(text).text for text in texts), ""]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--csv", "in.csv"],
        ["--out", "o.csv"],
        ["--csv", "in.csv", "--out", "o", "가"],
        ["--csv", "in.csv", "--out", "o.csv", "--suggest"],
        ["--column", "2", "가"],
        ["--layout", "report", "가"],
        ["--attention", "가"],
    ],
)
def test_options_that_do_not_go_together(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("가\n")
    assert CliRunner().invoke(main, ["correct", *arguments]).exit_code == 2


def test_a_file_without_a_chosen_column_leaves_no_part_of_a_result(tiny_folder, tmp_path):
    (tmp_path / "in.csv").write_text("민지,안되요\n철수,먹어요\n", "utf-8")
    arguments = ["--csv", str(tmp_path / "in.csv"), "--out", str(tmp_path / "out.csv")]
    done = CliRunner().invoke(main, ["correct", "--model", str(tiny_folder), *arguments])
    assert done.exit_code == 1 and "several columns" in done.output
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["in.csv"]


def test_counting_leaves_the_file_at_its_beginning():
    file = io.BytesIO(b"a\nb\n")
    assert (count_rows(file, "in.csv"), file.tell()) == (2, 0)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_file_for_people_is_worded_for_them(suffix):
    rows = [
        CorrectedRow(TableRow(1, "안되요", None), "안 돼요", ("spacing+sound",)),
        CorrectedRow(TableRow(2, "", "csv"), "", ()),
    ]
    wording = Wording(tuple("줄글고수류흠"), " / ".join, {"csv": "어긋남"}.get)
    written = as_bytes(rows, suffix, wording)
    again = list(read_rows(io.BytesIO(written), f"a{suffix}"))  # 글 is a heading that is read
    assert [row.text for row in again][:1] == ["안되요"]
    if suffix == ".csv":
        assert list(csv.reader(io.StringIO(written.decode("utf-8-sig")))) == [
            list("줄글고수류흠"),
            ["1", "안되요", "안 돼요", "1", "spacing+sound", ""],
            ["2", "", "", "0", "", "어긋남"],
        ]
