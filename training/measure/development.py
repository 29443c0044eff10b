"""``python -m training development``: how much of each kind of mistake is mended, and what is harmed, in our own sets.

The sets are the files of ``benchmarks/sets/`` and ``benchmarks/``: CSV with the columns ``src,tgt`` (where both are the same, the text is
right) and, in ``sets/``, ``kind,note``.
"""

import csv
import itertools
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from model.text.changes import Change, find_changes
from training.documents.render import content
from training.documents.sources import Sources
from training.measure.error_pairs import OWN_SETS
from training.measure.report import write_numbers

TOGETHER = 1024  # rows: many of one length waste little padding


@dataclass(frozen=True)
class SetRow:
    """A text as somebody wrote it and as it should be; equal where it is right."""

    set: str
    kind: str
    wrong: str
    right: str


@dataclass(frozen=True)
class Result:
    """What became of a row."""

    row: SetRow
    corrected: str

    @property
    def is_exact(self) -> bool:
        return self.corrected == self.row.right

    @property
    def is_harmed(self) -> bool:
        """Whether a word was changed that was right.

        >>> Result(SetRow("", "", "밥을 안먹고 갔다", "밥을 안 먹고 갔다"), "법을 안 먹고 갔다").is_harmed
        True
        >>> Result(SetRow("", "", "밥을 안먹고 갔다", "밥을 안 먹고 갔다"), "밥을 않먹고 갔다").is_harmed
        False
        """
        wrong = self.row.wrong
        needed = [_words_around(wrong, change) for change in find_changes(wrong, self.row.right)]
        return any(
            not any(start <= change.source_start and change.source_end <= end for start, end in needed)
            for change in find_changes(wrong, self.corrected)
        )


def _words_around(text: str, change: Change) -> tuple[int, int]:
    """From the beginning of the word that a change begins in to the end of the one that it ends in."""
    start = max(text.rfind(space, 0, change.source_start) for space in " \n\t") + 1
    ends = [text.find(space, change.source_end) for space in " \n\t"]
    return start, min((end for end in ends if end >= 0), default=len(text))


@dataclass(frozen=True)
class SetCounts:
    """Of the rows of a set or a kind, how many were treated how."""

    wrong: int  # rows with a mistake
    exact: int  # of them, those that became what they should be
    left: int  # of them, those that were left as they are
    right: int  # rows without one
    untouched: int  # of them, those left alone
    harmed: int  # of all rows, those in which a word was changed that was right


def count(results: Iterable[Result]) -> SetCounts:
    results = list(results)
    wrong = [each for each in results if each.row.wrong != each.row.right]
    right = [each for each in results if each.row.wrong == each.row.right]
    return SetCounts(
        len(wrong),
        sum(each.is_exact for each in wrong),
        sum(each.corrected == each.row.wrong for each in wrong),
        len(right),
        sum(each.is_exact for each in right),
        sum(each.is_harmed for each in results),
    )


def read_rows(paths: Iterable[Path], limit: int | None = None) -> Iterator[SetRow]:
    """The rows of the files, of each the first ``limit``; a file's name is that of its set."""
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in itertools.islice(csv.DictReader(file), limit):
                yield SetRow(path.stem, row.get("kind") or "", row["src"], row["tgt"])


def correct(corrector, rows: Sequence[SetRow]) -> list[Result]:
    """What becomes of each row. ``corrector`` is any model.Corrector."""
    results = []
    for start in range(0, len(rows), TOGETHER):
        some = rows[start : start + TOGETHER]
        corrections = corrector.correct_batch([row.wrong for row in some])
        results += [Result(row, each.text) for row, each in zip(some, corrections, strict=True)]
    return results


def by_set_and_kind(results: Sequence[Result]) -> dict[str, dict[str, SetCounts]]:
    """The counts of each set, under ``""`` of the whole, and of its kinds where it has any."""
    sets: dict[str, dict[str, list[Result]]] = {}
    for each in results:
        kinds = sets.setdefault(each.row.set, {"": []})
        kinds[""].append(each)
        if each.row.kind:
            kinds.setdefault(each.row.kind, []).append(each)
    return {name: {kind: count(some) for kind, some in kinds.items()} for name, kinds in sets.items()}


def counts_as_json(counts: dict[str, dict[str, SetCounts]]) -> dict:
    return {name: {kind: asdict(n) for kind, n in kinds.items()} for name, kinds in counts.items()}


def failures(results: Sequence[Result]) -> list[dict]:
    """The rows that are not as they should be, with what became of them."""
    return [
        {**asdict(each.row), "corrected": each.corrected, "harmed": each.is_harmed}
        for each in results
        if not each.is_exact
    ]


def find_sets(names: Sequence[str]) -> list[Path]:
    """The files of these sets, or of all. Raises click.ClickException for a name that is none."""
    paths = {
        path.stem: path for path in (*sorted(OWN_SETS.glob("sets/*.csv")), *sorted(OWN_SETS.glob("*.csv")))
    }
    if unknown := set(names) - set(paths):
        raise click.ClickException(f"no set {', '.join(sorted(unknown))}; there are {', '.join(paths)}")
    return [paths[name] for name in names] or list(paths.values())


@click.command("development")
@click.argument("names", nargs=-1)
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option("--minimum-confidence", type=click.FloatRange(0, 1), help="[default: the model's own]")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many rows of each set.")
@click.option("--practised-norm", is_flag=True, help="Know no word of the norm that is held out of practice.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A JSON file of everything.")
@click.option(
    "--counts", "counted", type=click.Path(dir_okay=False, path_type=Path), help="A JSON file without texts."
)
def command(names, model, minimum_confidence, limit, practised_norm, out, counted):
    """Measure a model on the sets NAMES, or on all, and print a row for each set and one for each of its kinds.

    --out gets the numbers and every row that is not as it should be. --practised-norm leaves words that are held out of practice out of
    the norm's tables, too.
    """
    paths = find_sets(names)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from model import Corrector
    from model.norm import without_held_out

    corrector = Corrector.load(model, minimum_confidence)
    started = time.perf_counter()
    with without_held_out() if practised_norm else nullcontext():
        results = correct(corrector, list(read_rows(paths, limit)))
    sets = counts_as_json(by_set_and_kind(results))
    click.echo(content(Sources(given={"development": {"sets": sets}}), "development"))
    run = {
        "model": corrector.name,
        "fingerprint": corrector.fingerprint,
        "minimum_confidence": corrector.minimum_confidence,
    }
    taken = time.perf_counter() - started
    click.echo(f"\n{', '.join(map(str, run.values()))}: {len(results):,} rows in {taken:.0f} s")
    numbers = {**run, "sets": sets}
    if counted:
        write_numbers(counted, numbers)
    if out:
        write_numbers(out, {**numbers, "failures": failures(results)})
