"""Reads the sentences of a survey of heads, and makes pairs of them: what was typed, and what is right."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from model.analysis.head_effects import TextPair
from model.correction.answers import AnswersMany
from model.tables import TableError, read_rows
from model.text.tokenizer import normalise

PAIR_COLUMNS = ("src", "tgt")
GivenText = tuple[str, str | None]  # a text, and its right form where the file has it


class SurveyFileError(Exception):
    """A file of sentences cannot be read; the message says why."""


def read_pairs(
    path: Path, corrector: AnswersMany, limit: int | None = None
) -> tuple[tuple[TextPair, ...], int]:
    """((source, target), …) of a file, and how many lines were left out because they are too long or empty.

    A ``.csv`` file has the columns ``src`` and ``tgt``; any other holds one sentence a line, whose target is what
    ``corrector`` makes of it. Raises SurveyFileError for a file that is not UTF-8, and for a CSV without these columns.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SurveyFileError(f"{path} cannot be read as UTF-8 text: {error}") from error
    is_csv = path.suffix.lower() == ".csv"
    given = (
        _pairs_of_csv(path, text)
        if is_csv
        else [(line.removesuffix("\n"), None) for line in io.StringIO(text)]
    )
    return pairs_of(given[:limit], corrector)


def _pairs_of_csv(path: Path, text: str) -> list[GivenText]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    try:
        if missing := [name for name in PAIR_COLUMNS if name not in (rows.fieldnames or ())]:
            raise SurveyFileError(f"{path} should have the columns {missing} too, received {rows.fieldnames}")
        return [(row["src"] or "", row["tgt"] or "") for row in rows]
    except csv.Error as error:
        raise SurveyFileError(f"{path} cannot be read as CSV: {error}") from error


def read_given(file: BinaryIO, name: str) -> Iterator[GivenText]:
    """The rows of a CSV, TXT or XLSX file that hold a text (``model.tables.read_rows``).

    If a header names a column ``tgt``, its cells are the targets, and rows without a target are left out. Raises TableError for what
    is no such file.
    """
    content = file.read()
    targets: dict[int, str] | None = None
    if not name.lower().endswith(".txt"):
        with suppress(TableError):  # no such column: all rows are texts
            targets = {row.number: row.text for row in read_rows(io.BytesIO(content), name, PAIR_COLUMNS[1])}
    for row in read_rows(io.BytesIO(content), name):
        if row.problem is None and (targets is None or targets.get(row.number)):
            yield row.text, targets[row.number] if targets else None


def pairs_of(given: Sequence[GivenText], corrector: AnswersMany) -> tuple[tuple[TextPair, ...], int]:
    """((source, target), …) of texts with or without a target, and how many were left out because they are too long or
    empty. Where there is no target the text's sentences have what ``corrector`` makes of them."""
    corrected = iter(corrector.correct_batch([text.strip() for text, target in given if target is None]))
    pairs: list[TextPair] = []
    for text, target in given:
        if target is None:
            pairs += [(each.source, each.text) for each in next(corrected).sentences]
        else:
            pairs.append((normalise(text), normalise(target)))
    kept = readable(pairs, corrector)
    return kept, len(pairs) - len(kept)


def made_pairs(texts: Sequence[str], corrector: AnswersMany) -> list[TextPair]:
    """Every sentence with what ``corrector`` makes of it."""
    made = (each for correction in corrector.correct_batch(texts) for each in correction.sentences)
    return [(each.source, each.text) for each in made]


def readable(pairs: Iterable[TextPair], corrector: AnswersMany) -> tuple[TextPair, ...]:
    """Those that are neither empty nor too long for the network."""
    longest = corrector.config.max_length
    return tuple(pair for pair in pairs if all(0 < len(text) <= longest for text in pair))
