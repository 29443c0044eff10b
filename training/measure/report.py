"""Evaluation report: dataclasses, JSON, tables in a terminal, and the cause of each failure.

The results are those of ``python -m training evaluate``.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from rich.console import Console
from rich.table import Table

from training.measure.metrics import (
    Reliability,
    Scores,
    best_threshold,
    edits,
    none_if_nan,
    reliability,
    share,
    threshold_table,
)
from training.noise.pairs import NoisyPair

if TYPE_CHECKING:
    from model import Correction

RIGHT, UNSURE, WRONG_MADE, WRONG_PROPOSED, UNSEEN = (
    "right",
    "unsure",
    "wrong_made",
    "wrong_proposed",
    "unseen",
)
CAUSES = (RIGHT, UNSURE, WRONG_MADE, WRONG_PROPOSED, UNSEEN)


def cause(correction: "Correction", right: str) -> str:
    """The first of these that holds:

    * ``right``: the text came out right;
    * ``unsure``: the proposals are just the edits that are needed, but some were not sure enough to be made;
    * ``wrong_made``: an edit was made that is not needed, or not in this way;
    * ``wrong_proposed``: such an edit was proposed, but not made;
    * ``unseen``: an error has no proposal.
    """
    if correction.text == right:
        return RIGHT
    needed = edits(correction.source, right)
    proposed, made = (
        {(each.source_start, each.source_end, each.right) for each in changes}
        for changes in (correction.proposed, correction.changes)
    )
    if proposed == needed:
        return UNSURE
    if made - needed:
        return WRONG_MADE
    return WRONG_PROPOSED if proposed - needed else UNSEEN


def count_causes(outcomes: Iterable["Outcome"]) -> dict[str, int]:
    """How many sentences with an error have which cause; those without an error are not counted."""
    found = Counter(
        cause(each.correction, each.pair.right) for each in outcomes if each.pair.wrong != each.pair.right
    )
    return {name: found[name] for name in CAUSES}


if TYPE_CHECKING:
    from model import Correction

FILE_WIDTH = 132  # characters of a line where no terminal says how many it has: the widest table fits


@dataclass(frozen=True)
class Outcome:
    """One pair and the model's correction of its wrong side."""

    pair: NoisyPair
    correction: "Correction"

    @property
    def text(self) -> str:
        return self.correction.text

    @property
    def correct(self) -> bool:
        return self.text == self.pair.right


@dataclass(frozen=True)
class RuleScore:
    """How many errors one rule made, and how many of them were mended."""

    rule: str
    family: str
    count: int
    repaired: int

    @property
    def recall(self) -> float:
        """The share of errors by this rule that were repaired.

        >>> RuleScore("liaison", "pronunciation", 4, 3).recall
        0.75
        """
        return share(self.repaired, self.count)

    def as_json(self) -> dict:
        return {
            "rule": self.rule,
            "family": self.family,
            "count": self.count,
            "repaired": self.repaired,
            "recall": none_if_nan(self.recall),
        }


@dataclass(frozen=True)
class Report:
    """The measures of one model on one set of pairs."""

    total: Scores
    families: dict[str, Scores]  # by name, in alphabetical order
    rules: tuple[RuleScore, ...]  # the most frequent first
    outcomes: tuple[Outcome, ...]  # in the order of the pairs
    seconds: float  # that correcting took, without loading and generating

    @cached_property
    def reliability(self) -> Reliability:
        """Calibration of the network's proposals: whether a confidence is the share of right ones."""
        return reliability(*self._sides())

    @cached_property
    def thresholds(self) -> dict[float, Scores]:
        """The total at each minimum confidence, from the same decoding."""
        return threshold_table(*self._sides())

    def _sides(self) -> tuple[list["Correction"], list[NoisyPair]]:
        return [each.correction for each in self.outcomes], [each.pair for each in self.outcomes]

    def as_json(self) -> dict:
        return {
            "sentences": self.total.count,
            "seconds": round(self.seconds, 3),
            "total": self.total.as_json(),
            "families": {name: scores.as_json() for name, scores in self.families.items()},
            "rules": [rule.as_json() for rule in self.rules],
            "causes": count_causes(self.outcomes),
            "reliability": self.reliability.as_json(),
            "thresholds": [
                {"minimum_confidence": minimum, **scores.as_json()}
                for minimum, scores in self.thresholds.items()
            ],
            "best_minimum_confidence": best_threshold(self.thresholds),
        }


def open_console(json_path: str | None) -> Console:
    """Where tables go: standard output, unless ``json_path`` is ``-`` and the JSON needs it alone."""
    stream: TextIO = sys.stderr if json_path == "-" else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else FILE_WIDTH, markup=False, highlight=False)


