"""Evaluation report: dataclasses, JSON, tables in a terminal, and the cause of each failure.

The results are those of ``python -m training evaluate``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np

from model import Correction, Corrector
from model.analysis.statistics import Estimate, Tally
from model.stored.folder import DEFAULT_MODEL
from training.documents.render import content, head, row
from training.documents.tables import Sources, percent
from training.measure import metrics
from training.measure.metrics import Outcome, Scores, edits, edits_of
from training.options import NEW_FILE, UnusableError, knob

CAUSES = ("right", "unsure", "wrong_made", "wrong_proposed", "unseen")
RIGHT, UNSURE, WRONG_MADE, WRONG_PROPOSED, UNSEEN = CAUSES


def cause(correction: Correction, right: str) -> str:
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
    proposed, made = map(edits_of, (correction.proposed, correction.changes))
    if proposed == needed:
        return UNSURE
    if made - needed:
        return WRONG_MADE
    return WRONG_PROPOSED if proposed - needed else UNSEEN


def count_causes(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many sentences with an error have which cause; those without an error are not counted."""
    found = Counter(
        cause(each.correction, each.pair.right) for each in outcomes if each.pair.wrong != each.pair.right
    )
    return {name: found[name] for name in CAUSES}


@dataclass(frozen=True)
class Report:
    """The measures of one model on one set of pairs."""

    total: Scores
    families: dict[str, Scores]  # by name, in alphabetical order
    rules: list[dict[str, Any]]  # errors and mended ones by rule, the most frequent first
    outcomes: tuple[Outcome, ...]  # in the order of the pairs
    seconds: float  # that correcting took, without loading and generating

    @cached_property
    def reliability(self) -> dict[str, Any]:
        """Calibration of the network's proposals: whether a confidence is the share of right ones."""
        return metrics.reliability(self.outcomes)

    @cached_property
    def thresholds(self) -> list[Scores]:
        """The total at each minimum confidence, from the same decoding."""
        return metrics.threshold_table(self.outcomes)

    def as_json(self) -> dict[str, Any]:
        return {
            "sentences": self.total["count"],
            "seconds": round(self.seconds, 3),
            "total": self.total,
            "families": self.families,
            "rules": self.rules,
            "causes": count_causes(self.outcomes),
            "reliability": self.reliability,
            "thresholds": self.thresholds,
            "best_minimum_confidence": metrics.best_threshold(self.thresholds),
        }


def write_numbers(path: str | Path | None, numbers: dict[str, Any], indent: int = 1) -> None:
    """Write measurements as JSON, to standard output for ``-``; nothing for None.

    The files of ``docs/numbers`` have an indent of one space. Raises UnusableError where the file cannot be
    written.
    """
    if path:
        try:
            with click.open_file(str(path), "w", encoding="utf-8") as file:
                file.write(json.dumps(numbers, ensure_ascii=False, indent=indent) + "\n")
        except OSError as error:
            raise UnusableError(f"cannot write {path}: {error.strerror}") from error


@dataclass(frozen=True)
class Numbers:
    """The options of a study: its model, and the file of its numbers."""

    model: str = knob(DEFAULT_MODEL, "Name or path of a model folder.")
    json: Path | None = knob(None, "All numbers.", type=NEW_FILE)


def clustered(values: Sequence[float] | np.ndarray, sentences: Sequence[int] | np.ndarray) -> Estimate:
    """The mean of values (N,) over edits, in sentences of these numbers (N,), without values that are nan.

    The sample is of sentences, not of edits.

    >>> clustered([1.0, 1.0, float("nan")], [0, 1, 1]).rows
    2
    """
    values, sentences, tally = np.asarray(values, float), np.asarray(sentences), Tally.empty(())
    for number in np.unique(sentences):
        own = values[sentences == number]
        tally.add(own[np.isfinite(own)])
    return tally.estimate()


def tell(source: str, part: str, numbers: dict[str, Any], path: Path | None) -> None:
    """Print the part of the documents that these numbers make, and write them."""
    click.echo(content(Sources(given={source: numbers}), part))
    write_numbers(path, numbers)


def run_of(corrector: Corrector, **chosen: object) -> dict[str, Any]:
    """The model of a measurement, and what was chosen for it, as all files of numbers begin."""
    return {
        "model": corrector.name,
        "fingerprint": corrector.fingerprint,
        "minimum_confidence": corrector.minimum_confidence,
        **chosen,
    }


def report_text(measured: dict[str, Any], rules: bool = False, calibration: bool = False) -> str:
    """The tables of ``Report.as_json`` with its run: families, and rules or calibration where asked for."""
    sources = Sources(given={"evaluation": measured})
    low, high = (percent(bound) for bound in measured["total"]["exact_match_95"])
    speed = f"{measured['sentences']} sentences in {measured['seconds']:.1f} s"
    least = "{model} {fingerprint}, minimum confidence {minimum_confidence}".format(**measured)
    texts = [
        f"{content(sources, 'families')}\nexact match of all (95%): {low}–{high}",
        f"errors: {_origin(measured)}\nmodel: {least}; {speed}",
    ]
    if rules:
        counted = ("rule", "family", "count", "repaired")
        lines = [
            row(*(each[name] for name in counted), percent(each["recall"])) for each in measured["rules"]
        ]
        texts.append("\n".join([head("rule", "family", "errors", "repaired", "recall"), *lines]))
    if calibration:
        best = f"highest F0.5 at a minimum confidence of {measured['best_minimum_confidence']:g}"
        texts += [content(sources, "reliability"), f"{content(sources, 'thresholds')}\n{best}"]
    return "\n\n".join(texts)


def _origin(run: dict[str, Any]) -> str:
    if run["mix"] is None:
        return "as the file has them"
    mix = ", ".join(f"{family} {percent(part)}" for family, part in run["mix"].items())
    return f"generated with seed {run['seed']}: {mix}"


def failures_text(report: Report, count: int, family: str | None = None) -> str:
    """The first ``count`` sentences (of ``family``) that the model did not get right, one line a text."""
    wrong = (each for each in report.outcomes if not each.correct and family in (None, each.pair.family))
    texts = []
    for outcome in islice(wrong, count):
        rules = ", ".join(dict.fromkeys(edit.rule for edit in outcome.pair.edits))
        texts.append(block_of(f"[{outcome.pair.family}] {rules}", outcome.pair, outcome.text))
    return "".join(texts)


def block_of(title: str, pair: Any, got: str) -> str:
    """A title and the three texts of a pair below it.

    >>> from training.noise.pairs import NoisyPair
    >>> print(block_of("[typing]", NoisyPair("감배", "담배", "typing", ()), "감배"))
    <BLANKLINE>
    [typing]
      wrong 감배
      right 담배
      got   감배
    <BLANKLINE>
    """
    return f"\n{title.rstrip()}\n  wrong {pair.wrong}\n  right {pair.right}\n  got   {got}\n"
