"""``python -m training evaluate``: how well a model corrects, in numbers.

A file of pairs is taken as it is. For a file of correct sentences an error is generated for each,
with a family drawn from the training mix, the same one for the same seed and sentence every time.
"""

import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from training.corpus import Corpus, CorpusError, Sentence, read_corpus
from training.metrics import Scores, none_if_nan, repaired, score, share
from training.noise.pairs import MIX, NoisyPair, make_pair

GIVEN, CLEAN = "given", "clean"  # families of pairs from a file: with an error in them, and without


class BatchCorrector(Protocol):
    """What is needed of a model: ``correct_batch`` gives one object with ``.text`` for each text."""

    name: str
    fingerprint: str
    minimum_confidence: float

    def correct_batch(self, texts: list[str]) -> Sequence: ...


@dataclass(frozen=True)
class Outcome:
    """One pair and what the model made of its wrong side."""

    pair: NoisyPair
    text: str

    @property
    def correct(self) -> bool:
        return self.text == self.pair.right


@dataclass(frozen=True)
class RuleScore:
    """How many errors of one rule there were and how many of them are gone."""

    rule: str
    family: str
    count: int
    repaired: int

    @property
    def recall(self) -> float:
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

    def as_json(self) -> dict:
        return {
            "sentences": self.total.count,
            "seconds": round(self.seconds, 3),
            "total": self.total.as_json(),
            "families": {name: scores.as_json() for name, scores in self.families.items()},
            "rules": [rule.as_json() for rule in self.rules],
        }


def evaluate(
    corrector: BatchCorrector,
    pairs: Iterable[NoisyPair],
    batch: int = 64,
    advance: Callable[[int], object] = lambda done: None,
) -> Report:
    """Correct the wrong side of every pair, ``batch`` at a time, and compare with the right side.

    ``advance`` is told how many sentences each batch held. No pairs give a report whose shares are nan.
    """
    pairs = list(pairs)
    outcomes = []
    started = time.perf_counter()
    for start in range(0, len(pairs), batch):
        chunk = pairs[start : start + batch]
        corrections = corrector.correct_batch([pair.wrong for pair in chunk])
        outcomes += [Outcome(pair, made.text) for pair, made in zip(chunk, corrections, strict=True)]
        advance(len(chunk))
    seconds = time.perf_counter() - started
    families = defaultdict(list)
    for outcome in outcomes:
        families[outcome.pair.family].append(outcome)
    return Report(
        total=_score(outcomes),
        families={name: _score(families[name]) for name in sorted(families)},
        rules=rule_scores(outcomes),
        outcomes=tuple(outcomes),
        seconds=seconds,
    )


def _score(outcomes: Iterable[Outcome]) -> Scores:
    return score((outcome.pair.wrong, outcome.text, outcome.pair.right) for outcome in outcomes)


def rule_scores(outcomes: Iterable[Outcome]) -> tuple[RuleScore, ...]:
    """Recall by rule: an error is repaired if the correction agrees with the right sentence there."""
    results = defaultdict(list)
    for outcome in outcomes:
        edits = outcome.pair.edits
        spans = [(edit.start, edit.end) for edit in edits]
        for edit, gone in zip(edits, repaired(outcome.text, outcome.pair.right, spans), strict=True):
            results[edit.family, edit.rule].append(gone)
    scores = [RuleScore(rule, family, len(gone), sum(gone)) for (family, rule), gone in results.items()]
    return tuple(sorted(scores, key=lambda each: (-each.count, each.family, each.rule)))


def sample_pairs(corpus: Corpus, seed: int, limit: int | None = None) -> list[NoisyPair]:
    """The pairs to measure on: at most ``limit`` rows, drawn without replacement, in the file's order."""
    rows = corpus.rows
    if limit is not None and limit < len(rows):
        chosen = random.Random(seed).sample(range(len(rows)), limit)
        rows = [rows[index] for index in sorted(chosen)]
    if not corpus.holds_pairs:
        return [_generate(sentence, seed) for sentence in rows]
    return [
        NoisyPair(row.source, row.target, CLEAN if row.source == row.target else GIVEN, ()) for row in rows
    ]


def _generate(sentence: Sentence, seed: int) -> NoisyPair:
    # Seeded by the sentence itself, so that its error does not depend on which others were drawn.
    return make_pair(sentence.text, random.Random(f"{seed} {sentence.text}"))


def load_corrector(name: str, minimum_confidence: float | None) -> BatchCorrector:
    """Load a model folder by name or path. Raises click.ClickException when that is not possible."""
    from model import Corrector, ModelFolderError  # imports the network library: seconds

    try:
        return Corrector.load(name, minimum_confidence)
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error


