"""Generated DOCX and HWPX documents with mistakes, and the same texts without them.

Each document is a template whose mistakes are written ``[wrong|right]``.
"""

import io
import re
import unicodedata
import zipfile
from typing import NamedTuple

COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)  # begins files of older formats and encrypted ones
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STRICT = 'xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"'
HP = (
    'xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section" '
    'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph"'
)
_DECLARATION = (
    "<?xml version='1.0' encoding='UTF-8' standalone='yes'?>\r\n"  # in quotes that few libraries write
)
BOLD = "</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>"  # one run ends and another begins
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>{}</Types>'
)
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}+xml"
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
)
_RELATION = (
    '<Relationship Id="{0}" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{1}" Target="{2}"/>'
)
_KINDS = {"footnotes": "footnotes", "header1": "header", "endnotes": "endnotes"}
LINES = (
    '<hp:linesegarray><hp:lineseg textpos="0" vertpos="0" vertsize="1000" flags="393216"/></hp:linesegarray>'
)


class MadeDocument(NamedTuple):
    """A document, and itself with the mistakes corrected."""

    name: str
    wrong: bytes
    right: bytes


def p(inside: str) -> str:
    """A paragraph of one run."""
    return f"<w:p><w:r><w:t>{inside}</w:t></w:r></w:p>"


def hp(inside: str, lines: str = LINES) -> str:
    """A paragraph of HWPX."""
    return (
        f'<hp:p id="1" paraPrIDRef="0" styleIDRef="0"><hp:run charPrIDRef="0"><hp:t>{inside}</hp:t></hp:run>'
        f"{lines}</hp:p>"
    )


def right_and_wrong(template: str, is_right: bool) -> str:
    """A template with its wrong, or its right texts."""
    return re.sub(r"\[([^\[\]|]*)\|([^\[\]|]*)\]", lambda found: found[1 + is_right], template)


