"""Fit of the confidence's decision trees by gradient boosting (LightGBM), with calibration.

``python -m training confidence`` fits the trees of ``model/correction/confidence.py`` on one half of the
development pairs. The other half, which has other sentences, shows whether they help. Which half a sentence
belongs to depends on the sentence alone.

Installations that correct text read the exported trees and need no library for them. LightGBM, unlike
scikit-learn, documents the export of a fitted tree (``dump_model``).

References:
    Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision Tree" (2017).
    Platt, "Probabilistic outputs for support vector machines" (1999), for the calibration.
"""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from model import Corrector
from model.correction import features
from model.correction.candidates import Stretch
from model.correction.confidence import Confidence, Tree, Trees, save_confidence
from model.correction.counts import NGrams, Words
from model.correction.features import FIRST, MONOTONE, SECOND, Features, SecondFeatures
from model.stored.folder import DEFAULT_MODEL, find_model_folder, fingerprint, of_weights
from training.corpus.corpus import Corpus, open_corpus, read_sentences
from training.documents.render import content
from training.documents.tables import Sources
from training.measure.evaluate import evaluate, sample_pairs
from training.measure.metrics import edits
from training.measure.report import write_numbers
from training.noise.drill import Drill, SpaceDrill
from training.noise.pairs import NoisyPair, make_pair
from training.options import PATH, UnusableError, command, knob
from training.run.examples import PRACTICES, ExampleMaker, ExampleSettings

STEPS = 25  # steps of Newton's method, more than it needs to find two numbers
RIDGE = 1e-6  # where all rows have the same odds there is no slope to find


class Boosting(NamedTuple):
    """The settings of a fit."""

    trees: int = 500
    depth: int = 5  # questions before a leaf; with two, the values of two features count together
    rate: float = 0.05  # of each tree's leaves that is added
    fewest: int = 20  # examples in a leaf


BOOSTING = Boosting()