@click.command("evaluate")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option(
    "--minimum-confidence",
    type=click.FloatRange(0, 1),
    help="Leave changes undone that are less probable. [default: the model's own]",
)
@click.option("--limit", type=click.IntRange(min=1), help="Measure on this many rows, drawn by the seed.")
@click.option("--seed", default=0, show_default=True, help="Decides the rows and the generated errors.")
@click.option("--batch", type=click.IntRange(min=1), default=64, show_default=True)
@click.option("--json", "json_path", help="Write everything as JSON to this file; - for standard output.")
@click.option("--show", type=click.IntRange(min=0), default=0, help="Print this many failures.")
@click.option("--rules", is_flag=True, help="Print how many errors of each rule were repaired.")
def command(file, model, minimum_confidence, limit, seed, batch, json_path, show, rules):
    """Measure a model on FILE: a CSV of src,tgt pairs, or correct sentences (JSON Lines or plain text)
    into which errors are generated."""
    try:
        corpus = read_corpus(file)
    except CorpusError as error:
        raise click.ClickException(str(error)) from error
    if corpus.problems:
        click.echo(corpus.problem_summary(), err=True)
    corrector = load_corrector(model, minimum_confidence)
    pairs = sample_pairs(corpus, seed, limit)
    terminal = Console(stderr=True)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task("correcting", total=len(pairs))
        report = evaluate(corrector, pairs, batch, lambda done: progress.advance(task, done))
    run = {
        "file": file.name,
        "model": corrector.name,
        "fingerprint": corrector.fingerprint,
        "minimum_confidence": corrector.minimum_confidence,
        "seed": seed,
        "mix": None if corpus.holds_pairs else dict(MIX),
        "skipped_rows": len(corpus.problems),
    }
    # With the JSON on standard output, the tables make way for it.
    console = _console(sys.stderr if json_path == "-" else sys.stdout)
    print_report(console, report, run, rules)
    print_failures(console, report, show)
    if json_path:
        _write_json({**run, **report.as_json()}, json_path)


def _console(stream) -> Console:
    return Console(file=stream, width=None if stream.isatty() else 120, markup=False, highlight=False)


def _write_json(document: dict, path: str) -> None:
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    try:
        with click.open_file(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from error


def print_report(console: Console, report: Report, run: dict, rules: bool = False) -> None:
    """The table of families, what was run, and with ``rules`` the table of rules."""
    table = Table(title=f"{run['model']} on {run['file']}")
    headings = ("family", "sentences", "exact match (95%)", "CER before", "after", "precision", "recall")
    for number, heading in enumerate((*headings, "F0.5", "clean untouched")):
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
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
    mix = ", ".join(f"{family} {_percent(part)}" for family, part in run["mix"].items())
    return f"generated with seed {run['seed']}: {mix}"


def _cells(scores: Scores) -> list[str]:
    low, high = scores.exact_match_interval
    shares = (scores.edits.precision, scores.edits.recall, scores.edits.f(0.5), scores.clean_untouched)
    return [
        str(scores.count),
        f"{_percent(scores.exact_match)} ({_percent(low)}–{_percent(high)})",
        _percent(scores.cer_before, 2),
        _percent(scores.cer_after, 2),
        *map(_percent, shares),
    ]


def _percent(value: float, digits: int = 1) -> str:
    return "–" if none_if_nan(value) is None else f"{value:.{digits}%}"


def _rule_table(rules: Iterable[RuleScore]) -> Table:
    table = Table("rule", "family", title="errors repaired, by rule")
    for heading in ("errors", "repaired", "recall"):
        table.add_column(heading, justify="right")
    for each in rules:
        table.add_row(each.rule, each.family, str(each.count), str(each.repaired), _percent(each.recall))
    return table


def print_failures(console: Console, report: Report, count: int) -> None:
    """The first ``count`` sentences the model did not get right, one line each for the three texts."""
    failures = [outcome for outcome in report.outcomes if not outcome.correct]
    for outcome in failures[:count]:
        rules = ", ".join(dict.fromkeys(edit.rule for edit in outcome.pair.edits))
        console.print(f"\n[{outcome.pair.family}] {rules}".rstrip(), soft_wrap=True)
        texts = {"wrong": outcome.pair.wrong, "right": outcome.pair.right, "got": outcome.text}
        for label, text in texts.items():
            console.print(f"  {label:<6}{text}", soft_wrap=True)
