"""DOCX and HWPX documents: only the mistakes change; other files are refused."""

import io
import random
import unicodedata
import zipfile

import pytest

from model.tables.documents import Document
from model.tables.reading import read_columns, read_rows
from model.tables.rows import TableError
from tests.model.tables.made_documents import (
    COMPOUND,
    HP,
    LINES,
    MADE,
    W,
    archive,
    docx,
    hp,
    hwpx,
    p,
    right_and_wrong,
)
from tests.model.tables.made_files import xlsx
from tests.replacing import Replacer


def corrected(content: bytes) -> bytes:
    """The document with the Replacer's corrections."""
    document = Document(io.BytesIO(content))
    texts = [each.text for each in Replacer().correct_batch(list(document.paragraphs))]
    found = zip(document.paragraphs, texts, strict=True)
    return document.corrected({number: text for number, (old, text) in enumerate(found, 1) if old != text})


def part(content: bytes, name: str = "word/document.xml") -> str:
    return zipfile.ZipFile(io.BytesIO(content)).read(name).decode()


@pytest.mark.parametrize("name, wrong, right", MADE)
def test_a_document_without_changes_stays_as_it_is(name, wrong, right):
    assert Document(io.BytesIO(wrong)).corrected({}) == wrong


def test_all_else_in_the_archive_stays():
    with zipfile.ZipFile(io.BytesIO(docx(p("안되요")))) as before:
        entries, comment = before.infolist(), before.comment
        contents = {each.filename: before.read(each) for each in entries}
    with zipfile.ZipFile(io.BytesIO(corrected(docx(p("안되요"))))) as after:
        assert after.comment == comment
        for old, new in zip(entries, after.infolist(), strict=True):
            kept = ("filename", "date_time", "compress_type", "external_attr", "flag_bits", "create_system")
            assert [getattr(new, name) for name in kept] == [getattr(old, name) for name in kept]
            assert after.read(new) == contents[old.filename] or old.filename == "word/document.xml"


@pytest.mark.parametrize(
    "typed, wanted",
    [
        ("할<w:b/>수", "할 "),  # an unknown element inside of a text ends a run
        ("<![CDATA[할수]]> 있다", "할 수 있다"),
        ("&#xD560;수 &amp; 날싸", "할 수 &amp; 날씨"),
    ],
)
def test_a_text_is_read_and_written_as_xml_has_it(typed, wanted):
    assert wanted in part(corrected(docx(p(typed))))


def test_a_part_in_utf16_keeps_its_encoding():
    with zipfile.ZipFile(io.BytesIO(docx(p("할") + p("할수")))) as made:
        text = made.read("word/document.xml").decode().replace("UTF-8", "UTF-16")
    found = corrected(archive({"word/document.xml": text.encode("utf-16")}))
    expected = text.replace("할수", "할 수")
    assert zipfile.ZipFile(io.BytesIO(found)).read("word/document.xml") == expected.encode("utf-16")


def test_equations_tabs_and_breaks_stay_in_their_places():
    equation = "<m:oMath><m:r><m:t>안되요</m:t></m:r></m:oMath>"
    body = f"<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>가</w:t><w:tab/></w:r>{equation}</w:p>"
    document = Document(io.BytesIO(docx(body)))
    assert document.paragraphs == ("가\t\ufffc",)
    assert "<w:t>나</w:t><w:tab/>" in part(document.corrected({1: "나\t\ufffc"}))
    assert document.corrected({1: "가 \ufffc"}) == docx(body)


def test_newer_namespaces_of_hwpx_are_read():
    names = HP.replace("www.hancom.co.kr/hwpml/2011", "www.owpml.org/owpml/2024")
    assert Document(io.BytesIO(hwpx(hp("안되요"), namespaces=names))).paragraphs == ("안되요",)