def write_json(document: dict, path: str) -> None:
    """Write to a file, or to standard output for ``-``. Raises click.ClickException if that fails."""
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        with click.open_file(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


def write_numbers(path: Path, numbers: dict) -> None:
    """Write measurements as JSON with an indent of one space, as the files of ``docs/numbers`` have it.

    Raises OSError where it cannot be written.
    """
    path.write_text(json.dumps(numbers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def percent(value: float, digits: int = 1) -> str:
    """``0.5`` as ``50.0%``, and a dash for nan.

    >>> percent(0.5), percent(float("nan"))
    ('50.0%', '–')
    """
    return "–" if none_if_nan(value) is None else f"{value:.{digits}%}"


def print_report(console: Console, report: Report, run: dict, rules: bool = False) -> None:
    """The table of families, the run's settings, and with ``rules`` the table of rules."""
    table = Table("family", title=f"{run['model']} on {run['file']}")
    headings = ("sentences", "exact match (95%)", "CER before", "after", "reduced", "precision", "recall")
    for heading in (*headings, "F0.5", "untouched"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, scores in report.families.items():
        table.add_row(name, *_cells(scores))
    table.add_section()
    table.add_row("all", *_cells(report.total))
    console.print(table)
    console.print(f"errors: {_origin(run)}")
    speed = f"{report.total.count} sentences in {report.seconds:.1f} s"
    least = run["minimum_confidence"]
    console.print(f"model: {run['model']} {run['fingerprint']}, minimum confidence {least}; {speed}")
    if rules:
        console.print(_rule_table(report.rules))


def _origin(run: dict) -> str:
    if run["mix"] is None:
        return "as the file has them"
    mix = ", ".join(f"{family} {percent(part)}" for family, part in run["mix"].items())
    return f"generated with seed {run['seed']}: {mix}"


def _cells(scores: Scores) -> list[str]:
    low, high = scores.exact_match_interval
    exact = f"{percent(scores.exact_match)} ({percent(low)}–{percent(high)})"
    return [str(scores.count), exact, percent(scores.cer_before, 2), *_quality(scores)]


def _quality(scores: Scores) -> list[str]:
    shares = (scores.cer_reduction, scores.edits.precision, scores.edits.recall)
    best = (scores.edits.f(0.5), scores.clean_untouched)
    return [percent(scores.cer_after, 2), *map(percent, (*shares, *best))]


def _rule_table(rules: Iterable[RuleScore]) -> Table:
    table = Table("rule", "family", title="errors repaired, by rule")
    for heading in ("errors", "repaired", "recall"):
        table.add_column(heading, justify="right")
    for each in rules:
        table.add_row(each.rule, each.family, str(each.count), str(each.repaired), percent(each.recall))
    return table


def print_reliability(console: Console, report: Report) -> None:
    """How often the network is right at each confidence, and the scores at each minimum confidence."""
    table = Table("confidence", title="are proposed changes as often right as their confidence says?")
    for heading in ("changes", "mean confidence", "right"):
        table.add_column(heading, justify="right")
    for each in report.reliability.bins:
        span = f"{each.low:g} – {each.high:g}"
        table.add_row(span, str(each.count), percent(each.mean_confidence), percent(each.share_right))
    console.print(table)
    console.print(f"expected calibration error: {percent(report.reliability.expected_calibration_error, 2)}")
    console.print(_threshold_table(report.thresholds))


def _threshold_table(thresholds: dict[float, Scores]) -> Table:
    best = best_threshold(thresholds)
    table = Table("minimum confidence", title="the whole set at other thresholds (* the highest F0.5)")
    for heading in ("exact match", "CER after", "reduced", "precision", "recall", "F0.5", "untouched"):
        table.add_column(heading, justify="right")
    for minimum, scores in thresholds.items():
        mark = " *" if minimum == best else ""
        table.add_row(f"{minimum:g}{mark}", percent(scores.exact_match), *_quality(scores))
    return table


def print_failures(console: Console, report: Report, count: int, family: str | None = None) -> None:
    """The first ``count`` sentences (of ``family``) that the model did not get right, one line a text."""
    failures = [
        outcome
        for outcome in report.outcomes
        if not outcome.correct and family in (None, outcome.pair.family)
    ]
    for outcome in failures[:count]:
        rules = ", ".join(dict.fromkeys(edit.rule for edit in outcome.pair.edits))
        console.print(f"\n[{outcome.pair.family}] {rules}".rstrip(), soft_wrap=True)
        texts = {"wrong": outcome.pair.wrong, "right": outcome.pair.right, "got": outcome.text}
        for label, text in texts.items():
            console.print(f"  {label:<6}{text}", soft_wrap=True)