def fit(
    rows: np.ndarray, right: np.ndarray, monotone: Sequence[int], how: Boosting = BOOSTING
) -> tuple[float, tuple[Tree, ...]]:
    """Fit trees to whether each row is right. The same rows give the same trees.

    Args:
        rows: Features, (N, F). right: 1 where a row is right, else 0, (N,). monotone: For each feature 1 if a
        larger value may never lower the odds, -1 if it may never raise them, else 0. how: Number and size of
        the trees.

    Returns:
        The log odds before any tree, and the trees.

    Raises:
        UnusableError: if all rows are right or none is.
    """
    import lightgbm

    mean = float(np.mean(right))
    if not 0 < mean < 1:
        raise UnusableError(f"some rows should be right and some wrong; right are {mean:.0%} of {len(rows)}")
    start = float(np.log(mean / (1 - mean)))
    settings = {
        "objective": "binary",
        "boost_from_average": False,
        "learning_rate": how.rate,
        "max_depth": how.depth,
        "num_leaves": 2**how.depth,
        "max_bin": 32,  # one more than thresholds that are tried for each feature
        "min_data_in_bin": 1,
        "min_data_in_leaf": how.fewest,
        "min_sum_hessian_in_leaf": 0.0,
        "lambda_l2": 1.0,  # pulls a leaf toward 0
        "min_gain_to_split": 1e-3,
        "monotone_constraints": list(monotone),
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    data = lightgbm.Dataset(rows, right, init_score=np.full(len(rows), start))
    fitted = lightgbm.train(settings, data, how.trees).dump_model()
    values = [np.unique(column) for column in rows.T]
    return start, tuple(_tree(each["tree_structure"], values) for each in fitted["tree_info"])


def _tree(node: Mapping[str, Any], values: Sequence[np.ndarray]) -> Tree:
    """A node of LightGBM with all below it. ``values``: the distinct values of each feature in the rows."""
    if "leaf_value" in node:
        return float(node["leaf_value"])
    feature, below, above = node["split_feature"], node["left_child"], node["right_child"]
    # Halfway between neighbouring values, so that rounding a threshold moves no row to its other side.
    place = int(np.searchsorted(values[feature], node["threshold"], side="right"))
    threshold = float((values[feature][place - 1] + values[feature][place]) / 2)
    return feature, threshold, _tree(below, values), _tree(above, values)


def calibrated(
    start: float, trees: Sequence[Tree], log_odds: np.ndarray, right: np.ndarray
) -> tuple[float, tuple[Tree, ...]]:
    """The same trees, scaled so that their log odds (N,) agree with how often rows are right (N,).

    The order of the rows stays as it is. Raises UnusableError if surer rows are right less often.
    """
    design = np.stack([np.ones_like(log_odds), log_odds], 1)
    line = np.array([0.0, 1.0])
    for _ in range(STEPS):
        probability = 1 / (1 + np.exp(-np.clip(design @ line, -50, 50)))
        curvature = design.T * (probability * (1 - probability)) @ design
        line += np.linalg.solve(curvature + RIDGE * np.eye(2), design.T @ (right - probability))
    shift, slope = map(float, line)
    if not slope > 0:
        raise UnusableError(f"surer rows should be right more often, the slope is {slope:.3f}")
    return shift + slope * start, tuple(_scaled(tree, slope) for tree in trees)


def _scaled(tree: Tree, slope: float) -> Tree:
    if not isinstance(tree, tuple):
        return slope * tree
    feature, threshold, below, above = tree
    return feature, threshold, _scaled(below, slope), _scaled(above, slope)


def is_for_fitting(pair: NoisyPair) -> bool:
    """Whether the pair's right sentence belongs to the half that the trees are fitted on.

    >>> wrong, clean = NoisyPair("머거", "먹어", "given", ()), NoisyPair("먹어", "먹어", "clean", ())
    >>> is_for_fitting(wrong) == is_for_fitting(clean)
    True
    """
    return hashlib.sha256(pair.right.encode()).digest()[0] % 2 == 0


def _fitting_half(pairs: Iterable[NoisyPair]) -> list[str]:
    return sorted({pair.right for pair in pairs if is_for_fitting(pair)})


def pairs_of(corpora: Iterable[Corpus], seeds: int) -> list[NoisyPair]:
    """The pairs of all files.

    If errors are generated: those of seed 0, and of further seeds for sentences of the fitting half.
    """
    pairs = []
    for corpus in corpora:
        pairs += sample_pairs(corpus, 0)
        if not corpus.holds_pairs:
            for seed in range(1, seeds):
                pairs += filter(is_for_fitting, sample_pairs(corpus, seed))
    return pairs


def drilled_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Phrases of the fitting half with one native mistake each; all mistakes come equally often.

    Sentences contain only the common ones, and the trees would learn to doubt every word that the table of
    words lacks.
    """
    drill = Drill(_fitting_half(pairs))
    rng = random.Random(0)
    made = (make_pair(drill.phrase(rng), rng, "native") for _ in range(count))
    return [pair for pair in made if pair.family == "native"]


def spaced_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Phrases of the fitting half, ``count`` of them with one misplaced space each, chosen as in
    ``drilled_pairs``. Every third comes once more without the mistake, or the trees would learn that a phrase
    always lacks something.
    """
    drill = SpaceDrill(_fitting_half(pairs))
    rng = random.Random(0)
    made = [pair for pair in (drill.pair(rng) for _ in range(count)) if pair]
    spaced = [NoisyPair(wrong, right, "spacing", ()) for wrong, right in made]
    return spaced + _as_they_are(right for _, right in made[::3])


def named_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Sentences of the fitting half with a made-up name, which is right, and errors around it.

    No table knows such a name. Trees that have seen none take it for a slip in the nearest word that they
    know.
    """
    sentences = _fitting_half(pairs)
    maker, rng = ExampleMaker(sentences, ExampleSettings(name_share=1.0)), random.Random(0)
    made = (next(maker.pairs(rng.choice(sentences), rng)) for _ in range(count))
    return [NoisyPair(wrong, right, "name", ()) for wrong, right in made]


def practised_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """``count`` pairs of every practice of ``--practice`` alike, made of sentences of the fitting half.

    Every third comes once more without the mistake.

    Sentences with the usual mistakes have neither loose jamo nor lists, and the trees would doubt unseen
    patterns.
    """
    sentences = _fitting_half(pairs)
    shares = dict.fromkeys(PRACTICES, 1.0)
    maker, rng = ExampleMaker(sentences, ExampleSettings(practice=shares)), random.Random(0)
    made = []
    for _, (name, practice) in zip(range(count), cycle(PRACTICES.items())):
        if pair := practice(maker, rng.choice(sentences), rng):
            made.append(NoisyPair(*pair, name, ()))
    return [*made, *_as_they_are(pair.right for pair in made[::3])]


def intact_pairs(sentences: Sequence[str], count: int) -> list[NoisyPair]:
    """``count`` right sentences as they are, or all if there are fewer: whatever is changed in them is wrong.

    Most sentences are right. The development pairs hold few such sentences, so trees that are fitted on them
    alone do not learn to recognise a false alarm.
    """
    return _as_they_are(random.Random(0).sample(sentences, min(count, len(sentences))))


def right_pairs(pairs: Iterable[NoisyPair]) -> list[NoisyPair]:
    """The right sentences of the fitting half as they are.

    The network has been trained on those of ``intact_pairs``, so it is surer of them than of ordinary text.
    """
    return _as_they_are(_fitting_half(pairs))


def _as_they_are(sentences: Iterable[str]) -> list[NoisyPair]:
    return [NoisyPair(text, text, "clean", ()) for text in sentences]


TOGETHER = 1024  # pairs that are answered at a time


class JudgedCandidate(NamedTuple):
    """A candidate that the trees are fitted on, and whether it is right."""

    features: Features
    second: SecondFeatures
    is_right: bool


def examples(
    pairs: Sequence[NoisyPair], corrector: Corrector, words: Words, ngrams: NGrams
) -> list[JudgedCandidate]:
    """All candidates for the wrong sentences of ``pairs``.

    A candidate is right if the right sentence has it in its stretch.
    """
    found = []
    # The network's answers to some texts at a time: each has the logits of all its steps, a third of a
    # megabyte.
    parts = (pairs[i : i + TOGETHER] for i in range(0, len(pairs), TOGETHER))
    read = (corrector.stretches([pair.wrong for pair in part]) for part in parts)
    for pair, sentences in zip(pairs, chain.from_iterable(read), strict=True):
        wanted = edits(pair.wrong, pair.right)
        for start, source, stretches in sentences:
            right = [right_there(stretch, start, wanted) for stretch in stretches]
            rated = features.features(source, stretches, words, ngrams)
            for each, more in zip(rated, features.second_features(source, stretches, rated), strict=True):
                found.append(JudgedCandidate(each.features, more, each.text == right[each.stretch]))
    return found


def right_there(stretch: Stretch, start: int, wanted: Iterable[tuple[int, int, str]]) -> str | None:
    """The right text of a stretch of the sentence that begins at ``start`` of the text.

    None if a wanted edit reaches beyond the stretch. ``wanted``: see ``metrics.edits``.
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
    """Trees fitted on all of these.

    The confidence is calibrated on ``mine``, whatever share the ``others`` have.

    Raises UnusableError if no candidate is right or none is wrong, and if nothing can be learnt.
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


@dataclass(frozen=True)
class FitSettings:
    """The options of ``confidence``: what the trees are fitted on."""

    known: tuple[Path, ...] = knob(
        (), "Sentences whose words and phrases are counted.", multiple=True, required=True, type=PATH
    )
    model: str = knob(DEFAULT_MODEL, "Name or path of a model folder.")
    seeds: int = knob(2, "Errors made for each sentence that is fitted on.")
    drill: int = knob(0, "Phrases with a native mistake to fit on, too.")
    space_drill: int = knob(0, "Phrases with a misplaced space to fit on, too.")
    names: int = knob(0, "Sentences with a made-up name to fit on, too.")
    practised: int = knob(0, "Pairs of the practices to fit on, too.")
    intact: int = knob(0, "Sentences of --known to leave as they are and fit on, too; they are not counted.")
    least: int = knob(2, "How often a word stands there to be counted.")
    json: str | None = knob(None, "Write what the other half gains as JSON to this file.")

    def others(self, pairs: Sequence[NoisyPair]) -> list[NoisyPair]:
        """The drills, names, practices and right sentences beside the pairs."""
        return [
            *drilled_pairs(pairs, self.drill),
            *spaced_pairs(pairs, self.space_drill),
            *named_pairs(pairs, self.names),
            *practised_pairs(pairs, self.practised),
        ]


@command("confidence", asked=FitSettings)
@click.argument("files", nargs=-1, required=True, type=PATH)
def confidence_command(files: tuple[Path, ...], asked: FitSettings) -> None:
    """Fit a model's confidence on half of the pairs in FILES, put it into the model's folder, and print the
    gain on the other half. The minimum confidence is to be chosen anew: python -m training evaluate --choose.
    """
    sentences = [row.text for path in asked.known for row in read_sentences(path)]
    left_out = intact_pairs(sentences, asked.intact)
    words, ngrams = _counted(sentences, left_out, asked.least)
    pairs = pairs_of(map(open_corpus, files), asked.seeds)
    fitted = [pair for pair in pairs if is_for_fitting(pair)]
    others = [*asked.others(pairs), *left_out, *right_pairs(pairs)]
    corrector = Corrector.load(asked.model, 0.0)
    mine, more = (examples(some, corrector, words, ngrams) for some in (fitted, others))
    confidence = fit_confidence(mine, more, words, ngrams)
    tested = [pair for pair in pairs if not is_for_fitting(pair)]
    gains = _gains(corrector, confidence, tested)
    folder = find_model_folder(asked.model)
    save_confidence(folder, confidence)
    numbers = {
        "fingerprint": of_weights(fingerprint(folder)),
        "words": len(words.counts),
        "runs_of_characters": len(ngrams),
        "trees": BOOSTING.trees,
        "pairs": {"fitted": len(fitted), "others": len(others), "tested": len(tested)},
        "judged": gains,
    }
    write_numbers(asked.json, numbers, indent=2)
    sources = Sources(model=folder, given={"confidence": numbers})
    for part in ("fitted", "parts", "other-half"):
        click.echo(f"{content(sources, part)}\n")
    click.echo(folder)


def _counted(sentences: list[str], left_out: Sequence[NoisyPair], least: int) -> tuple[Words, NGrams]:
    """Words and phrases of all sentences but those fitted on: in these every phrase would be known."""
    unseen = {pair.right for pair in left_out}
    counted = [text for text in sentences if text not in unseen]
    return Words.count(counted, least), NGrams.count(counted)


def _gains(corrector: Corrector, confidence: Confidence, tested: list[NoisyPair]) -> dict[str, Any]:
    """The error of the confidence and the scores at each minimum, on the pairs: by the network alone, with
    words and phrases, and with morphemes, too.
    """
    gains = {}
    judges = {"network": None, "phrases": replace(confidence, second=None), "morphemes": confidence}
    for name, judge in judges.items():
        corrector.confidence = judge
        report = evaluate(corrector, tested)
        error = report.reliability["expected_calibration_error"]
        gains[name] = {"expected_calibration_error": error, "thresholds": report.thresholds}
    return gains
