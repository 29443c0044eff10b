"""Corpus reader: sentences, or pairs of a wrong and a right one, from JSON Lines, CSV, text.

Formats: JSON Lines (https://jsonlines.org) with ``text`` (and ``source``, ``mt``), with ``src`` and ``tgt``,
or with ``wrong`` and ``right`` (and ``source``; rows whose ``split`` is another than ``train`` are skipped);
CSV (RFC 4180) with the header ``src,tgt``; plain text, one sentence a line. All are UTF-8, with or without a
byte order mark, and may be compressed (``.xz``). A row that cannot be used, or whose sentence is certainly
wrong, is skipped and reported; it never stops a long run.
"""

import csv
import io
import json
import lzma
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click

from model.stored.folder import write_atomically
from training.corpus.faults import find_fault
from training.options import UnusableError

JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
PAIR_COLUMNS = ("src", "tgt")
# Of a row of JSON Lines: 1 where ``pack`` has looked for faults, which takes longer than reading.
CHECKED = "checked"


class CorpusError(UnusableError):
    """A file that cannot be used at all; the message names it."""


class _BadRow(ValueError):
    """Why one row is skipped."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence that is right as far as ``faults`` can tell; in NFC, without surrounding white space."""

    text: str
    source: str = ""  # the collection it comes from, where the file says so
    machine_translated: bool = False  # "mt": 1 in the file


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence as it was typed and as it should read; both are equal if nothing is wrong."""

    source: str
    target: str
    collection: str = ""  # it comes from, where the file says so


@dataclass(frozen=True)
class SkippedRow:
    """A row that was skipped. ``line`` counts from 1 and is where the row begins."""

    line: int
    reason: str


@dataclass(frozen=True)
class Corpus:
    """The usable rows of one file, in its order, all of one kind; and the skipped ones."""

    path: Path
    rows: list[Sentence | Pair]  # all of one kind, never empty
    lines: list[int]  # where each row begins, counted from 1
    problems: tuple[SkippedRow, ...]

    @property
    def holds_pairs(self) -> bool:
        """Whether the rows are pairs.

        >>> Corpus(Path("x"), [Pair("머거", "먹어")], [1], ()).holds_pairs
        True
        """
        return isinstance(self.rows[0], Pair)

    def up_to(self, length: int) -> "Corpus":
        """Without the rows of which a side has more than ``length`` characters: they become problems.

        Raises CorpusError if no row is left.
        """
        rows, lines, problems = [], [], list(self.problems)
        for row, line in zip(self.rows, self.lines, strict=True):
            longest = max(len(row.source), len(row.target)) if isinstance(row, Pair) else len(row.text)
            if longest > length:
                problems.append(SkippedRow(line, f"{longest} characters, at most {length} can be read"))
            else:
                rows.append(row)
                lines.append(line)
        if not rows:
            raise CorpusError(f"no row of {self.path} has at most {length} characters")
        return Corpus(self.path, rows, lines, tuple(sorted(problems, key=lambda problem: problem.line)))

    def problem_summary(self, shown: int = 3) -> str:
        """A few lines for a person, or ``""`` where every row was usable.

        >>> Corpus(Path("x"), [Sentence("가")], [1], ()).problem_summary()
        ''
        """
        if not self.problems:
            return ""
        lines = [f"{self.path}: skipped {len(self.problems)}, kept {len(self.rows)} rows"]
        lines += [f"  line {problem.line}: {problem.reason}" for problem in self.problems[:shown]]
        if len(self.problems) > shown:
            lines.append(f"  … and {len(self.problems) - shown} more")
        return "\n".join(lines)


def read_corpus(path: str | Path) -> Corpus:
    """Read a file of either kind; the kind is seen from its name and its first row.

    Raises CorpusError when the file cannot be opened, is a CSV without the header ``src,tgt``, or
    has no usable row.
    """
    path = Path(path)
    rows: list[Sentence | Pair] = []
    numbers: list[int] = []
    problems: list[SkippedRow] = []
    try:
        # A byte that is not UTF-8 becomes a lone surrogate here, so that its row alone is lost.
        is_compressed = path.suffix.lower() == ".xz"
        with (lzma.open if is_compressed else open)(
            path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline=""
        ) as lines:
            for line, row in _numbered_rows(path.with_suffix("") if is_compressed else path, lines):
                if isinstance(row, _BadRow):
                    problems.append(SkippedRow(line, str(row)))
                elif rows and type(row) is not type(rows[0]):
                    problems.append(SkippedRow(line, "the file mixes sentences and pairs"))
                else:
                    rows.append(row)
                    numbers.append(line)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise CorpusError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if not rows:
        first = f" (line {problems[0].line}: {problems[0].reason})" if problems else ""
        raise CorpusError(f"no usable row in {path}{first}")
    return Corpus(path, rows, numbers, tuple(problems))


def open_corpus(path: str | Path, shown: int = 3, longest_pair: int | None = None) -> Corpus:
    """As ``read_corpus``, and report skipped rows on standard error, the first ``shown`` one by one.

    Pairs with a side of more than ``longest_pair`` characters are skipped, too: somebody wrote these by hand,
    so a row that is lost should be named.
    """
    corpus = read_corpus(path)
    if longest_pair and corpus.holds_pairs:
        corpus = corpus.up_to(longest_pair)
    if corpus.problems:
        click.echo(corpus.problem_summary(shown), err=True)
    return corpus


def read_sentences(path: str | Path) -> list[Sentence]:
    """The sentences of a file. Raises CorpusError, also when the file holds pairs."""
    corpus = read_corpus(path)
    if corpus.holds_pairs:
        raise CorpusError(f"{path} holds pairs; sentences were expected")
    return [row for row in corpus.rows if isinstance(row, Sentence)]


def read_pairs(path: str | Path) -> list[Pair]:
    """The pairs of a file. Raises CorpusError, also when the file holds single sentences."""
    corpus = read_corpus(path)
    if not corpus.holds_pairs:
        raise CorpusError(f"{path} holds sentences; pairs (src,tgt) were expected")
    return [row for row in corpus.rows if isinstance(row, Pair)]


def write_pairs(path: str | Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Write (wrong, right) pairs as CSV with the header ``src,tgt``; the file is replaced at once.

    Raises OSError where the folder cannot be written.
    """
    write_table(Path(path), [PAIR_COLUMNS, *pairs])


