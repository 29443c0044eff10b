"""``Document``: the paragraphs of a DOCX or HWPX file, and the file with corrected ones.

Both formats are archives of XML. Expat, the parser of the standard library, gives the place of each text in
the bytes of its part, so a correction replaces the characters of a run and nothing else. Libraries that parse
and serialise (python-docx, python-hwpx, lxml) write other declarations, quotes and entities into all of it.

A change that crosses runs goes to the run in which it begins. Two things beside a changed text change with
it: ``xml:space`` where Word would drop a space at its border, and the cached line breaks of an HWPX
paragraph, by which Hangul would draw the new text over the old lines; without them it computes new ones.

Reference:
    ECMA-376 part 1, 17.3.3 (run content); KS X 6101 (OWPML).
"""

import io
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import BinaryIO, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

from model.tables.rows import TableError, check_unpacked
from model.text.changes import find_changes
from model.text.tokenizer import normalise, typed_offsets

DOCUMENTS = (".docx", ".hwpx")
OLD_DOCUMENTS = (".doc", ".hwp", ".xls")  # which are refused by name
UNPACKED = 1 << 28  # bytes that a file may unpack to; otherwise a few kB could fill the memory
OBJECT = "\ufffc"  # in place of an equation, which a sentence needs as a word

_COMPOUND = bytes.fromhex("d0cf11e0a1b11ae1")  # a format before XML, or an encrypted file
_SPACE = " \t\r\n"
_KEEPS_SPACE = "http://www.w3.org/XML/1998/namespace space"


@dataclass(frozen=True)
class _Format:
    """The elements of a format by their local names."""

    namespaces: tuple[str, ...]  # how those of its elements begin
    roots: tuple[str, ...]  # of the parts with text
    hidden: tuple[str, ...]  # elements whose content is no prose: deletions, codes, readings, comments
    signs: Mapping[str, str]  # elements that are read as a character
    trims: bool  # whether white space at the border of a text counts only with xml:space


_FORMATS = (
    _Format(
        (
            "http://schemas.openxmlformats.org/wordprocessingml/",
            "http://purl.oclc.org/ooxml/wordprocessingml/",  # "Strict Open XML"
            "http://schemas.openxmlformats.org/officeDocument/2006/math",
            "http://purl.oclc.org/ooxml/officeDocument/math",
            "http://schemas.openxmlformats.org/markup-compatibility/",
        ),
        ("document", "hdr", "ftr", "footnotes", "endnotes"),
        ("pPr", "del", "moveFrom", "rt", "oMath"),
        {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "sym": OBJECT}
        | {"oMath": OBJECT},
        trims=True,
    ),
    _Format(
        ("http://www.hancom.co.kr/hwpml/", "http://www.owpml.org/owpml/"),
        ("sec", "masterPage"),
        ("fieldBegin", "hiddenComment", "equation", "compose", "dutmal"),
        {"tab": "\t", "lineBreak": "\n", "nbSpace": "\xa0", "fwSpace": " ", "hyphen": "-"}
        | dict.fromkeys(("equation", "compose", "dutmal"), OBJECT),
        trims=False,
    ),
)


class _Event(NamedTuple):
    """A tag, or some text, at a place in the bytes of a part. It ends where the next one begins."""

    place: int
    kind: str  # "start", "end", "text"
    text: str  # or a local name, empty where its namespace is of another format
    attributes: Mapping[str, str] = {}


@dataclass
class _Run:
    """Characters that the bytes ``start:end`` of a part hold; no bytes do where they are a sign's."""

    text: str
    start: int | None = None
    end: int = 0
    tag_end: int | None = None  # where a missing ``xml:space`` goes


@dataclass
class _Paragraph:
    """A paragraph of a part."""

    is_copy: bool  # of a text box, for programs that do not know its newer form
    runs: list[_Run] = field(default_factory=list)
    layout: list[tuple[int, int]] = field(default_factory=list)  # the bytes with its cached lines

    @property
    def text(self) -> str:
        return "".join(run.text for run in self.runs)


