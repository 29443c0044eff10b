"""Corrected tables in the format of the input: texts replaced, or in a column beside."""

import io
import re
import zipfile

import pytest
from click.testing import CliRunner, Result
from openpyxl import load_workbook

from model.__main__ import main
from model.correction.corrector import Corrector
from model.tables.documents import rewritten
from tests.model.tables.made_files import xlsx
from tests.replacing import Replacer

SHEET = "xl/worksheets/sheet1.xml"
TABLE = """번호,"text",반
1,안되요,"가"
2,,나

3,"할수 ""있다"", 네",다
4
5,밥,라
=1,=안되요,마
""".replace("\n", "\r\n")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the command on a file: ``run(content, "in.csv", "out.csv", "--layout", …)``."""
    monkeypatch.setattr(Corrector, "load", lambda *_, **__: Replacer())

    def run(content: bytes, source: str = "in.csv", result: str = "out.csv", *options: str) -> Result:
        (tmp_path / source).write_bytes(content)
        paths = "--csv", str(tmp_path / source), "--out", str(tmp_path / result)
        return CliRunner().invoke(main, ["correct", *paths, *options])

    return run


@pytest.fixture
def correct(tmp_path, run):
    """The bytes of the result."""

    def correct(content: bytes, source: str = "in.csv", result: str = "out.csv", *options: str) -> bytes:
        found = run(content, source, result, *options)
        assert found.exit_code == 0, found.output
        return (tmp_path / result).read_bytes()

    return correct


@pytest.mark.parametrize(
    ("encoding", "separator", "end"),
    [("utf-8", ",", "\n"), ("utf-8-sig", ";", "\r\n"), ("cp949", "\t", "\n"), ("utf-16", "|", "\r\n")],
)
def test_in_place_only_the_wrong_letters_change(correct, encoding, separator, end):
    typed = TABLE.replace(",", separator).replace("\r\n", end)
    right = typed.replace("안되요", "안 돼요").replace("할수", "할 수")
    found = correct(typed.encode(encoding), "in.csv", "out.csv", "--layout", "in-place")
    assert found == right.encode(encoding)


def test_beside_each_text_is_its_correction_and_all_else_stays(correct):
    assert correct(TABLE.encode("cp949")).decode("cp949") == (
        '번호,"text","corrected",반\r\n1,안되요,안 돼요,"가"\r\n2,,,나\r\n\r\n'
        '3,"할수 ""있다"", 네","할 수 ""있다"", 네",다\r\n4\r\n5,밥,밥,라\r\n=1,=안되요,\'=안 돼요,마\r\n'
    )


@pytest.mark.parametrize(
    "typed, beside",
    [
        ("글\n안되요\n", "글,corrected\n안되요,안 돼요\n"),
        ("안되요\n날싸", "안되요,안 돼요\n날싸,날씨"),  # no header, no last line end
        ("번호,글\n1,날싸, 정말\n", '번호,글,corrected\n1,"날싸, 정말","날씨, 정말"\n'),
        ("번호;글\n1;날싸; 정말\n", '번호;글;corrected\n1;"날싸; 정말";"날씨; 정말"\n'),
        ("우리 반,\n번호,글\n1,날싸\n", "우리 반,,\n번호,글,corrected\n1,날싸,날씨\n"),
        ("번호,글\n1,날싸\r\r\n2,네\r\r\n", "번호,글,corrected\n1,날싸,날씨\r\r\n2,네,네\r\r\n"),
    ],
)
def test_shapes_of_tables(correct, typed, beside):
    assert correct(typed.encode()).decode() == beside


def test_broken_rows_and_bytes_come_out_as_they_went_in(correct):
    content = "글,반\n안되요,가\n".encode() + b'\xff,b\n"a"b,c\n' + "날싸,나\n".encode()
    wanted = content.replace("안되요".encode(), "안 돼요".encode()).replace("날싸".encode(), "날씨".encode())
    assert correct(content, "in.csv", "out.csv", "--layout", "in-place") == wanted


def test_lines_of_a_text_are_corrected_in_their_place(correct):
    assert correct("안되요\r\n\r\n 날싸 \n네".encode("cp949"), "in.txt", "out.txt").decode("cp949") == (
        "안 돼요\r\n\r\n 날씨 \n네"
    )


def test_a_report_has_the_kinds_of_changes(correct):
    found = correct("글\n안되요\n".encode(), "in.csv", "out.csv", "--layout", "report")
    assert found.decode("utf-8-sig").splitlines()[1].startswith('"2","안되요","안 돼요"')


def test_a_layout_that_the_formats_do_not_have_is_refused(run):
    found = run(xlsx(["글"], ["안되요"]), "in.xlsx", "out.csv", "--layout", "in-place")
    assert found.exit_code == 1 and "needs IN and OUT" in found.output


SHEETS = {
    "a formula keeps its cell": (
        (
            '<row r="1" spans="1:2"><c r="A1" t="inlineStr"><is><t>글</t></is></c></row>'
            '<row r="2"><c r="A2" s="0" t="str"><f>B2</f><v>안되요</v></c></row>'
            '<row r="3"><c r="A3" s="0" t="inlineStr"><is><t>날싸</t></is></c></row>'
        ),
        [["글", "corrected"], ["안되요", "안 돼요"], ["날싸", "날씨"]],
        [["글"], ["안되요"], ["날씨"]],
    ),
    "cells without places": (
        (
            '<row><c t="inlineStr"><is><t>글</t></is></c></row><row/>'
            '<row><c t="inlineStr"><is><t>할수 &amp; &lt;</t></is></c><c><v>7</v></c></row>'
        ),
        [["글", None, "corrected"], [None] * 3, ["할수 & <", 7, "할 수 & <"]],
        [["글", None], [None] * 2, ["할 수 & <", 7]],
    ),
}


@pytest.mark.parametrize("layout", ["beside", "in-place"])
@pytest.mark.parametrize("name", SHEETS)
def test_in_a_workbook_only_cells_with_corrections_change(correct, layout, name):
    rows, beside, in_place = SHEETS[name]
    source = with_rows(xlsx(["글"]), f'<sheetData xml:space="preserve">{rows}</sheetData>')
    found = correct(source, "in.xlsx", "out.xlsx", "--layout", layout)
    sheet = load_workbook(io.BytesIO(found), data_only=True).active
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == (
        beside if layout == "beside" else in_place
    )
    before, after = (zipfile.ZipFile(io.BytesIO(content)) for content in (source, found))
    changed = [each for each in before.namelist() if before.read(each) != after.read(each)]
    assert before.namelist() == after.namelist() and changed == [SHEET]


BEYOND = '<c r="C{0}" s="0"/><c r="XFD{0}" s="0"/></row>'  # formats of a whole row, as programs write them
WIDE = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>글</t></is></c><c r="B1"><v></v></c>'
    f'{BEYOND.format(1)}<row r="2"><c r="A2" t="inlineStr"><is><t>날싸</t></is></c>{BEYOND.format(2)}'
)


@pytest.mark.parametrize(
    ("merged", "cell"), [("", "B2"), ("A2:D2", "E2"), ("A7:XFD7", "B2"), ("B1:C1", "D2")]
)
def test_the_column_beside_follows_the_last_values_whatever_formats_reach(correct, merged, cell):
    merges = f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>' if merged else ""
    source = with_rows(xlsx(["글"]), f"<sheetData>{WIDE}</sheetData>{merges}")
    found = correct(source, "in.xlsx", "out.xlsx", "--layout", "beside")
    sheet = load_workbook(io.BytesIO(found)).active
    assert (sheet[cell].value, sheet[f"{cell[0]}1"].value) == ("날씨", "corrected")
    assert re.findall(r'r="([A-Z]+)2"', zipfile.ZipFile(io.BytesIO(found)).read(SHEET).decode()) == sorted(
        {"A", cell[0], "C", "XFD"}, key=lambda column: (len(column), column)
    )


def test_a_sheet_without_a_free_column_is_named_and_stays(run, tmp_path):
    full = '<row r="1"><c r="A1" t="inlineStr"><is><t>안되요</t></is></c><c r="XFD1"><v>1</v></c></row>'
    source = with_rows(xlsx(["글"]), f"<sheetData>{full}</sheetData>")
    found = run(source, "in.xlsx", "out.xlsx", "--column", "1")
    assert found.exit_code == 1 and "no free column" in found.output
    assert not (tmp_path / "out.xlsx").exists()


def with_rows(workbook: bytes, rows: str) -> bytes:
    """The workbook with another ``sheetData``."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        sheet = archive.read(SHEET).decode()
    made = re.sub("<sheetData>.*</sheetData>", rows, sheet)
    return rewritten(io.BytesIO(workbook), {SHEET: made.encode()})
