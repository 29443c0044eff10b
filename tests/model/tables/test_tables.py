"""Files of many texts: what is read, what is told about bad rows, what spreadsheets get, going on after a stop."""

import csv
import io
import zipfile

import pytest
from click.testing import CliRunner
from openpyxl import Workbook, load_workbook

from model.__main__ import main
from model.correction.correction import Correction, SentenceCorrection
from model.tables import (
    CorrectedRow,
    Counts,
    Row,
    TableError,
    correct_rows,
    count_rows,
    read_columns,
    read_rows,
)
from model.tables.cells import UNPACKED
from model.tables.errors import FILE_PROBLEMS, LONGEST
from model.tables.resuming import Job, PartialResult
from model.tables.writing import COLUMNS, Wording, as_bytes
from model.text.changes import find_changes


class Replacer:
    """Stands in for a Corrector; knows two mistakes."""

    fingerprint, minimum_confidence = "0123456789ab", 0.5

    def __init__(self):
        self.asked = []

    def correct_batch(self, texts):
        self.asked += texts
        return [self._correct(text) for text in texts]

    def _correct(self, text):
        changes = find_changes(
            text, text.replace("안되요", "안 돼요").replace("날싸", "날씨").replace("할수", "할 수")
        )
        sure = [type(c)(**vars(c) | {"fix_probability": 1.0, "keep_probability": 0.0}) for c in changes]
        return Correction(text, (SentenceCorrection(0, text, tuple(sure), 0.5, False, None),))


def xlsx(*rows) -> bytes:
    book, file = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def read(content, name="in.csv", column=None):
    content = content.encode() if isinstance(content, str) else content
    return [row._replace(others=()) for row in rows_of(content, name, column)]


def rows_of(content, name="in.csv", column=None):
    """With the other columns."""
    content = content.encode() if isinstance(content, str) else content
    return list(read_rows(io.BytesIO(content), name, column))


@pytest.mark.parametrize(
    ("content", "name", "column", "rows"),
    [
        ("가\n나\n", "in.csv", None, [(1, "가"), (2, "나")]),
        ("id,문장\n1,가\n2,나\n", "in.csv", None, [(2, "가"), (3, "나")]),
        ("id,other\n1,가\n", "in.csv", "other", [(2, "가")]),
        ("1,가\n2,나\n", "in.csv", "2", [(1, "가"), (2, "나")]),
        ('"가, ""나""\n다"\n\n라\n', "in.CSV", None, [(1, '가, "나"\n다'), (3, "라")]),
        ("가 나\n\n다\x0c라\u2028마\n", "in.txt", None, [(1, "가 나"), (3, "다\x0c라\u2028마")]),
        ("\ufeff가\r\n나\r\n", "in.csv", None, [(1, "가"), (2, "나")]),
        ("가나다".encode("cp949"), "in.txt", None, [(1, "가나다")]),
        (xlsx(["번호", "글"], [1, "가"], [2, "나"]), "in.xlsx", None, [(2, "가"), (3, "나")]),
        ("", "in.csv", None, []),
        ("", "in.txt", None, []),
    ],
)
def test_rows_are_read_with_the_numbers_a_spreadsheet_shows(content, name, column, rows):
    assert read(content, name, column) == [Row(*row) for row in rows]


@pytest.mark.parametrize(
    ("content", "name", "column", "number", "problem"),
    [
        ("text,n\n가,1\n".encode() + b"\xff\xfe\xff,2\n", "in.csv", None, 3, "encoding"),
        ("1,가\n2\n", "in.csv", "2", 2, "no_cell"),
        (xlsx(["글"], ["가"], [3.5]), "in.xlsx", None, 3, "not_text"),
        ("가\n" + "나" * (LONGEST + 1) + "\n", "in.txt", None, 2, "too_long"),
        ('가\n"나"다\n라\n', "in.csv", None, 2, "csv"),
        ('"나"다\n라\n', "in.csv", None, 1, "csv"),
    ],
)
def test_bad_rows_are_told_by_number_and_their_neighbours_are_corrected(
    content, name, column, number, problem
):
    rows = read(content, name, column)
    assert [row for row in rows if row.problem] == [Row(number, "", problem)]
    assert len(rows) >= 2
    done = list(correct_rows(Replacer(), rows))
    assert [each.corrected for each in done] == [row.text for row in rows]