class _Part:
    """A part of a document: ``paragraphs`` is empty for one without text.

    Raises:
        expat.ExpatError: for XML that is not well-formed.
    """

    def __init__(self, content: bytes):
        self.paragraphs: list[_Paragraph] = []
        self._content, self._encoding = content, "utf-8"
        self._format: _Format | None = None
        self._events: list[_Event] = []
        self._parse()
        if self._format is not None:
            self._read(self._format)

    def _parse(self) -> None:
        """Gather the events, all of them where the root is one of a text."""
        parser = expat.ParserCreate(namespace_separator=" ")

        def declare(version: str, encoding: str | None, standalone: int) -> None:
            self._encoding = encoding or "utf-8"

        def start(name: str, attributes: dict[str, str]) -> None:
            namespace, _, local = name.rpartition(" ")
            if not self._events:
                found = (each for each in _FORMATS if local in each.roots)
                self._format = next((each for each in found if namespace.startswith(each.namespaces)), None)
            if self._format is None:  # the rest is parsed without a call
                parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
                return
            known = local if namespace.startswith(self._format.namespaces) else ""
            self._events.append(_Event(parser.CurrentByteIndex, "start", known, attributes))

        def end(name: str) -> None:
            self._events.append(_Event(parser.CurrentByteIndex, "end", ""))

        def characters(text: str) -> None:
            self._events.append(_Event(parser.CurrentByteIndex, "text", text))

        def refuse(*_: object) -> None:
            raise ValueError("a document has no document type")

        parser.XmlDeclHandler, parser.StartDoctypeDeclHandler = declare, refuse
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = characters
        parser.StartCdataSectionHandler = lambda: characters("")  # the mark is replaced with its text
        parser.Parse(self._content, True)
        if self._content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self._encoding = "utf-16-le" if self._content[0] == 0xFF else "utf-16-be"

    def _read(self, of: _Format) -> None:
        """Gather the paragraphs. A text box holds paragraphs inside of a run of another one."""
        names, within, opened = list[str](), Counter[str](), list[_Paragraph]()
        is_deleted = False  # between the marks of a tracked deletion, which may cross paragraphs
        begun = 0  # of the cached lines
        keeps_space = self._events[0].attributes.get(_KEEPS_SPACE) == "preserve"
        for event, following in pairwise(self._events):
            is_prose = bool(opened) and not is_deleted and not any(within[name] for name in of.hidden)
            if event.kind == "start":
                name = event.text
                if name == "p":
                    opened.append(_Paragraph(within["Fallback"] > 0))
                    self.paragraphs.append(opened[-1])
                elif name in of.signs and is_prose:
                    opened[-1].runs.append(_Run(of.signs[name]))
                elif name in ("deleteBegin", "deleteEnd"):
                    is_deleted = name == "deleteBegin"
                elif name == "linesegarray":
                    begun = event.place
                elif name == "t" and is_prose and following.kind == "text":
                    trims = of.trims and not keeps_space and _KEEPS_SPACE not in event.attributes
                    tag_end = following.place - len(">".encode(self._encoding)) if trims else None
                    opened[-1].runs.append(_Run("", following.place, following.place, tag_end))
                names.append(name)
                within[name] += 1
            elif event.kind == "end":
                name = names.pop()
                within[name] -= 1
                if name == "p":
                    opened.pop()
                elif name == "linesegarray" and opened:
                    opened[-1].layout.append((begun, following.place))
            elif names[-1] == "t" and is_prose:
                _add(opened[-1].runs, event, following.place)
        for run in (run for each in self.paragraphs for run in each.runs if run.tag_end is not None):
            run.text = run.text.strip(_SPACE)

    def with_texts(self, texts: Mapping[int, str]) -> bytes:
        """The part with the paragraphs of these places corrected."""
        edits = [edit for place, text in texts.items() for edit in self._edits(self.paragraphs[place], text)]
        encoded = ((a, b, text.encode(self._encoding, "xmlcharrefreplace")) for a, b, text in edits)
        return spliced(self._content, encoded)

    def _edits(self, paragraph: _Paragraph, corrected: str) -> Iterator[tuple[int, int, str]]:
        """The bytes that are replaced, from where to where and by which text."""
        texts = _shared(paragraph, corrected)
        changed = [each for each in zip(paragraph.runs, texts, strict=True) if each[0].text != each[1]]
        for run, text in changed:
            assert run.start is not None, "signs stay"
            yield run.start, run.end, escape(text)
            if run.tag_end is not None and text.strip(_SPACE) != text:
                yield run.tag_end, run.tag_end, ' xml:space="preserve"'
        if changed:
            yield from ((start, end, "") for start, end in paragraph.layout)


def _add(runs: list[_Run], event: _Event, end: int) -> None:
    """Add a text to the last run, or begin one behind a sign or a mark."""
    if not runs or runs[-1].start is None or runs[-1].end != event.place:
        runs.append(_Run("", event.place))
    runs[-1].text += event.text
    runs[-1].end = end