@pytest.mark.parametrize(
    "name, content, problem",
    [
        ("글.hwp", COMPOUND, "old_document"),
        ("글.hwp", b"HWP Document File V3.00 \x1a", "old_document"),
        ("글.doc", COMPOUND, "old_document"),
        ("글.hwpx", COMPOUND, "old_document"),
        ("글.docx", COMPOUND + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("글.hwpx", archive({"META-INF/manifest.xml": "<odf:encryption-data/>"}), "encrypted"),
        ("글.docx", archive({"word/document.xml": f"<w:document {W}/>", "_xmlsignatures/1": ""}), "signed"),
        ("글.docx", b"", "no_document"),
        ("글.docx", "글".encode(), "no_document"),
        ("글.docx", xlsx(["글"]), "no_document"),
        ("글.docx", docx(p("글"))[:-300], "no_document"),
        ("글.docx", docx(p("글") + "</w:p>"), "no_document"),
        ("글.docx", archive({"a.xml": f"<!DOCTYPE a><w:document {W}/>"}), "no_document"),
        ("글.odt", archive({"content.xml": "<a/>"}), "format"),
    ],
)
def test_a_file_that_is_no_such_document_is_refused_with_its_reason(name, content, problem):
    with pytest.raises(TableError) as found:
        read_columns(io.BytesIO(content), name)
        list(read_rows(io.BytesIO(content), name))
    assert found.value.problem == problem


def test_rows_are_paragraphs_with_text():
    rows = list(read_rows(io.BytesIO(docx(p("하나") + p("") + p("셋"))), "글.docx"))
    assert [(row.number, row.text) for row in rows] == [(1, "하나"), (3, "셋")]


HERE = "[안되요|안 돼요]"
RUN, HP_TEXT = f"<w:r><w:t>그건 {HERE}.</w:t></w:r>", f"<hp:t>{HERE}</hp:t>"
NFD = unicodedata.normalize("NFD", "한글")
# In the content of a paragraph only text in brackets may change.
IN_DOCX = (
    RUN,
    f"<w:r><w:t xml:space='preserve'>  {HERE}  두  칸 </w:t></w:r>",
    f"<w:r><w:tab/><w:t>{HERE}</w:t><w:br/><w:t>{NFD} {HERE} &amp;</w:t></w:r>",
    f"<w:ins w:id='1' w:author='안되요'>{RUN}</w:ins>",
    "<w:del w:id='1' w:author='가'><w:r><w:delText>안되요</w:delText></w:r></w:del>",
    "<w:moveFrom w:id='3' w:author='가'><w:r><w:t>안되요</w:t></w:r></w:moveFrom>",
    f"<w:hyperlink r:id='r9' w:tooltip='안되요'>{RUN}</w:hyperlink>",
    f"<w:r><w:instrText>REF 안되요</w:instrText><w:fldChar w:fldCharType='separate'/></w:r>{RUN}",
    f"<w:sdt><w:sdtPr><w:alias w:val='안되요'/></w:sdtPr><w:sdtContent>{RUN}</w:sdtContent></w:sdt>",
    "<w:bookmarkStart w:id='1' w:name='안되요'/><w:r><w:footnoteReference w:id='2'/></w:r>",
    "<m:oMath><m:r><m:t>안되요</m:t></m:r></m:oMath><!-- 안되요 --><?안되요 안되요?>",
    f"<w:r><w:ruby><w:rt><w:r><w:t>안되요</w:t></w:r></w:rt><w:rubyBase>{RUN}</w:rubyBase></w:ruby></w:r>",
)
IN_HWPX = (
    HP_TEXT,
    f"<hp:t>가<hp:tab width='1'/>{HERE}<hp:lineBreak/>나<hp:nbSpace/>{HERE}<hp:fwSpace/></hp:t>",
    f"<hp:t>{NFD} <hp:markpenBegin color='안되요'/>{HERE}<hp:markpenEnd/> &lt;</hp:t>",
    f"<hp:fieldBegin name='안되요'><hp:stringParam>안되요</hp:stringParam></hp:fieldBegin>{HP_TEXT}",
    "<hp:t>가<hp:deleteBegin Id='1'/>안되요<hp:deleteEnd Id='1'/>나</hp:t>",
    "<hp:equation><hp:shapeComment>안되요</hp:shapeComment><hp:script>안되요</hp:script></hp:equation>",
    "<hp:ctrl><hp:indexmark><hp:firstKey>안되요</hp:firstKey></hp:indexmark></hp:ctrl><!-- 안되요 -->",
    "<hp:dutmal><hp:mainText>안되요</hp:mainText><hp:subText>안되요</hp:subText></hp:dutmal>",
)


@pytest.mark.parametrize("number", range(15))
def test_only_the_wrong_words_of_any_paragraphs_change(number):
    """Documents of random fragments: tracked changes, fields, links, notes, equations, decomposed Hangul."""
    rng = random.Random(number)
    bodies = ["".join(rng.choices(IN_DOCX, k=rng.randrange(1, 7))) for _ in range(rng.randrange(1, 4))]
    body = "".join(f"<w:p>{inside}</w:p>" for inside in bodies)
    sections = ["".join(rng.choices(IN_HWPX, k=rng.randrange(1, 7))) for _ in range(rng.randrange(1, 4))]
    section = "".join(
        f"<hp:p id='1'><hp:run charPrIDRef='0'>{inside}</hp:run>"
        f"{f'[{LINES}|]' if HERE in inside else LINES}</hp:p>"
        for inside in sections
    )
    for make, template in ((docx, body), (hwpx, section)):
        wrong, right = (make(right_and_wrong(template, is_right)) for is_right in (False, True))
        assert corrected(wrong) == right
