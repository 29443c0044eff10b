"""``python -m training confidence``: fit what ``model/confidence.py`` reads, on one half of development pairs.

The other half, of other sentences, says whether it helps. Which half a sentence belongs to depends on the sentence alone.
"""

import hashlib
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from rich.table import Table

from model.changes import Change
from model.confidence import MONOTONE, Confidence, Features, features
from model.folder import find_model_folder, save_confidence
from model.words import Words
from training.boosting import calibrated, fit
from training.corpus import Corpus, CorpusError, read_sentences
from training.evaluate import evaluate_with_progress, load_corrector, open_corpus, sample_pairs
from training.metrics import edits
from training.noise.drill import Drill
from training.noise.pairs import NoisyPair, make_pair
from training.reliability import THRESHOLDS, reliability, threshold_table
from training.report import Outcome, open_console, percent

if TYPE_CHECKING:
    from model import Correction


def is_for_fitting(pair: NoisyPair) -> bool:
    """Whether the pair's right sentence belongs to the half that the trees are fitted on."""
    return hashlib.sha256(pair.right.encode()).digest()[0] % 2 == 0


def pairs_of(corpora: Iterable[Corpus], seeds: int) -> list[NoisyPair]:
    """The pairs of all files: where errors are generated, those of seed 0, and of further seeds in the fitting half."""
    pairs = []
    for corpus in corpora:
        pairs += sample_pairs(corpus, 0)
        if not corpus.holds_pairs:
            for seed in range(1, seeds):
                pairs += filter(is_for_fitting, sample_pairs(corpus, seed))
    return pairs


def drilled_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Phrases of the fitting half, each with one of the native mistakes, all mistakes alike.

    In sentences only the common ones are met, and the trees would learn to doubt every word that the table lacks.
    """
    drill = Drill(sorted({pair.right for pair in pairs if is_for_fitting(pair)}))
    rng = random.Random(0)
    made = (make_pair(drill.phrase(rng), rng, "native") for _ in range(count))
    return [pair for pair in made if pair.family == "native"]


def intact_pairs(sentences: Sequence[str], count: int) -> list[NoisyPair]:
    """``count`` right sentences as they are, or all if there are fewer: whatever is changed in them is wrong.

    Most of what people write is right. The development pairs hold few such sentences, so trees that are fitted on them
    alone do not learn what a false alarm looks like.
    """
    chosen = random.Random(0).sample(sentences, min(count, len(sentences)))
    return [NoisyPair(text, text, "clean", ()) for text in chosen]


def examples(outcomes: Iterable[Outcome], words: Words) -> tuple[np.ndarray, np.ndarray]:
    """(N, features) of all proposed changes, and (N,) 1 for those that the right sentence has, too."""
    rows, right = [], []
    for outcome in outcomes:
        wanted = edits(outcome.correction.source, outcome.pair.right)
        for sentence in outcome.correction.sentences:
            for change, row in zip(
                sentence.proposed, features(sentence.source, sentence.proposed, words), strict=True
            ):
                moved = change.moved(sentence.start, 0)
                rows.append(row)
                right.append((moved.source_start, moved.source_end, moved.right) in wanted)
    return np.array(rows, float).reshape(-1, len(Features._fields)), np.array(right, float)


def fit_confidence(outcomes: Iterable[Outcome], others: Iterable[Outcome], words: Words) -> Confidence:
    """Trees for all of these; the confidence is true for ``outcomes``, whatever the share of ``others``.

    Raises ValueError where the network proposed nothing right or nothing wrong, and where nothing can be learnt.
    """
    rows, right = examples(outcomes, words)
    more, more_right = examples(others, words)
    monotone = [MONOTONE.get(name, 0) for name in Features._fields]
    start, trees = fit(np.concatenate([rows, more]), np.concatenate([right, more_right]), monotone)
    odds = Confidence(words, start, trees).odds
    return Confidence(words, *calibrated(start, trees, np.array([odds(row) for row in rows]), right))


def weighed(correction: "Correction", weigh) -> "Correction":
    """The same answer of the network, its changes weighed by ``weigh(source, proposed)``."""
    sentences = (replace(each, proposed=weigh(each.source, each.proposed)) for each in correction.sentences)
    return replace(correction, sentences=tuple(sentences))


def by_network_alone(source: str, proposed: Sequence[Change]) -> tuple[Change, ...]:
    """The changes with the network's own confidence."""
    return tuple(replace(change, known_confidence=None) for change in proposed)


@click.command("confidence")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--known",
    multiple=True,
    required=True,
    type=click.Path(exists=True),
    help="Sentences whose words are counted.",
)
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option(
    "--seeds", default=2, show_default=True, help="Errors made for each sentence that is fitted on."
)
@click.option("--drill", default=0, show_default=True, help="Phrases with a native mistake to fit on, too.")
@click.option(
    "--intact",
    default=0,
    show_default=True,
    help="Sentences of --known to leave as they are and fit on, too.",
)
@click.option("--least", default=2, show_default=True, help="How often a word stands there to be counted.")
def command(files, known, model, seeds, drill, intact, least):
    """Fit a model's confidence on half of the pairs in FILES, put it into the model's folder, and say what the
    other half gains. The minimum confidence is to be chosen anew: python -m training evaluate --choose."""
    try:
        sentences = [row.text for path in known for row in read_sentences(path)]
    except CorpusError as error:
        raise click.ClickException(str(error)) from error
    words = Words.count(sentences, least)
    pairs = pairs_of(map(open_corpus, files), seeds)
    corrector = load_corrector(model, 0.0)
    outcomes = evaluate_with_progress(corrector, pairs, 64).outcomes
    fitted = [each for each in outcomes if is_for_fitting(each.pair)]
    more = [*drilled_pairs(pairs, drill), *intact_pairs(sentences, intact)]
    others = evaluate_with_progress(corrector, more, 64).outcomes
    tested = [each for each in outcomes if not is_for_fitting(each.pair)]
    try:
        confidence = fit_confidence(fitted, others, words)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    folder = find_model_folder(model)
    save_confidence(folder, confidence)
    console = open_console(None)
    console.print(
        f"{len(words.counts):,} words, {len(confidence.trees)} trees from {len(fitted):,} pairs and {len(others):,} others"
    )
    for title, weigh in (("by the network alone", by_network_alone), ("with words", confidence.weigh)):
        console.print(_table(f"{len(tested):,} other pairs, {title}", tested, weigh))
    click.echo(folder)


def _table(title: str, outcomes: Sequence[Outcome], weigh) -> Table:
    corrections = [weighed(each.correction, weigh) for each in outcomes]
    pairs = [each.pair for each in outcomes]
    error = reliability(corrections, pairs).expected_calibration_error
    table = Table("minimum", title=f"{title}; calibration error {percent(error)}")
    for heading in ("exact match", "precision", "recall", "F0.5", "untouched"):
        table.add_column(heading, justify="right")
    for minimum, scores in threshold_table(corrections, pairs, THRESHOLDS).items():
        shares = scores.exact_match, scores.edits.precision, scores.edits.recall
        best = scores.edits.f(0.5), scores.clean_untouched
        table.add_row(f"{minimum:g}", *map(percent, (*shares, *best)))
    return table