@pytest.mark.parametrize(
    ("content", "name", "column", "problem", "message"),
    [
        ("가", "in.pdf", None, "format", "should end in"),
        ("a,b\n1,2\n", "in.csv", "c", "no_column", "no column 'c'"),
        ("a,b\n1,2\n", "in.csv", "9", "no_column", "no column '9', the widest row has 2 cells"),
        (b"PK nonsense", "in.xlsx", None, "no_xlsx", "no XLSX file"),
    ],
)
def test_what_is_no_table(content, name, column, problem, message):
    with pytest.raises(TableError, match=message) as refused:
        read(content, name, column)
    assert refused.value.problem == problem
    assert problem in FILE_PROBLEMS


def book(sheet, *, state="visible", at=(1, 1), rows=()):
    for number, row in enumerate(rows):
        for place, value in enumerate(row):
            sheet.cell(at[0] + number, at[1] + place, value)
    sheet.sheet_state = state
    return sheet


def saved(workbook) -> bytes:
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


NAMED = "번호,이름,소감\n1,민수,오늘은 정말 재미있었다\n2,지우,다음에 또 오고 싶다\n"


@pytest.mark.parametrize(
    ("content", "chosen", "names"),
    [
        (NAMED, None, ["번호", "이름", "소감"]),
        (NAMED.replace(",", ";"), None, ["번호", "이름", "소감"]),
        (NAMED.replace(",", "\t"), None, ["번호", "이름", "소감"]),
        (NAMED.encode("utf-16"), None, ["번호", "이름", "소감"]),
        (NAMED.encode("cp949"), None, ["번호", "이름", "소감"]),
        ("우리 반 소감,,\n" + NAMED, None, ["번호", "이름", "소감"]),
        (NAMED.replace("소감", "문장"), 2, ["번호", "이름", "문장"]),
        ("가, 나\n다라\n마바\n", 0, ["1"]),
        ("1,가나다\n2,라마바\n", None, ["1", "2"]),
    ],
)
def test_the_column_is_chosen_or_nobody_has_chosen(content, chosen, names):
    content = content.encode() if isinstance(content, str) else content
    columns = read_columns(io.BytesIO(content), "a.csv")
    assert columns.chosen == chosen
    assert [columns.name(place) for place in columns.places] == names
    assert columns.guess == len(names) - 1
    if chosen is None:
        with pytest.raises(TableError, match="several columns, say which one") as refused:
            read(content)
        assert refused.value.problem == "which_column"
        texts = [row.text for row in read(content, column=names[-1]) if row.problem is None]
        assert len(texts) == 2 and texts[0].strip() != ""


def test_a_title_above_the_header_is_told_and_not_corrected():
    rows = read("우리 반 소감,,\n\n" + NAMED, column="소감")
    assert [(row.number, row.problem) for row in rows] == [(1, "above"), (4, None), (5, None)]


def test_a_comma_that_nobody_has_quoted_does_not_cut_the_text():
    assert [row.text for row in read("번호,소감\n1,좋았다, 정말\n2,또 오고 싶다\n", column="소감")] == [
        "좋았다, 정말",
        "또 오고 싶다",
    ]
    assert [row.text for row in read("text\n좋았다, 정말\n")] == ["좋았다, 정말"]
    rows = read("문장,번호\n좋았다, 정말,1\n또 왔다,2\n")
    assert [(row.number, row.text, row.problem) for row in rows] == [
        (2, "", "too_many"),
        (3, "또 왔다", None),
    ]


def test_a_sheet_that_begins_elsewhere_and_one_that_is_hidden():
    workbook = Workbook()
    book(workbook.active, state="hidden", rows=[["text"], ["숨은 글"]])
    book(workbook.create_sheet(), at=(8, 3), rows=[["문장", "번호"], ["가나다", 1], ["라마바", 2]])
    assert read(saved(workbook), "a.xlsx") == [Row(9, "가나다"), Row(10, "라마바")]


def test_cells_that_hold_no_text_are_told_by_row():
    content = xlsx(["문장"], ["=A1"], [3], ["가_x000D_나"])
    assert read(content, "a.xlsx") == [Row(2, "", "formula"), Row(3, "", "not_text"), Row(4, "가\r나")]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_the_other_columns_are_kept(suffix):
    rows = rows_of(NAMED, column="소감")
    columns = read_columns(io.BytesIO(NAMED.encode()), "a.csv", "소감")
    names = [columns.name(place) for place in columns.others]
    content = as_bytes(correct_rows(Replacer(), rows), suffix, others=names)
    again = rows_of(content, f"a{suffix}", "corrected")
    assert names == ["번호", "이름"]
    assert [row.others[1:3] for row in again] == [("1", "민수"), ("2", "지우")]
    assert [row.text for row in again] == ["오늘은 정말 재미있었다", "다음에 또 오고 싶다"]


