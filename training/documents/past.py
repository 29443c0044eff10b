"""Tables that set the shipped weights beside those shipped before them.

The row of the shipped weights is made from their data files. The earlier rows are kept as text in
``docs/numbers/past/``, the latest first: ``python -m training ship`` adds the row of the weights that it is about to
replace. Earlier rows are of the errors and sets of their own time, so they are not measured again.
"""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from model.stored.folder import write_atomically
from training.documents.block import BLOCKS
from training.documents.scores import FAMILIES
from training.documents.sources import MissingNumbersError, Sources
from training.documents.wording import bold, noted, number, percent, table
from training.ship.commands import QUESTIONS

CHATS = ("everyday", "everyday_unseen", "everyday_spaces", "everyday_spaces_unseen")
TEXTS = ("written", "written_unseen")
SPOKEN = "spoken"


@dataclass(frozen=True)
class PastTable:
    """One such table. The first column names the weights."""

    name: str
    columns: tuple[str, ...]
    row: Callable[[Sources], list[str]]  # the cells of the shipped weights
    # Data files that may hold a note on the measurement, each by the name that the table gives it.
    notes: Mapping[str, str] = field(default_factory=dict)

    def path(self, sources: Sources) -> Path:
        return sources.numbers / "past" / f"{self.name.removeprefix('past-')}.csv"

    def earlier(self, sources: Sources) -> list[list[str]]:
        """The rows of the weights shipped before, the latest first."""
        path = self.path(sources)
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file))[1:]

    def write(self, sources: Sources, language: str) -> str:
        current = bold([f"{_called(sources)} (as shipped)", *self.row(sources)])
        notes = {called: sources.measured(name) for called, name in self.notes.items()}
        return noted(table(self.columns, [current, *self.earlier(sources)]), notes, language)

    def keep(self, sources: Sources) -> None:
        """Put the row of the shipped weights before the earlier ones, unless it is the first of them."""
        rows = self.earlier(sources)
        current = [_called(sources), *self.row(sources)]
        if rows[:1] == [current]:
            return
        buffer = io.StringIO(newline="")
        csv.writer(buffer, lineterminator="\n").writerows([self.columns, current, *rows])
        self.path(sources).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path(sources), lambda file: file.write(buffer.getvalue().encode()))


def keep_all(sources: Sources) -> None:
    """What is shipped becomes the first of the earlier rows, in every table whose numbers are there."""
    (sources.numbers / "past").mkdir(parents=True, exist_ok=True)
    for each in TABLES:
        try:
            each.keep(sources)
        except MissingNumbersError:  # a model that was never measured has no row
            continue


def _called(sources: Sources) -> str:
    return f"{sources.name}; {sources.evaluation()['minimum_confidence']:g}"


def _development(sources: Sources) -> list[str]:
    found, test = sources.evaluation(), sources.measured("test")["total"]
    total, families = found["total"], found["families"]
    exact = [percent(families[name]["exact_match"]) if name in families else "" for name in FAMILIES[1:]]
    return [*_three(total), *exact, *_three(test)]


def _three(total: dict) -> list[str]:
    return [percent(total["exact_match"]), number(total["f0.5"]), percent(total["clean_untouched"])]


def _questions(sources: Sources) -> list[str]:
    cells = []
    for name in QUESTIONS:
        found = sources.measured(f"sets/{name}")
        total, undone = found["total"], found["thresholds"][0]
        parts = [_of_wrong(total), number(total["f0.5"]), f"{_untouched(total)} of {total['clean']}"]
        cells.append(f"{', '.join(parts)} ({_of_wrong(undone)})")
    return cells


def _untouched(scores: dict) -> int:
    return round(scores["clean_untouched"] * scores["clean"]) if scores["clean"] else 0


def _of_wrong(scores: dict) -> str:
    """The share that came out right of the sentences with an error."""
    wrong = scores["count"] - scores["clean"]
    return percent((scores["exact"] - _untouched(scores)) / wrong if wrong else None)


def _intact(sources: Sources) -> list[str]:
    total = sources.measured("intact")["total"]
    return [percent(total["share"]), percent(total["clean_untouched"])]


def _chats(sources: Sources) -> list[str]:
    found, undone = (sources.measured(name)["sets"] for name in ("development", "everything"))
    return [f"{_right(found[name][''])} ({_right(undone[name][''])})" for name in CHATS]


def _right(counts: dict) -> int:
    return counts["exact"] + counts["untouched"]


def _texts(sources: Sources) -> list[str]:
    found, undone = (sources.measured(name)["sets"] for name in ("development", "everything"))
    cells = []
    for name in TEXTS:
        each = found[name][""]
        cells.append(f"{each['exact']} ({undone[name]['']['exact']}) of {each['wrong']}")
        cells.append(f"{each['untouched']} of {each['right']}")
    spoken = found[SPOKEN][""]
    return [*cells, f"{spoken['untouched']} of {spoken['right']}"]


TABLES = (
    PastTable(
        "past-development",
        ("weights; minimum", "all", "F0.5", "untouched", *FAMILIES[1:], "test: all", "F0.5", "untouched"),
        _development,
        {"test, as shipped": "test"},
    ),
    PastTable(
        "past-sets", ("weights; minimum", *QUESTIONS), _questions, {"as shipped": f"sets/{QUESTIONS[0]}"}
    ),
    PastTable("past-intact", ("weights; minimum", "intact", "untouched"), _intact),
    PastTable(
        "past-everyday",
        ("weights; minimum", "everyday (140)", "unseen (63)", "spaces (48)", "unseen spaces (40)"),
        _chats,
    ),
    PastTable(
        "past-written",
        ("weights; minimum", "written", "right ones", "written, unseen", "right ones", "spoken, all right"),
        _texts,
    ),
)
BLOCKS.update({each.name: each.write for each in TABLES})