def write_table(path: Path, rows: Iterable[Sequence[object]], line_end: str = "\r\n") -> None:
    """Write rows as CSV, the header first; the file is replaced at once.

    Raises OSError where the folder cannot be written.
    """
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=line_end).writerows(rows)
    write_atomically(path, lambda file: file.write(buffer.getvalue().encode()))


_ReadRow = Sentence | Pair | _BadRow


def _numbered_rows(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, _ReadRow]]:
    """(line number, the row or the reason why it is unusable) for each row that is not blank."""
    if path.suffix.lower() == ".csv":
        yield from _csv_rows(path, lines)
        return
    parse = _json_row if path.suffix.lower() in JSON_SUFFIXES else _plain_row
    for number, line in enumerate(lines, 1):
        if number == 1 and parse is _plain_row and _is_pair_header(line):
            yield from _csv_rows(path, chain([line], lines))
            return
        if not line.isspace():
            yield number, _attempt(parse, line)


def _attempt(parse: Callable[..., Sentence | Pair], *fields: str) -> _ReadRow:
    try:
        return parse(*fields)
    except _BadRow as error:
        return error


def _is_pair_header(line: str) -> bool:
    return [name.strip().lower() for name in line.split(",")] == list(PAIR_COLUMNS)


def _plain_row(line: str) -> Sentence:
    return _sentence(line, "the line")


def _sentence(
    text: object, name: str, source: str = "", machine_translated: bool = False, checked: bool = False
) -> Sentence:
    sentence = Sentence(_clean(text, name), source, machine_translated)
    if not checked and (fault := find_fault(sentence.text)):
        raise _BadRow(fault)
    return sentence


def _json_row(line: str) -> Sentence | Pair:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _BadRow(f"not JSON: {error}") from error
    if not isinstance(row, dict):
        raise _BadRow(f"not a JSON object: {type(row).__name__}")
    if "text" in row:
        of_source = str(row.get("source") or ""), row.get("mt") == 1
        return _sentence(row["text"], "text", *of_source, checked=row.get(CHECKED) == 1)
    if all(name in row for name in PAIR_COLUMNS):
        return _pair(row["src"], row["tgt"])
    if "wrong" in row and "right" in row:
        if row.get("split", "train") != "train":
            raise _BadRow(f"of the split {row['split']}, which is for measuring alone")
        return _pair(row["wrong"], row["right"], str(row.get("source") or ""))
    raise _BadRow(f"neither text nor src and tgt among its keys: {sorted(row)[:5]}")


def _csv_rows(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, _ReadRow]]:
    reader = csv.reader(lines, strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
    except csv.Error as error:
        raise CorpusError(f"{path}: the header is not CSV: {error}") from error
    if not set(PAIR_COLUMNS) <= set(header):
        raise CorpusError(f"{path}: the header should hold src,tgt; received {','.join(header)[:80]!r}")
    source, target = (header.index(name) for name in PAIR_COLUMNS)
    while True:
        begins = reader.line_num + 1  # a quoted field may run over several lines
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield begins, _BadRow(f"not CSV: {error}")
            continue
        if len(fields) == len(header):
            yield begins, _attempt(_pair, fields[source], fields[target])
        elif fields:
            yield begins, _BadRow(f"{len(fields)} fields where the header has {len(header)}")


def _pair(source: object, target: object, collection: str = "") -> Pair:
    return Pair(_clean(source, "src"), _clean(target, "tgt"), collection)


def _clean(text: object, name: str) -> str:
    """NFC without surrounding white space; NFC because the vocabulary is."""
    if not isinstance(text, str):
        raise _BadRow(f"{name} is not a string: {type(text).__name__}")
    text = unicodedata.normalize("NFC", text.strip())
    if not text:
        raise _BadRow(f"{name} is empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _BadRow(f"{name} is not UTF-8") from error
    return text
