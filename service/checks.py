"""``Checking``: wrong words (``Finding``) and corrected files, in several processes."""

import io
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from model.tables.documents import DOCUMENTS, OBJECT, OLD_DOCUMENTS, Document
from model.tables.rows import TableError
from model.text.hangul import is_hangul
from model.text.tokenizer import normalise
from service.annotated import Annotated, Piece
from service.checker import KeepingCorrector
from service.files import WORD, reader_of
from service.languagetool import Rule
from service.matches import Match, matches

BATCH = 20_000  # characters that a process corrects at once
ALONE = 2 * BATCH  # up to which a second process would take longer to load than to help


class UnreadableFileError(ValueError):
    """A file that is not UTF-8, or not of the format of its ending."""


LineOf = Callable[[int], tuple[int, int]]


def line_and_column(starts: Sequence[int]) -> LineOf:
    """A function from an offset to (line, column), both from 1, where lines begin at ``starts``.

    Example:
        >>> line_and_column([0, 2])(3)
        (2, 2)
    """

    def of(offset: int) -> tuple[int, int]:
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    return of


@dataclass(frozen=True)
class Finding:
    """A wrong word in a file. Lines and columns count from 1, offsets from 0, all in characters."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    wrong: str
    right: str
    rule: str  # as the service names it
    about: str  # the article of the norm, or the kind of mistake
    confidence: float | None
    is_sure: bool  # not merely offered

    @classmethod
    def of(cls, match: Match) -> "Finding":
        """The finding of a match, in no file yet."""
        rule = Rule.of(match, "ko")
        place = "", 0, 0, 0, 0, match.start, match.end
        return cls(
            *place, match.wrong, match.right, rule.id, rule.description, match.confidence, match.is_sure
        )

    def placed(self, path: Path, begun: int, place: LineOf) -> "Finding":
        """The same in a file, in whose text its document begins at ``begun``."""
        start, end = self.start + begun, self.end + begun
        (line, column), (end_line, end_column) = place(start), place(end)
        found = replace(self, path=path.as_posix(), start=start, end=end)
        return replace(found, line=line, column=column, end_line=end_line, end_column=end_column)


@dataclass(frozen=True)
class Checking:
    """How files are checked."""

    options: tuple[tuple[str, Any], ...] = ()  # of ``Corrector.load``
    offers: bool = False  # whether changes that were not sure enough are findings, too
    processes: int = 1

    def findings(
        self, paths: Sequence[Path], unreadable: Callable[[Path, UnreadableFileError], None] | None = None
    ) -> Iterator[list[Finding]]:
        """The findings of each file, in the order of ``paths``; none for one that cannot be read.

        Args:
            unreadable: is called with each file that cannot be read; by default its error is raised.

        Raises:
            UnreadableFileError: for the first file that cannot be read.
        """
        places, documents = dict[int, LineOf](), list[tuple[int, int, Annotated]]()
        for number, path in enumerate(paths):
            try:
                file = read(path)
                documents += [(number, *local(each)) for each in file.documents()]
                places[number] = file.place()
            except UnreadableFileError as error:
                if unreadable is None:
                    raise
                unreadable(path, error)
        batches = list(_batches(documents))
        found: list[list[Finding]] = [[] for _ in paths]
        for batch, answers in zip(batches, self._answers(batches), strict=True):
            for (number, begun, _), answer in zip(batch, answers, strict=True):
                found[number] += [each.placed(paths[number], begun, places[number]) for each in answer]
        yield from found

    def _answers(self, batches: list["_Batch"]) -> Iterator[list[list[Finding]]]:
        texts = [[document for _, _, document in batch] for batch in batches]
        size = sum(len(each.text) for batch in texts for each in batch)
        if self.processes == 1 or size <= ALONE:
            _open(self)
            yield from map(_find, texts)
            return
        processes = ProcessPoolExecutor(self.processes, get_context("spawn"), _open, (self,))
        with processes:
            yield from processes.map(_find, texts)


_Batch = list[tuple[int, int, Annotated]]  # the number of a file, an offset in it, a document


def read(path: Path) -> "ReadFile":
    """A file by its ending.

    Raises:
        UnreadableFileError: for a text that is not UTF-8, a document that cannot be read, and a workbook.
    """
    if path.suffix.lower() == ".xlsx":
        raise UnreadableFileError(f"{path} is a table: see-attention correct --csv {path} --out OUT.xlsx")
    return OfficeFile(path) if path.suffix.lower() in DOCUMENTS + OLD_DOCUMENTS else TextFile(path)


def _has_hangul(text: str) -> bool:
    """Also in decomposed form (NFD), as macOS writes names and some programs texts."""
    return any(is_hangul(character) or "\u1100" <= character <= "\u11ff" for character in text)


class TextFile:
    """A text with the line ends that it has.

    ``documents``: its prose with Hangul. ``place()(offset)``: (line, column) of an offset in ``text``.
    ``corrected``: its content with the sure findings replaced; all else stays.
    """

    def __init__(self, path: Path):
        self._path = path
        try:
            self.text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableFileError(f"{path} is not UTF-8") from error

    def documents(self) -> Iterable[Annotated]:
        if not _has_hangul(self.text):
            return []
        try:
            return [each for each in reader_of(self._path)(self.text) if _has_hangul(each.text)]
        except ValueError as error:
            raise UnreadableFileError(f"{self._path} is no {self._path.suffix} file: {error}") from error

    def place(self) -> LineOf:
        return line_and_column([0, *(match.end() for match in re.finditer("\n", self.text))])

    def corrected(self, found: Iterable[Finding]) -> bytes:
        return _replaced(self.text, found).encode()


class OfficeFile:
    """A DOCX or HWPX file. Its lines are its paragraphs; tabs and breaks in them are markup."""

    def __init__(self, path: Path):
        try:
            self._document = Document(io.BytesIO(path.read_bytes()))
        except TableError as error:
            raise UnreadableFileError(f"{path}: {error}") from error
        self.text = "\n".join(self._document.paragraphs)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each paragraph begins, and where the last one would be followed by another."""
        return list(accumulate((len(each) + 1 for each in self._document.paragraphs), initial=0))

    def documents(self) -> Iterator[Annotated]:
        for begun, text in zip(self._starts, self._document.paragraphs, strict=False):
            if _has_hangul(text):
                parts = (match.span() for match in re.finditer(rf"[\t\n]|{OBJECT}|[^\t\n{OBJECT}]+", text))
                pieces = (Piece(begun + a, begun + b, _SIGNS.get(text[a:b], text[a:b])) for a, b in parts)
                yield Annotated.of(self.text, pieces)

    def place(self) -> LineOf:
        return line_and_column(self._starts)

    def corrected(self, found: Iterable[Finding]) -> bytes:
        place, texts = self.place(), dict[int, list[Finding]]()
        for each in found:
            texts.setdefault(place(each.start)[0], []).append(each)
        return self._document.corrected(
            {number: self._corrected_paragraph(number, mine) for number, mine in texts.items()}
        )

    def _corrected_paragraph(self, number: int, found: Iterable[Finding]) -> str:
        begun = self._starts[number - 1]
        moved = (replace(each, start=each.start - begun, end=each.end - begun) for each in found)
        return normalise(_replaced(self._document.paragraphs[number - 1], moved))


