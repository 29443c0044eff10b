"""Command ``python -m training evaluate``: scores of a model on pairs, and of its snapshots.

A file of pairs is taken as it is. For a file of correct sentences an error is generated for each, with a
family drawn from the training mix, the same one for the same seed and sentence every time.

``python -m training snapshots`` evaluates each snapshot of a run and writes one table beside them.
"""

import random
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from model import Corrector
from model.correction.answers import AnswersMany
from model.stored.folder import DEFAULT_MODEL, find_model_folder, set_minimum_confidence, snapshot_steps
from training.corpus.corpus import Corpus, Pair, open_corpus, write_table
from training.measure.metrics import Outcome, best_threshold, none_if_nan, repaired, score_outcomes, share
from training.measure.report import Report, failures_text, report_text, run_of, write_numbers
from training.noise.pairs import MIX, NoisyPair, make_pair
from training.options import COUNT, SHARE, command, knob
from training.run.record import read_history

GIVEN, CLEAN = "given", "clean"  # families of pairs from a file: with an error in them, and without


def evaluate(corrector: AnswersMany, pairs: Sequence[NoisyPair], batch: int = 64) -> Report:
    """Correct the wrong side of every pair, ``batch`` at a time, and compare with the right side.

    No pairs give a report whose shares are nan.
    """
    started = time.perf_counter()
    outcomes = outcomes_of(corrector, pairs, batch)
    return _report_on(outcomes, time.perf_counter() - started)


def outcomes_of(corrector: AnswersMany, pairs: Sequence[Any], batch: int) -> list[Outcome]:
    """The correction of the wrong side of each pair, ``batch`` at a time; with a bar on standard error, where
    that is a terminal.

    >>> pair = NoisyPair("밥을 머거요.", "밥을 먹어요.", GIVEN, ())
    >>> [found.correct for found in outcomes_of(corrector, [pair], batch=64)]
    [True]
    """
    found: list[Outcome] = []
    terminal = Console(stderr=True)
    with Progress(console=terminal, transient=True, disable=not terminal.is_terminal) as progress:
        task = progress.add_task("correcting", total=len(pairs))
        for start in range(0, len(pairs), batch):
            some = pairs[start : start + batch]
            corrections = corrector.correct_batch([pair.wrong for pair in some])
            found += [Outcome(*both) for both in zip(some, corrections, strict=True)]
            progress.advance(task, len(some))
    return found


def _report_on(outcomes: Sequence[Outcome], seconds: float) -> Report:
    """All measures of these outcomes."""
    families = defaultdict(list)
    for outcome in outcomes:
        families[outcome.pair.family].append(outcome)
    scores = {name: score_outcomes(families[name]) for name in sorted(families)}
    return Report(score_outcomes(outcomes), scores, _rule_scores(outcomes), tuple(outcomes), seconds)


def with_minimum_confidence(report: Report, minimum: float) -> Report:
    """The same answers of the network with another threshold."""
    return _report_on([outcome.at(minimum) for outcome in report.outcomes], report.seconds)


