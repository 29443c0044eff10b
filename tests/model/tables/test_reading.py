"""Reader of tables (CSV, XLSX): rows, the column of texts, problems of rows and files."""

import io
import unicodedata
import zipfile

import pytest
from openpyxl import Workbook

from model.tables.correcting import as_bytes, correct_rows
from model.tables.reading import UNPACKED, read_columns
from model.tables.rows import FILE_PROBLEMS, LONGEST, TableError, TableRow
from tests.model.tables.made_documents import COMPOUND
from tests.model.tables.made_files import read, rows_of, xlsx
from tests.replacing import Replacer


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
        (" \n" * 60, "in.csv", None, []),
        (" , \n", "in.csv", None, []),
    ],
)
def test_rows_are_read_with_the_numbers_a_spreadsheet_shows(content, name, column, rows):
    assert read(content, name, column) == [TableRow(*row) for row in rows]


@pytest.mark.parametrize(
    ("content", "name", "column", "number", "problem"),
    [
        ("text,n\n가,1\n".encode() + b"\xff\xfe\xff,2\n", "in.csv", None, 3, "encoding"),
        ("1,가\n2\n", "in.csv", "2", 2, "no_cell"),
        ("제목\n1,가\n", "in.csv", "2", 1, "no_cell"),
        ("가\n" + "나" * (LONGEST + 1) + "\n", "in.txt", None, 2, "too_long"),
        ('가\n"나"다\n라\n', "in.csv", None, 2, "csv"),
        ('"나"다\n라\n', "in.csv", None, 1, "csv"),
    ],
)
def test_bad_rows_are_told_by_number_and_their_neighbours_are_corrected(
    content, name, column, number, problem
):
    rows = read(content, name, column)
    assert [row for row in rows if row.problem] == [TableRow(number, "", problem)]
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
        (COMPOUND, "in.xlsx", None, "old_document", "XLS file; save it"),
        (COMPOUND, "in.xls", None, "old_document", "XLS file; save it"),
        (COMPOUND + "EncryptedPackage".encode("utf-16-le"), "in.xlsx", None, "encrypted", "save it without"),
    ],
)
def test_what_is_no_table(content, name, column, problem, message):
    with pytest.raises(TableError, match=message) as refused:
        read(content, name, column)
    assert refused.value.problem == problem
    assert problem in FILE_PROBLEMS


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


@pytest.mark.parametrize("blank", [",", " , ", ""])
@pytest.mark.parametrize("name", ["in.csv", "in.xlsx"])
def test_a_table_may_begin_after_many_blank_rows(blank, name):
    lines = [blank] * 60 + ["소감,반", "거러가요.,1"]
    content = "\n".join(lines).encode()
    if name.endswith("xlsx"):
        content = xlsx(*(line.split(",") for line in lines))
    with pytest.raises(TableError, match="several columns, say which one: 소감, 반"):
        read(content, name)
    assert read(content, name, "소감") == [TableRow(62, "거러가요.")]


def test_a_title_above_the_header_is_told_and_not_corrected():
    rows = read("우리 반 소감,,\n\n" + NAMED, column="소감")
    assert [(row.number, row.problem) for row in rows] == [(1, "above"), (4, None), (5, None)]


def test_a_comma_that_nobody_has_quoted_does_not_cut_the_text():
    assert [row.text for row in read("text\n좋았다, 정말\n")] == ["좋았다, 정말"]
    rows = read("문장,번호\n좋았다, 정말,1\n또 왔다,2\n")
    assert [(row.number, row.text, row.problem) for row in rows] == [
        (2, "", "too_many"),
        (3, "또 왔다", None),
    ]


def test_a_sheet_that_begins_elsewhere_and_one_that_is_hidden():
    workbook, file = Workbook(), io.BytesIO()
    for row in (["text"], ["숨은 글"]):
        workbook.active.append(row)
    workbook.active.sheet_state = "hidden"
    sheet = workbook.create_sheet()
    for number, row in enumerate((["문장", "번호"], ["가나다", 1], ["라마바", 2]), 8):
        for place, value in enumerate(row, 3):
            sheet.cell(number, place, value)
    workbook.save(file)
    assert read(file.getvalue(), "a.xlsx") == [TableRow(9, "가나다"), TableRow(10, "라마바")]