def test_a_first_row_may_be_shorter_than_the_column():
    assert read("제목\n1,가\n", column="2") == [Row(1, "", "no_cell"), Row(2, "가")]


def test_a_file_that_unpacks_to_too_much(monkeypatch):
    monkeypatch.setattr("model.tables.cells.UNPACKED", 10_000)
    assert UNPACKED > 10_000
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "0" * 20_000)
    with pytest.raises(TableError, match="unpack to 20,000 bytes") as refused:
        read(file.getvalue(), "bomb.xlsx")
    assert refused.value.problem == "unpacked"


def test_kinds_of_errors_are_counted():
    counts = Counts()
    for done in correct_rows(Replacer(), read("안되요.\n날싸가 할수\n좋아요.\n"), together=2):
        counts.add(done)
    assert (counts.rows, counts.changed, counts.bad) == (3, 2, 0)
    # The change of 안되요 is of both kinds.
    assert counts.by_kind() == {"spacing": 2, "liaison": 0, "sound": 1, "jamo": 1, "word": 0}


def test_a_change_of_two_kinds_is_one_change_in_the_table():
    rows = list(correct_rows(Replacer(), [Row(1, "안되요. 할수")]))
    assert rows[0].kinds == ("spacing+sound", "spacing")
    (written,) = csv.DictReader(io.StringIO(as_bytes(rows, ".csv").decode("utf-8-sig"), newline=""))
    assert (written["changes"], written["kinds"]) == ("2", "spacing+sound spacing")


def test_rows_are_asked_for_as_they_are_wanted():
    corrector = Replacer()
    done = correct_rows(corrector, (Row(i, f"{i}") for i in range(10_000)), together=4)
    assert next(done).row.text == "0"
    assert len(corrector.asked) == 4


FORMULAS = ["=1+1", "+82", "-1", "@a", "\t=1", "\r=1", "＝1", '=HYPERLINK("x")', " =1", "'=1"]


def test_no_spreadsheet_calculates_what_was_typed():
    rows = list(correct_rows(Replacer(), [Row(i, text) for i, text in enumerate(FORMULAS, 1)]))
    written = list(csv.DictReader(io.StringIO(as_bytes(rows, ".csv").decode("utf-8-sig"), newline="")))
    for name in ("text", "corrected"):
        assert [row[name] for row in written] == [f"'{text}" for text in FORMULAS[:-1]] + FORMULAS[-1:]
    sheet = load_workbook(io.BytesIO(as_bytes(rows, ".xlsx"))).active
    for number, text in enumerate(FORMULAS, start=2):
        assert (sheet.cell(number, 2).data_type, sheet.cell(number, 3).data_type) == ("s", "s")
        assert sheet.cell(number, 2).value.replace("_x000D_", "\r") == text


def test_control_characters_and_half_surrogates_can_be_written():
    rows = list(correct_rows(Replacer(), [Row(1, "가\x00\x01\ud800나")]))
    assert "가\x00\x01\ufffd나" in as_bytes(rows, ".csv").decode("utf-8-sig")
    assert load_workbook(io.BytesIO(as_bytes(rows, ".xlsx"))).active.cell(2, 2).value


def test_an_interrupted_run_goes_on(tmp_path):
    result, job = tmp_path / "out.csv", Job("digest", None, "model", 0.5)
    rows = [Row(i, f"날싸 {i}") for i in range(1, 11)]
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
    job = Job("digest", None, "model", 0.5)
    with PartialResult(tmp_path / "out.xlsx", job) as part:
        part.add(next(correct_rows(Replacer(), [Row(1, "가")])))
    with PartialResult(tmp_path / "out.xlsx", Job(**vars(job) | change)) as part:
        assert part.finished == 0
        assert list(part.rows()) == []


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
            corrected = [row["corrected"] for row in csv.DictReader(file)]
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
    ],
)
def test_options_that_do_not_go_together(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("가\n")
    assert CliRunner().invoke(main, ["correct", *arguments]).exit_code == 2


def test_counting_leaves_the_file_at_its_beginning():
    file = io.BytesIO(b"a\nb\n")
    assert (count_rows(file, "in.csv"), file.tell()) == (2, 0)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_file_for_people_is_worded_for_them(suffix):
    rows = [
        CorrectedRow(Row(1, "안되요", None), "안 돼요", ("spacing+sound",)),
        CorrectedRow(Row(2, "", "csv"), "", ()),
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