def _rule_scores(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """Recall by rule: an error is repaired if the correction agrees with the right sentence there."""
    results = defaultdict(list)
    for outcome in outcomes:
        edits = outcome.pair.edits
        spans = [(edit.start, edit.end) for edit in edits]
        for edit, gone in zip(edits, repaired(outcome.text, outcome.pair.right, spans), strict=True):
            results[edit.family, edit.rule].append(gone)
    ordered = sorted(results.items(), key=lambda each: (-len(each[1]), each[0]))
    return [
        {"rule": rule, "family": family, "count": len(gone), "repaired": sum(gone)}
        | {"recall": none_if_nan(share(sum(gone), len(gone)))}
        for (family, rule), gone in ordered
    ]


def sample_pairs(corpus: Corpus, seed: int, limit: int | None = None) -> list[NoisyPair]:
    """The pairs to measure on: at most ``limit`` rows, drawn without replacement, in the file's order."""
    rows = corpus.rows
    if limit is not None and limit < len(rows):
        chosen = random.Random(seed).sample(range(len(rows)), limit)
        rows = [rows[index] for index in sorted(chosen)]
    # Seeded by the sentence itself, so that its error does not depend on which others were drawn.
    return [
        NoisyPair(row.source, row.target, CLEAN if row.source == row.target else GIVEN, ())
        if isinstance(row, Pair)
        else make_pair(row.text, random.Random(f"{seed} {row.text}"))
        for row in rows
    ]


@dataclass(frozen=True)
class Asked:
    """The model that a command measures."""

    model: str = knob(DEFAULT_MODEL, "Name or path of a model folder.")
    minimum_confidence: float | None = knob(
        None, "Leave changes undone that are less probable. [default: the model's own]", type=SHARE
    )
    batch: int = knob(64, type=COUNT)
    seed: int = knob(0, "Decides the rows and the generated errors.")


@dataclass(frozen=True)
class Evaluation(Asked):
    """The options of ``evaluate``."""

    choose: bool = knob(False, "Make the threshold with the best F0.5 the model's own.", is_flag=True)
    limit: int | None = knob(None, "Measure on this many rows, drawn by the seed.", type=COUNT)
    beam_width: int = knob(1, "More is slower.", type=COUNT)
    json: str | None = knob(None, "Write everything as JSON to this file; - for standard output.")
    show: int = knob(0, "Print this many failures.", type=click.IntRange(min=0))
    family: str | None = knob(None, "Of the failures, print those of this family only.")
    rules: bool = knob(False, "Print how many errors of each rule were repaired.", is_flag=True)
    reliability: bool = knob(False, "Print whether confidence is true, and other thresholds.", is_flag=True)


@command("evaluate", asked=Evaluation)
@click.argument("file", type=click.Path(path_type=Path))
def evaluate_command(file: Path, asked: Evaluation) -> None:
    """Measure a model on FILE: a CSV of src,tgt pairs, or correct sentences (JSON Lines or plain text)
    into which errors are generated."""
    corpus = open_corpus(file)
    pairs = sample_pairs(corpus, asked.seed, asked.limit)
    families = {pair.family for pair in pairs}
    if asked.family not in {None, *families}:
        raise click.ClickException(
            f"no sentence belongs to the family {asked.family!r}; there are {', '.join(sorted(families))}"
        )
    corrector = Corrector.load(asked.model, asked.minimum_confidence, beam_width=asked.beam_width)
    report = evaluate(corrector, pairs, asked.batch)
    if asked.choose:
        best = best_threshold(report.thresholds)
        set_minimum_confidence(find_model_folder(asked.model), best)
        corrector, report = Corrector.load(asked.model), with_minimum_confidence(report, best)
    mix = None if corpus.holds_pairs else dict(MIX)
    run = run_of(corrector, beam_width=asked.beam_width, seed=asked.seed, mix=mix)
    measured = {"file": file.name, **run, "skipped_rows": len(corpus.problems), **report.as_json()}
    text = report_text(measured, asked.rules, asked.reliability)
    click.echo(f"{text}\n{failures_text(report, asked.show, asked.family)}", err=asked.json == "-")
    write_numbers(asked.json, measured, indent=2)


TABLE_FILE = "snapshots.csv"
FROM_HISTORY = ("pairs", "loss")
SCORES = ("exact_match", "cer_after", "f0.5", "clean_untouched")
COLUMNS = ("step", *FROM_HISTORY, *SCORES)


@command("snapshots")
@click.argument("model")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--limit", type=COUNT, default=400, show_default=True, help="Rows of FILE.")
@click.option("--seed", default=0, show_default=True)
def snapshots(model: str, file: Path, limit: int, seed: int) -> None:
    """Measure every snapshot of MODEL on FILE, and write snapshots.csv into its folder.

    All changes count, however unsure: a young network would otherwise seem to do nothing.
    """
    folder = find_model_folder(model)
    pairs = sample_pairs(open_corpus(file), seed, limit)
    history = read_history(folder)
    rows: list[Sequence[object]] = [COLUMNS]
    for step in snapshot_steps(folder):
        scores = evaluate(Corrector.load(folder, 0.0, step), pairs).total
        # Pairs and running loss are those of the last row of the history that is not later; empty before it.
        *_, then = [{}, *(row for row in history if int(row["step"]) <= step)]
        row = {"step": step} | {name: then.get(name, "") for name in FROM_HISTORY}
        row |= {name: scores[name] for name in SCORES}
        rows.append([*row.values()])
        click.echo(", ".join(f"{name} {value}" for name, value in row.items()))
    write_table(folder / TABLE_FILE, rows)