def _shared(paragraph: _Paragraph, corrected: str) -> list[str]:
    """The corrected text shared among the runs of its paragraph; a change that touches a sign is left out."""
    runs, text = paragraph.runs, paragraph.text
    starts, typed = list(accumulate((len(run.text) for run in runs), initial=0)), typed_offsets(text)
    texts = [run.text for run in runs]
    for change in reversed(find_changes(normalise(text), corrected)):
        start, end = typed[change.source_start], typed[change.source_end]
        if start < end:
            touched = [i for i, (a, b) in enumerate(pairwise(starts)) if a < end and start < b]
        else:  # an insertion belongs to the run before it
            before = [i for i, (a, b) in enumerate(pairwise(starts)) if a < start <= b or a == start < b]
            touched = [i for i in before if runs[i].start is not None][:1]
        if not touched or any(runs[i].start is None for i in touched):
            continue
        for i in touched:
            first, last = max(start - starts[i], 0), end - starts[i]
            texts[i] = texts[i][:first] + (change.right if i == touched[0] else "") + texts[i][last:]
    return texts


class Document:
    """A DOCX or HWPX file.

    Attributes:
        paragraphs: the texts of all paragraphs, those of tables, notes, text boxes, headers and footers, too.

    Raises:
        TableError: for a file that is none, an encrypted one, and one of an older format.
    """

    def __init__(self, file: BinaryIO):
        self._file = file
        try:
            with _opened(file) as archive:
                self._parts = {name: part for name, part in _parts(archive) if part.paragraphs}
        except (zipfile.BadZipFile, expat.ExpatError, ValueError, NotImplementedError, EOFError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError("no_document", f"this is no document: {type(error).__name__}") from error
        if not self._parts:
            raise TableError("no_document", "this is no DOCX or HWPX file")
        self._places = [
            (name, place)
            for name, part in self._parts.items()
            for place, paragraph in enumerate(part.paragraphs)
            if not paragraph.is_copy
        ]
        self.paragraphs = tuple(self._parts[name].paragraphs[place].text for name, place in self._places)

    def corrected(self, texts: Mapping[int, str]) -> bytes:
        """The same file with some paragraphs corrected. All else stays: the archive's entries, their order,
        compression, times and attributes, and every byte of a part outside of the changed runs.

        Args:
            texts: the corrected text by the number of its paragraph, from 1.
        """
        by_text = {self.paragraphs[number - 1]: text for number, text in texts.items()}
        wanted: dict[str, dict[int, str]] = {name: {} for name in self._parts}
        for number, text in texts.items():
            name, place = self._places[number - 1]
            wanted[name][place] = text
        for name, part in self._parts.items():
            copies = ((place, each.text) for place, each in enumerate(part.paragraphs) if each.is_copy)
            wanted[name] |= {place: by_text[text] for place, text in copies if text in by_text}
        parts = {name: self._parts[name].with_texts(mine) for name, mine in wanted.items() if mine}
        return rewritten(self._file, parts)


def spliced(content: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """The content with other bytes from place to place; edits do not overlap.

    >>> spliced(b"a b c", [(4, 5, b"!"), (0, 1, b"")])
    b' b !'
    """
    parts, done = list[bytes](), 0
    for start, end, added in sorted(edits):
        parts += [content[done:start], added]
        done = end
    return b"".join([*parts, content[done:]])


def rewritten(file: BinaryIO, parts: Mapping[str, bytes]) -> bytes:
    """An archive with other contents for some of its entries, by their names."""
    made = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(made, "w") as result:
        result.comment = archive.comment
        for info in archive.infolist():
            mine = copy(info)
            result.writestr(mine, parts.get(info.filename, archive.read(info)))
            mine.external_attr = info.external_attr  # ``writestr`` writes its own for 0
    return made.getvalue()


def refuse_compound(file: BinaryIO) -> None:
    """Raise TableError for an encrypted file, and for one of a format before XML."""
    file.seek(0)
    content = file.read()
    file.seek(0)
    if content.startswith(_COMPOUND) and "EncryptedPackage".encode("utf-16-le") in content:
        raise TableError("encrypted", "the file is encrypted; save it without a password")
    if content.startswith((_COMPOUND, b"HWP Document File")):
        raise TableError("old_document", "this is a DOC, HWP or XLS file; save it as DOCX, HWPX or XLSX")


def _opened(file: BinaryIO) -> zipfile.ZipFile:
    """The archive of a file that holds a document, neither encrypted nor signed.

    Raises:
        TableError: for the others, with the reason.
        zipfile.BadZipFile: for no archive.
    """
    refuse_compound(file)
    archive = zipfile.ZipFile(file)
    names = archive.namelist()
    if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise TableError("encrypted", "the file is encrypted; save it without a password")
    if any(name.startswith("_xmlsignatures/") for name in names):
        raise TableError("signed", "the document is signed; a correction would break its signature")
    check_unpacked(archive, UNPACKED)
    return archive


def _parts(archive: zipfile.ZipFile) -> Iterator[tuple[str, _Part]]:
    """The parts of XML with their names, in the archive's order."""
    for name in archive.namelist():
        if name.endswith(".xml"):
            yield name, _Part(archive.read(name))