ReadFile = TextFile | OfficeFile
_SIGNS = {"\t": "  ", "\n": "\n\n", OBJECT: WORD}  # read otherwise than they are, so that they stay


def local(document: Annotated) -> tuple[int, Annotated]:
    """(offset, document): the part of its file that a document needs, so that little is sent to a process.

    Example:
        >>> local(Annotated("# 밥", (Piece(2, 3, "밥"),)))[0]
        2
    """
    offset = min(piece.start for piece in document.pieces)
    end = max(piece.end for piece in document.pieces)
    pieces = (Piece(a - offset, b - offset, text) for a, b, text in document.pieces)
    return offset, Annotated.of(document.document[offset:end], pieces)


def _batches(documents: Iterable[tuple[int, int, Annotated]]) -> Iterator[_Batch]:
    batch, size = _Batch(), 0
    for each in documents:
        batch.append(each)
        size += len(each[2].text)
        if size >= BATCH:
            yield batch
            batch, size = _Batch(), 0
    if batch:
        yield batch


_opened: tuple[KeepingCorrector, bool]  # of this process: the corrector, and whether offers are findings


def _open(checking: Checking) -> None:
    global _opened
    _opened = KeepingCorrector.load(**dict(checking.options)), checking.offers


def _find(documents: list[Annotated]) -> list[list[Finding]]:
    corrector, offers = _opened
    corrections = corrector.correct_batch([each.text for each in documents])
    return [
        [Finding.of(match) for match in matches(correction, document, offers)]
        for correction, document in zip(corrections, documents, strict=True)
    ]


def _replaced(text: str, found: Iterable[Finding]) -> str:
    for each in sorted(found, key=lambda each: each.start, reverse=True):
        if each.is_sure:
            text = text[: each.start] + each.right + text[each.end :]
    return text