def archive(parts: dict[str, str | bytes]) -> bytes:
    """An archive with these entries: the first one stored, the others compressed, one with a comment."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.comment = b"made"
        for number, (name, content) in enumerate(parts.items()):
            info = zipfile.ZipInfo(name, (2024, 3, 4, 5, 6, 2 * number))
            info.compress_type = zipfile.ZIP_DEFLATED if number else zipfile.ZIP_STORED
            info.external_attr = 0o644 << 16 if number % 2 else 0
            made.writestr(info, content)
            info.external_attr = 0o644 << 16 if number % 2 else 0
    return file.getvalue()


def docx(body: str, namespace: str = W, **parts: str) -> bytes:
    """A DOCX file. ``parts``: the content of footnotes, endnotes and header1, with the root of each."""
    document = (
        f"{_DECLARATION}<w:document {namespace} "
        'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        'xmlns:v="urn:schemas-microsoft-com:vml" mc:Ignorable="wps">'
        f"<w:body>{body}<w:sectPr/></w:body></w:document>"
    )
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_WORD_TYPE.format(_KINDS[name])}"/>'
        for name in parts
    )
    main = f'<Override PartName="/word/document.xml" ContentType="{_WORD_TYPE.format("document.main")}"/>'
    relations = "".join(_RELATION.format(f"r{name}", _KINDS[name], f"{name}.xml") for name in parts)
    return archive(
        {
            "[Content_Types].xml": _TYPES.format(main + overrides),
            "_rels/.rels": _RELATIONS.format(_RELATION.format("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": _RELATIONS.format(relations),
            **{f"word/{name}.xml": _DECLARATION + content for name, content in parts.items()},
            "word/media/image1.png": bytes(range(256)),
        }
    )


def hwpx(*sections: str, namespaces: str = HP) -> bytes:
    """An HWPX file with these sections."""
    made = {
        f"Contents/section{number}.xml": f"{_DECLARATION}<hs:sec {namespaces}>{section}</hs:sec>"
        for number, section in enumerate(sections)
    }
    return archive(
        {
            "mimetype": "application/hwp+zip",
            "version.xml": "<version/>",
            "Contents/header.xml": f"<hh:head {namespaces} xmlns:hh='http://www.hancom.co.kr/hwpml/2011/head'/>",
            **made,
            "Preview/PrvText.txt": "밥을 머거요.",
            "META-INF/manifest.xml": "<manifest/>",
        }
    )


def _notes(root: str, text: str) -> str:
    return f'<w:{root}s {W}><w:{root} w:id="2">{p(text)}</w:{root}></w:{root}s>'


_BOX = (
    "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><wps:txbx><w:txbxContent>{0}</w:txbxContent>"
    "</wps:txbx></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>{0}</w:txbxContent></v:textbox></w:pict>"
    "</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>상자 옆의 글은 [안되요|안 돼요].</w:t></w:r></w:p>"
)
_TABLE = "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>"
_DELETED = (
    '<w:p><w:del w:id="1" w:author="교사"><w:r><w:delText>머거요 </w:delText></w:r><w:r>'
    "<w:t>조아요</w:t></w:r></w:del>"
    '<w:ins w:id="2" w:author="교사"><w:r><w:t xml:space="preserve">그건 [안되|안 돼]</w:t></w:r></w:ins>'
    "<w:moveFrom w:id='3' w:author='교사'><w:r><w:t>머거요</w:t></w:r></w:moveFrom>"
    "<w:r><w:t>요.</w:t></w:r></w:p>"
)
_HP_TABLE = (
    '<hp:p id="3"><hp:run charPrIDRef="0"><hp:tbl rowCnt="1"><hp:tr><hp:tc><hp:subList>{}</hp:subList>'
    "</hp:tc></hp:tr></hp:tbl><hp:t/></hp:run>{}</hp:p>"
)
_HP_NOTE = (
    '<hp:p id="4"><hp:run charPrIDRef="0"><hp:t>각주</hp:t><hp:ctrl><hp:footNote><hp:subList>{}</hp:subList>'
    "</hp:footNote></hp:ctrl><hp:t>가 [안되요|안 돼요].</hp:t></hp:run></hp:p>"
)
TEMPLATES = {
    "문단.docx": docx(
        p("밥을 [머거요|먹어요]. &lt;A&amp;B&gt;는 그대로.")
        + p("맞는 문장입니다.")
        + p("그러면 [안되요|안 돼요].")
    ),
    "서식.docx": docx(
        p(f"밥을 [머|먹어]{BOLD}[거|]요. 그건 [안되요|안 돼요].")
        + p(f"[할|할 ]{BOLD}수 있다.").replace("<w:t>", '<w:t[| xml:space="preserve"]>', 1)
    ),
    "표.docx": docx(
        _TABLE.format(p("[안되요|안 돼요]"), p("[할수|할 수] 있다.")) + p("표 밖도 [안되요|안 돼요].")
    ),
    "각주와 머리말.docx": docx(
        p("본문은 [안되요|안 돼요]."),
        footnotes=_notes("footnote", "각주도 [안되요|안 돼요]."),
        endnotes=_notes("endnote", "미주도 [안되요|안 돼요]."),
        header1=f"<w:hdr {W}>{p('머리말도 [안되요|안 돼요].')}</w:hdr>",
    ),
    "글상자.docx": docx(_BOX.format(p("글상자도 [안되요|안 돼요]."))),
    "바뀐 내용.docx": docx(_DELETED),
    "한자와 자모.docx": docx(
        p("學校에서 밥을 [머거요|먹어요].")
        + p(unicodedata.normalize("NFD", "나는 그건 ") + "[안되요|안 돼요].")
    ),
    "엄격한 형식.docx": docx(p("그건 [안되요|안 돼요]."), STRICT),
    "문단.hwpx": hwpx(
        hp("밥을 [머거요|먹어요].", f"[{LINES}|]") + hp("맞는 문장입니다."),
        hp("둘째 구역도 [안되요|안 돼요].", f"[{LINES}|]"),
    ),
    "표와 각주.hwpx": hwpx(
        _HP_TABLE.format(hp("표도 [안되요|안 돼요].", f"[{LINES}|]"), LINES)
        + _HP_NOTE.format(hp("각주도 [안되요|안 돼요].", f"[{LINES}|]"))
    ),
    "바뀐 내용.hwpx": hwpx(
        hp(
            '그건 <hp:deleteBegin Id="1" TcId="1"/>머거요<hp:deleteEnd Id="1" TcId="1" paraend="0"/>'
            '<hp:insertBegin Id="2" TcId="2"/>[안되|안 돼]<hp:insertEnd Id="2" TcId="2"/>요.',
            f"[{LINES}|]",
        )
    ),
    "한자와 자모.hwpx": hwpx(
        hp(
            "學校에서<hp:tab width='1'/>밥을 [머|먹어]</hp:t></hp:run><hp:run charPrIDRef='7'><hp:t>[거|]요.",
            f"[{LINES}|]",
        )
        + hp(unicodedata.normalize("NFD", "나는 그건 ") + "[안되요|안 돼요].", f"[{LINES}|]")
    ),
}


def _made(name: str, content: bytes) -> MadeDocument:
    both = []
    for is_right in (False, True):
        with zipfile.ZipFile(io.BytesIO(content)) as template:
            parts: dict[str, str | bytes] = {each: template.read(each) for each in template.namelist()}
        for each, part in parts.items():
            if each.endswith(".xml") and each != "[Content_Types].xml":
                parts[each] = right_and_wrong(bytes(part).decode(), is_right)
        both.append(archive(parts))
    return MadeDocument(name, *both)


MADE = [_made(name, content) for name, content in TEMPLATES.items()]