def test_cells_that_hold_no_text_are_told_by_row():
    content = xlsx(["문장"], ["=A1"], [3], ["가_x000D_나"])
    assert read(content, "a.xlsx") == [
        TableRow(2, "", "formula"),
        TableRow(3, "", "not_text"),
        TableRow(4, "가\r나"),
    ]


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


def test_a_file_that_unpacks_to_too_much(monkeypatch):
    monkeypatch.setattr("model.tables.reading.UNPACKED", 10_000)
    assert UNPACKED > 10_000
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "0" * 20_000)
    with pytest.raises(TableError, match="unpack to 20,000 bytes") as refused:
        read(file.getvalue(), "bomb.xlsx")
    assert refused.value.problem == "unpacked"


def _with_sheet_changed(content: bytes, old: bytes, new: bytes) -> bytes:
    """An XLSX file in which every part has ``new`` for ``old``."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(changed, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, archive.read(name).replace(old, new))
    return changed.getvalue()


def test_a_wrong_dimension_cuts_no_rows_off():
    content = xlsx(["글"], ["안되요"], ["날싸"])
    assert read(_with_sheet_changed(content, b'ref="A1:A3"', b'ref="A1:A2"'), "in.xlsx") == read(
        content, "in.xlsx"
    )


def test_strict_open_xml_is_read():
    content = xlsx(["글"], ["안되요"])
    for usual, strict in (
        (b"schemas.openxmlformats.org/officeDocument/2006/", b"purl.oclc.org/ooxml/officeDocument/"),
        (b"schemas.openxmlformats.org/spreadsheetml/2006/main", b"purl.oclc.org/ooxml/spreadsheetml/main"),
    ):
        content = _with_sheet_changed(content, usual, strict)
    assert read(content, "in.xlsx") == [TableRow(2, "안되요")]


@pytest.mark.parametrize(
    "name", ["문장", unicodedata.normalize("NFD", "문장"), "\ufeff문장", "문\u200b장 ", "TEXT"]
)
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_header_is_known_however_it_is_encoded(name, suffix):
    content = xlsx(["번호", name], [1, "안되요"]) if suffix == ".xlsx" else f"번호,{name}\n1,안되요\n"
    assert read(content, f"in{suffix}") == [TableRow(2, "안되요")]
    assert read(content, f"in{suffix}", unicodedata.normalize("NFC", name)) == [TableRow(2, "안되요")]


@pytest.mark.parametrize(
    "encoding, broken, rows",
    [
        ("cp949", b"\xff", [(2, None), (3, "encoding"), (4, None)]),
        ("utf-8", b"\xff", [(2, None), (3, "encoding"), (4, None)]),
        ("utf-8", b"\xea\xb0", [(2, None), (3, "encoding"), (4, None)]),  # a syllable that was cut
    ],
)
def test_one_broken_byte_costs_its_row(encoding, broken, rows):
    content = "글\n고갱이 왔다\n".encode(encoding) + broken + "\n비가 온다\n".encode(encoding)
    assert [(row.number, row.problem) for row in read(content)] == rows


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n"])
@pytest.mark.parametrize("name", ["in.csv", "in.txt"])
def test_line_ends_do_not_change_the_numbers_of_rows(end, name):
    rows = read(f"text{end}안되요{end}{end}날싸{end}", name)
    assert [(row.number, row.text) for row in rows][-2:] == [(2, "안되요"), (4, "날싸")]


GROUPS = [
    ["번호", "이름", "소감", None],
    [None, None, "처음", "나중"],
    [1, "민수", "안되요", "날싸"],
    [2, "지우", "네", "아니"],
]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_header_of_two_rows_names_each_column(suffix):
    lines = "\n".join(",".join(str(cell or "") for cell in row) for row in GROUPS)
    content = xlsx(*GROUPS) if suffix == ".xlsx" else lines.encode()
    columns = read_columns(io.BytesIO(content), f"in{suffix}")
    assert (columns.header, columns.names) == (2, ("번호", "이름", "소감 처음", "소감 나중"))
    assert [(row.number, row.text) for row in read(content, f"in{suffix}", "소감 나중")] == [
        (3, "날싸"),
        (4, "아니"),
    ]


def test_a_row_of_short_texts_is_no_second_header():
    rows = read("이름,,글\n민수,남,좋다\n지우,여,또 오고 싶어요 정말로\n", column="글")
    assert [(row.number, row.text) for row in rows] == [(2, "좋다"), (3, "또 오고 싶어요 정말로")]
