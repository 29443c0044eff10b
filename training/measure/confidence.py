"""``python -m training confidence``: fits the trees of ``model/correction/confidence.py`` on one half of the development pairs.

The other half, which has other sentences, shows whether it helps. Which half a sentence belongs to depends on the sentence alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
from rich.table import Table

from model.correction.candidates import Stretch
from model.correction.confidence import Confidence, Trees, save_confidence
from model.correction.features import (
    FIRST,
    MONOTONE,
    SECOND,
    Features,
    SecondFeatures,
    features,
    second_features,
)
from model.correction.ngrams import NGrams
from model.correction.words import Words
from model.stored.folder import find_model_folder, fingerprint, of_weights
from training.corpus.corpus import CorpusError, read_sentences
from training.measure.boosting import Boosting, calibrated, fit
from training.measure.evaluate import evaluate_with_progress, load_corrector, open_corpus
from training.measure.fitted_pairs import (
    drilled_pairs,
    intact_pairs,
    is_for_fitting,
    named_pairs,
    pairs_of,
    practised_pairs,
    right_pairs,
    spaced_pairs,
)
from training.measure.metrics import Scores, edits, none_if_nan
from training.measure.reliability import THRESHOLDS, reliability, threshold_table
from training.measure.report import Outcome, open_console, percent, write_json
from training.noise.pairs import NoisyPair

if TYPE_CHECKING:
    from model import Corrector

TOGETHER = 1024  # pairs that are answered at a time
BOOSTING = Boosting(trees=500, depth=5, rate=0.05)
JUDGED_BY = {
    "network": "by the network alone",
    "phrases": "with words and phrases",
    "morphemes": "with morphemes, too",
}


class JudgedCandidate(NamedTuple):
    """A candidate that the trees are fitted on, and whether it is right."""

    features: Features
    second: SecondFeatures
    is_right: bool


class Gain(NamedTuple):
    """What one way of weighing the proposals gives on pairs that nothing was fitted on."""

    calibration_error: float
    thresholds: dict[float, Scores]  # by minimum confidence

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> "Gain":
        corrections = [each.correction for each in outcomes]
        pairs = [each.pair for each in outcomes]
        error = reliability(corrections, pairs).expected_calibration_error
        return cls(error, threshold_table(corrections, pairs, THRESHOLDS))

    def as_json(self) -> dict:
        thresholds = [
            {"minimum_confidence": at, **scores.as_json()} for at, scores in self.thresholds.items()
        ]
        error = none_if_nan(self.calibration_error)
        return {"expected_calibration_error": error, "thresholds": thresholds}


def examples(
    pairs: Sequence[NoisyPair], corrector: "Corrector", words: Words, ngrams: NGrams
) -> list[JudgedCandidate]:
    """All candidates for the wrong sentences of ``pairs``. A candidate is right if the right sentence has it in its stretch."""
    found = []
    # The network's answers to some texts at a time: each has the logits of all its steps, a third of a megabyte.
    parts = (pairs[i : i + TOGETHER] for i in range(0, len(pairs), TOGETHER))
    read = (corrector.stretches([pair.wrong for pair in part]) for part in parts)
    for pair, sentences in zip(pairs, chain.from_iterable(read), strict=True):
        wanted = edits(pair.wrong, pair.right)
        for start, source, stretches in sentences:
            right = [right_there(stretch, start, wanted) for stretch in stretches]
            rated = features(source, stretches, words, ngrams)
            for each, more in zip(rated, second_features(source, stretches, rated), strict=True):
                found.append(JudgedCandidate(each.features, more, each.text == right[each.stretch]))
    return found


def right_there(stretch: Stretch, start: int, wanted: Iterable[tuple[int, int, str]]) -> str | None:
    """What should stand in a stretch of the sentence that begins at ``start`` of the text. None if a wanted edit reaches beyond
    the stretch. ``wanted``: see ``metrics.edits``.
    """
    first, last = stretch.start + start, stretch.end + start
    parts, done = [], first
    for begin, end, text in sorted(wanted):
        if end < first or begin > last or (end == first > begin) or (begin == last < end):
            continue
        if begin < first or end > last:
            return None
        parts += [stretch.kept[done - first : begin - first], text]
        done = end
    return "".join([*parts, stretch.kept[done - first :]])


def fit_confidence(
    mine: Sequence[JudgedCandidate], others: Sequence[JudgedCandidate], words: Words, ngrams: NGrams
) -> Confidence:
    """Trees fitted on all of these. The confidence is calibrated on ``mine``, whatever share the ``others`` have.

    Raises ValueError if no candidate is right or none is wrong, and if nothing can be learnt.
    """
    right = np.array([each.is_right for each in (*mine, *others)], float)
    rows = np.array([(*each.features, *each.second) for each in (*mine, *others)], float)
    rows = rows.reshape(-1, len(SECOND))
    first, second = (_fit(fields, rows[:, : len(fields)], right, len(mine)) for fields in (FIRST, SECOND))
    return Confidence(words, ngrams, first, second)


def _fit(fields: tuple[str, ...], rows: np.ndarray, right: np.ndarray, mine: int) -> Trees:
    """Trees for all rows, calibrated on the first ``mine`` of them."""
    start, trees = fit(rows, right, [MONOTONE.get(name, 0) for name in fields], BOOSTING)
    log_odds = Trees(fields, start, trees).log_odds(rows[:mine])
    return Trees(fields, *calibrated(start, trees, log_odds, right[:mine]))


@click.command("confidence")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--known",
    multiple=True,
    required=True,
    type=click.Path(exists=True),
    help="Sentences whose words and phrases are counted.",
)
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option(
    "--seeds", default=2, show_default=True, help="Errors made for each sentence that is fitted on."
)
@click.option("--drill", default=0, show_default=True, help="Phrases with a native mistake to fit on, too.")
@click.option(
    "--space-drill", default=0, show_default=True, help="Phrases with a misplaced space to fit on, too."
)
@click.option("--names", default=0, show_default=True, help="Sentences with a made-up name to fit on, too.")
@click.option("--practised", default=0, show_default=True, help="Pairs of the practices to fit on, too.")
@click.option(
    "--intact",
    default=0,
    show_default=True,
    help="Sentences of --known to leave as they are and fit on, too; they are not counted.",
)
@click.option("--least", default=2, show_default=True, help="How often a word stands there to be counted.")
@click.option("--json", "json_path", help="Write what the other half gains as JSON to this file.")
def command(files, known, model, seeds, drill, space_drill, names, practised, intact, least, json_path):
    """Fit a model's confidence on half of the pairs in FILES, put it into the model's folder, and say what the
    other half gains. The minimum confidence is to be chosen anew: python -m training evaluate --choose."""
    try:
        sentences = [row.text for path in known for row in read_sentences(path)]
    except CorpusError as error:
        raise click.ClickException(str(error)) from error
    left_out = intact_pairs(sentences, intact)
    words, ngrams = _counted(sentences, left_out, least)
    pairs = pairs_of(map(open_corpus, files), seeds)
    fitted = [pair for pair in pairs if is_for_fitting(pair)]
    others = [*drilled_pairs(pairs, drill), *spaced_pairs(pairs, space_drill), *named_pairs(pairs, names)]
    others += [*practised_pairs(pairs, practised), *left_out, *right_pairs(pairs)]
    corrector = load_corrector(model, 0.0)
    try:
        confidence = fit_confidence(
            examples(fitted, corrector, words, ngrams),
            examples(others, corrector, words, ngrams),
            words,
            ngrams,
        )
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    tested = [pair for pair in pairs if not is_for_fitting(pair)]
    gains = _gains(corrector, confidence, tested)
    folder = find_model_folder(model)
    save_confidence(folder, confidence)
    counts = {"words": len(words.counts), "runs_of_characters": len(ngrams), "trees": BOOSTING.trees}
    pairs_used = {"fitted": len(fitted), "others": len(others), "tested": len(tested)}
    if json_path:
        judged = {name: gain.as_json() for name, gain in gains.items()}
        write_json(
            {"fingerprint": of_weights(fingerprint(folder)), **counts, "pairs": pairs_used, "judged": judged},
            json_path,
        )
    _print(counts, pairs_used, gains)
    click.echo(folder)


def _counted(sentences: list[str], left_out: Sequence[NoisyPair], least: int) -> tuple[Words, NGrams]:
    """Words and phrases of all sentences but those that are fitted on: in these every phrase would be known."""
    unseen = {pair.right for pair in left_out}
    counted = [text for text in sentences if text not in unseen]
    return Words.count(counted, least), NGrams.count(counted)


def _gains(corrector: "Corrector", confidence: Confidence, tested: list[NoisyPair]) -> dict[str, Gain]:
    """What each judge of ``JUDGED_BY`` makes of the pairs, one more judge at a time."""
    gains = {}
    judges = {"network": None, "phrases": replace(confidence, second=None), "morphemes": confidence}
    for name, judge in judges.items():
        corrector.confidence = judge
        gains[name] = Gain.of(evaluate_with_progress(corrector, tested, 64).outcomes)
    return gains


def _print(counts: dict[str, int], pairs: dict[str, int], gains: dict[str, Gain]) -> None:
    console = open_console(None)
    console.print(
        f"{counts['words']:,} words, {counts['runs_of_characters']:,} runs of characters, {counts['trees']} trees twice "
        f"from {pairs['fitted']:,} pairs and {pairs['others']:,} others"
    )
    for name, gain in gains.items():
        console.print(_table(f"{pairs['tested']:,} other pairs, {JUDGED_BY[name]}", gain))


def _table(title: str, gain: Gain) -> Table:
    table = Table("minimum", title=f"{title}; calibration error {percent(gain.calibration_error)}")
    for heading in ("exact match", "precision", "recall", "F0.5", "untouched"):
        table.add_column(heading, justify="right")
    for minimum, scores in gain.thresholds.items():
        shares = scores.exact_match, scores.edits.precision, scores.edits.recall
        best = scores.edits.f(0.5), scores.clean_untouched
        table.add_row(f"{minimum:g}", *map(percent, (*shares, *best)))
    return table
