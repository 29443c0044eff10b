"""Reads the table of native writers' mistakes (``native_mistakes.tsv``): single words and phrases such as 며칠/몇일.

A row stands where its ``right`` spelling stands in a CORRECT text. The sources, row by row: 한글 맞춤법, 표준어 규정,
외래어 표기법 and 표준국어대사전 (국립국어원).
"""

import csv
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from model.norm.matching import stands_at

TABLE_PATH = Path(__file__).with_name("native_mistakes.tsv")
COLUMNS = ("name", "right", "wrong", "source", "boundary", "note")
BOUNDARIES = ("", "left", "right", "both")
MIN_ROWS = 150


@dataclass(frozen=True)
class Mistake:
    """One row of the table: where ``right`` stands in a correct sentence, people write ``wrong``."""

    name: str
    right: str
    wrong: str
    source: str
    boundary: str  # the sides of ``right`` where a word must begin or end

    @functools.cached_property
    def change(self) -> tuple[int, list[str]]:
        """First changed character of ``right``, and the cells that replace the changed ones."""
        return changed_cells(self.right, self.wrong)

    def stands_at(self, text: str, start: int) -> bool:
        """Whether ``right`` stands at ``text[start:]`` with its word boundaries."""
        return stands_at(self.right, self.boundary, text, start)


def changed_cells(right: str, wrong: str) -> tuple[int, list[str]]:
    """What differs between two spellings, as one cell for each changed character of ``right``.

    ``("며칠", "몇일") -> (0, ["몇", "일"])``; ``("안 돼", "안돼") -> (1, [""])``. Where characters are
    only added they join the cell before them, or after them at the very start.
    """
    prefix = 0
    while prefix < min(len(right), len(wrong)) and right[prefix] == wrong[prefix]:
        prefix += 1
    suffix = 0
    while suffix < min(len(right), len(wrong)) - prefix and right[-1 - suffix] == wrong[-1 - suffix]:
        suffix += 1
    if prefix + suffix == len(right):
        prefix, suffix = (prefix - 1, suffix) if prefix else (0, suffix - 1)
    old, new = right[prefix : len(right) - suffix], wrong[prefix : len(wrong) - suffix]
    missing = [""] * (len(old) - len(new))
    if missing:
        return prefix, [*missing, *new] if old[0] == " " else [*new, *missing]
    return prefix, [*new[: len(old) - 1], new[len(old) - 1 :]]


def read_mistakes(path: Path) -> tuple[Mistake, ...]:
    """Rows of a table of mistakes. Raises ValueError naming file and line of what is wrong."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    if not lines or tuple(lines[0]) != COLUMNS:
        raise ValueError(f"{path.name}, line 1: expected the columns {COLUMNS}, got {lines[:1]}")
    mistakes: dict[tuple[str, str], Mistake] = {}
    for number, cells in enumerate(lines[1:], start=2):
        problem = _row_problem(cells, mistakes)
        if problem:
            raise ValueError(f"{path.name}, line {number}: {problem}: {cells}")
        mistakes[cells[1], cells[2]] = Mistake(*cells[:5])
    if len(mistakes) < MIN_ROWS:
        raise ValueError(f"{path.name}: expected at least {MIN_ROWS} rows, got {len(mistakes)}")
    return tuple(mistakes.values())


def _row_problem(cells: list[str], seen: dict) -> str:
    if len(cells) != len(COLUMNS):
        return f"expected {len(COLUMNS)} cells, got {len(cells)}"
    name, right, wrong, source, boundary, _ = cells
    if not re.fullmatch(r"[a-z][a-z_]*", name):
        return f"not a name of lower-case ASCII letters and _: {name!r}"
    if not right or not wrong or not source:
        return "right, wrong and source must not be empty"
    if right == wrong:
        return "right equals wrong"
    if boundary not in BOUNDARIES:
        return f"boundary must be one of {BOUNDARIES}, got {boundary!r}"
    return "the same right and wrong as in an earlier row" if (right, wrong) in seen else ""


@functools.cache
def table() -> tuple[Mistake, ...]:
    """All rows, read once."""
    return read_mistakes(TABLE_PATH)


@functools.cache
def _mistakes_by_first() -> dict[str, list[Mistake]]:
    return by_beginning(table())


def by_beginning(mistakes: Iterable[Mistake], size: int = 1) -> dict[str, list[Mistake]]:
    """The rows by the first ``size`` characters of what is right, which ``sites`` looks them up by."""
    index: dict[str, list[Mistake]] = {}
    for mistake in mistakes:
        index.setdefault(mistake.right[:size], []).append(mistake)
    return index


def table_sites(text: str) -> Iterator[tuple[int, list[Mistake]]]:
    """Where rows stand in a correct ``text``: the place, and all rows that stand there."""
    return sites(text, _mistakes_by_first())


def sites(text: str, index: dict[str, list[Mistake]], size: int = 1) -> Iterator[tuple[int, list[Mistake]]]:
    """Where the rows of ``index``, which is by ``size`` characters, stand in a correct ``text``."""
    for start in range(len(text)):
        candidates = index.get(text[start : start + size])
        if candidates and (found := [row for row in candidates if row.stands_at(text, start)]):
            yield start, found
