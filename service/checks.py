"""Checks of files in several processes: the wrong words, and the corrected text."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from model.correction.corrector import Corrector
from model.text.hangul import is_hangul
from service.annotated import Annotated, Piece
from service.files import reader_of
from service.languagetool import Rule
from service.matches import Match, line_and_column, matches

BATCH = 20_000  # characters that a process corrects at once
ALONE = 2 * BATCH  # up to which a second process would take longer to load than to help


class UnreadableFileError(ValueError):
    """A file that is not UTF-8, or not of the format of its ending."""


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

    def placed(self, path: Path, start: tuple[int, int], end: tuple[int, int]) -> "Finding":
        """The same in a file, from (line, column) to (line, column)."""
        return replace(
            self,
            path=path.as_posix(),
            line=start[0],
            column=start[1],
            end_line=end[0],
            end_column=end[1],
        )


@dataclass(frozen=True)
class Checking:
    """How files are checked."""

    options: tuple[tuple[str, Any], ...] = ()  # of ``Corrector.load``
    offers: bool = False  # whether changes that were not sure enough are findings, too
    processes: int = 1

    def findings(self, paths: Sequence[Path]) -> Iterator[list[Finding]]:
        """The findings of each file, in the order of ``paths``.

        Raises:
            UnreadableFileError: for the first file that cannot be read.
        """
        texts = [read(path) for path in paths]
        documents = [
            (number, *local(each))
            for number, (path, text) in enumerate(zip(paths, texts, strict=True))
            for each in _parsed(path, text)
        ]
        batches = list(_batches(documents))
        found: list[list[Finding]] = [[] for _ in paths]
        for batch, answers in zip(batches, self._answers(batches), strict=True):
            for (number, offset, _), answer in zip(batch, answers, strict=True):
                found[number] += [
                    replace(each, start=each.start + offset, end=each.end + offset) for each in answer
                ]
        for path, text, mine in zip(paths, texts, found, strict=True):
            place = line_and_column(text)
            yield [each.placed(path, place(each.start), place(each.end)) for each in mine]

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


def read(path: Path) -> str:
    """The text of a file with the line ends that it has.

    Raises:
        UnreadableFileError: for a file that is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"{path} is not UTF-8") from error


def _parsed(path: Path, text: str) -> list[Annotated]:
    """The documents with Hangul in a file."""
    if not any(map(is_hangul, text)):
        return []
    try:
        return [each for each in reader_of(path)(text) if any(map(is_hangul, each.text))]
    except ValueError as error:
        raise UnreadableFileError(f"{path} is no {path.suffix} file: {error}") from error


def local(document: Annotated) -> tuple[int, Annotated]:
    """(offset, document): the part of its file that a document needs, so that little is sent to a process."""
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


_opened: tuple[Corrector, bool]  # of this process: the corrector, and whether offers are findings


def _open(checking: Checking) -> None:
    global _opened
    _opened = Corrector.load(**dict(checking.options)), checking.offers


def _find(documents: list[Annotated]) -> list[list[Finding]]:
    corrector, offers = _opened
    corrections = corrector.correct_batch([each.text for each in documents])
    return [
        [Finding.of(match) for match in matches(correction, document, offers)]
        for correction, document in zip(corrections, documents, strict=True)
    ]


def corrected(text: str, found: Iterable[Finding]) -> str:
    """The text of a file with the sure findings replaced; all else stays."""
    for each in sorted(found, key=lambda each: each.start, reverse=True):
        if each.is_sure:
            text = text[: each.start] + each.right + text[each.end :]
    return text
