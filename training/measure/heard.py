"""Linear probe of the next onset in the encoder, and its erasure from the residual stream.

The probed class of a syllable is the onset of the next one in the standard pronunciation: ㄱ at 먹 in 먹어요
[머거요], and the same at 머 in 머거요. A linear probe reads it from each place of the encoder's residual
stream. Then everything that a linear probe could read is erased where a mistake stands, at one place of the
stream or at all of them, and the score of the fix is measured again. To compare, as many random directions
are erased. ``python -m training heard`` does all of it.

Probe and eraser are computed from the means of the classes and from covariances, without iterations, so no
library is needed.

N vectors, C classes (the onsets), R directions, L layers, S source tokens, D d_model, P = 2L + 1 places.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from model import Corrector
from model.analysis.contrasts import Edit, contrast_of_edit
from model.analysis.kinds import kind_of
from model.stored.folder import of_weights
from model.text.changes import Change, find_changes
from model.text.hangul import INITIALS, decompose, is_syllable
from model.text.tokenizer import normalise
from model.trace.interventions import Patch, Patches
from training.corpus.corpus import open_corpus
from training.measure.evaluate import sample_pairs
from training.measure.report import Numbers, clustered, write_numbers
from training.noise.pronunciation import as_heard
from training.options import COUNT, PATH, command, knob

RIDGE = 1e-3  # of the mean variance, added to each: directions that never vary have no inverse
_FAINT = 1e-6  # of the largest singular value; a direction below it is rounding


@dataclass(frozen=True)
class Probe:
    """Linear discriminant analysis: the best linear classifier where all classes have one covariance (Fisher
    1936; Hastie, Tibshirani & Friedman, "The Elements of Statistical Learning", section 4.3).
    """

    kernel: np.ndarray  # (D, C)
    bias: np.ndarray  # (C,)

    def says(self, vectors: np.ndarray) -> np.ndarray:
        """(N, D) -> (N,): the likeliest class of each."""
        return (vectors @ self.kernel + self.bias).argmax(axis=-1)


def fit_probe(vectors: np.ndarray, classes: np.ndarray, count: int) -> Probe:
    """A probe of (N, D) vectors and their classes (N,), numbers below ``count``.

    A class without a vector is never predicted.

    >>> probe = fit_probe(np.array([[0.0, 1], [0, 1.1], [1, 0], [1.1, 0]]), np.array([0, 0, 1, 1]), 2)
    >>> probe.says(np.array([[0.0, 2.0], [2.0, 0.0]])).tolist()
    [0, 1]
    """
    vectors = vectors.astype(np.float64)
    sizes = np.bincount(classes, minlength=count)
    sums = np.zeros((count, vectors.shape[1]))
    np.add.at(sums, classes, vectors)
    means = sums / np.maximum(sizes, 1)[:, None]
    within = vectors - means[classes]
    covariance = _ridged(within.T @ within / len(vectors), vectors)
    kernel = np.linalg.solve(covariance, means.T)  # (D, C)
    with np.errstate(divide="ignore"):
        priors = np.log(sizes / len(vectors))
    return Probe(kernel, priors - 0.5 * np.einsum("cd,dc->c", means, kernel))


@dataclass(frozen=True)
class Eraser:
    """Projects R directions out of vectors, with the least change of all else.

    Source: Belrose et al., "LEACE: Perfect linear concept erasure in closed form" (2023).
    """

    mean: np.ndarray  # (D,)
    reading: np.ndarray  # (R, D): the readings of a vector
    writing: np.ndarray  # (D, R): subtracted for each of these readings

    @property
    def rank(self) -> int:
        return len(self.reading)

    def erased(self, vectors: np.ndarray) -> np.ndarray:
        """(..., D) without it."""
        found = (vectors - self.mean) @ self.reading.T @ self.writing.T
        return (vectors - found).astype(vectors.dtype)


def fit_eraser(vectors: np.ndarray, classes: np.ndarray, count: int) -> Eraser:
    """A least-squares concept eraser for the classes (N,) of vectors (N, D).

    Afterwards all classes have the same mean, and no linear probe does better than one that ignores the
    vectors.

    >>> vectors, classes = np.random.default_rng(0).normal(size=(90, 4)), np.arange(90) % 3
    >>> vectors[classes == 1, 0] += 5
    >>> erased = fit_eraser(vectors, classes, 3).erased(vectors)
    >>> bool(np.allclose(erased[classes == 1].mean(axis=0), erased[classes == 2].mean(axis=0), atol=1e-2))
    True
    """
    told = np.eye(count)[classes]
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    whitening, colouring = _roots(vectors)
    across = whitening @ (centred.T @ (told - told.mean(axis=0))) / len(vectors)  # (D, C)
    directions, sizes, _ = np.linalg.svd(across, full_matrices=False)
    return _of_directions(vectors, directions[:, sizes > _FAINT * sizes.max()], whitening, colouring)


def random_eraser(vectors: np.ndarray, rank: int, rng: np.random.Generator) -> Eraser:
    """An eraser of ``rank`` directions drawn at random, to compare with."""
    whitening, colouring = _roots(vectors)
    directions, _ = np.linalg.qr(rng.normal(size=(vectors.shape[1], rank)))
    return _of_directions(vectors, directions, whitening, colouring)


def _of_directions(
    vectors: np.ndarray, directions: np.ndarray, whitening: np.ndarray, colouring: np.ndarray
) -> Eraser:
    """An eraser of ``directions`` (D, R), which are orthonormal in the space of the whitened vectors."""
    return Eraser(vectors.mean(axis=0), directions.T @ whitening, colouring @ directions)


def _roots(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D, D) twice: the whitening of the vectors, which gives identity covariance, and its inverse."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    values, axes = np.linalg.eigh(_ridged(centred.T @ centred / len(vectors), vectors))
    return (axes / np.sqrt(values)) @ axes.T, (axes * np.sqrt(values)) @ axes.T


def _ridged(covariance: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """(D, D): of vectors, or of their residuals, so that it has an inverse."""
    return covariance + RIDGE * max(vectors.var(axis=0).mean(), 1e-12) * np.eye(len(covariance))


TAP = "encoder_residual"
HEARD, RANDOM = "heard", "random"
EVERYWHERE = "everywhere"  # at all places one after the other
DRAWS = 3  # how often random directions are drawn
_DIGITS = 4


@dataclass(frozen=True)
class Onset:
    """At a syllable: the onset that is heard next, and the one that is written there. Numbers in INITIALS."""

    place: int
    heard: int
    written: int


def onsets(text: str) -> list[Onset]:
    """One ``Onset`` for each syllable that is followed at once by another one.

    Across a space the norm leaves the pronunciation open.

    >>> [(INITIALS[each.heard], INITIALS[each.written]) for each in onsets("먹어요")]
    [('ㄱ', 'ㅇ'), ('ㅇ', 'ㅇ')]
    """
    heard, found = as_heard(text), []
    for place in range(len(text) - 1):
        syllables = text[place], text[place + 1], heard[place], heard[place + 1]
        if all(map(is_syllable, syllables)):
            sounds, letters = (
                INITIALS.index(decompose(each)[0]) for each in (heard[place + 1], text[place + 1])
            )
            found.append(Onset(place, sounds, letters))
    return found


class Heard:
    """The vectors of syllables in some texts, at each place of the stream, and their next onsets."""

    def __init__(self, corrector: Corrector, texts: Iterable[str]):
        vectors, sounds, letters, sentences = [], [], [], []
        for number, text in enumerate(texts):
            if found := onsets(text):
                vectors.append(stream(corrector, text)[:, [each.place for each in found]])
                sounds += [each.heard for each in found]
                letters += [each.written for each in found]
                sentences += [number] * len(found)
        self.vectors = np.concatenate(vectors, axis=1)  # (P, N, D)
        self.sounds, self.letters, self.sentences = map(np.array, (sounds, letters, sentences))  # (N,)

    @property
    def changed(self) -> np.ndarray:
        """(N,) bool: where the sound is not the one that is written."""
        return self.sounds != self.letters


def stream(corrector: Corrector, text: str, patches: Patches = ()) -> np.ndarray:
    """(P, S, D): the encoder's residual stream."""
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_source(text), tokenizer.encode_target("")
    return corrector.patched.taps(*ids, [TAP], patches)[TAP]


def beside(change: Change) -> slice:
    """Where a change stands in the source.

    If it only adds something: the two characters between which that goes.
    """
    gap = change.source_start == change.source_end
    return slice(max(change.source_start - gap, 0), change.source_end + gap)


def erasing(corrector: Corrector, text: str, erasers: Sequence[Eraser], positions: slice) -> list[Patches]:
    """P + 1 sets of patches for some positions of a text: each place erased alone, then all of them."""

    def erased(found: np.ndarray, place: int) -> Patch:
        return Patch(TAP, place, erasers[place].erased(found[place, positions]), positions)

    plain = stream(corrector, text)
    everywhere: Patches = ()
    for place in range(len(erasers)):  # erased from the stream that the places before it have already changed
        everywhere = (*everywhere, erased(stream(corrector, text, everywhere), place))
    return [*((erased(plain, place),) for place in range(len(erasers))), everywhere]


def scores(
    corrector: Corrector, source: str, target: str, erasers: Sequence[Sequence[Eraser]]
) -> Iterator[tuple[str, float, np.ndarray]]:
    """For each edit that the network makes: (kind of mistake, score, (erasers, P + 1) scores after each of
    ``erasers`` erased its part).
    """
    tokenizer = corrector.tokenizer
    ids = tokenizer.encode_source(source), tokenizer.encode_target(target)
    for change in find_changes(source, target):
        try:
            contrast = contrast_of_edit(corrector, Edit(source, target, change))
        except ValueError:  # fix and source write the same
            continue
        patches = [each for some in erasers for each in erasing(corrector, source, some, beside(change))]
        answered = corrector.patched.passes(ids[0], ids[1][: contrast.row + 1], [(), *patches])
        score, *without = answered.score(contrast.written, contrast.instead)
        if score > 0:
            yield kind_of(change, source, target), float(score), np.array(without).reshape(len(erasers), -1)


def measured(corrector: Corrector, pairs: Sequence[tuple[str, str]], edits: int, seed: int) -> dict[str, Any]:
    """Probes and erasers are fitted on half of the pairs and measured on the other half."""
    fitted, asked = pairs[::2], pairs[1::2]
    fit, held_out = (Heard(corrector, [text for pair in half for text in pair]) for half in (fitted, asked))
    rng = np.random.default_rng(seed)
    erasers: list[list[Eraser]] = [[] for _ in range(1 + DRAWS)]  # of the onset, then the random ones
    places = []
    for vectors, tested in zip(fit.vectors, held_out.vectors, strict=True):
        said = fit_probe(vectors, fit.sounds, len(INITIALS)).says(tested)
        places.append(_right(held_out, said == held_out.sounds))
        eraser = fit_eraser(vectors, fit.sounds, len(INITIALS))
        drawn = (random_eraser(vectors, eraser.rank, rng) for _ in range(DRAWS))
        for some, one in zip(erasers, (eraser, *drawn), strict=True):
            some.append(one)
    likeliest = np.bincount(fit.sounds).argmax()
    return {
        "fingerprint": of_weights(corrector.fingerprint),
        "sentences": {"fitted": len(fitted), "asked": len(asked)},
        "syllables": {
            "fitted": len(fit.sounds),
            "asked": len(held_out.sounds),
            "changed": int(held_out.changed.sum()),
        },
        "rank": [each.rank for each in erasers[0]],
        "draws": DRAWS,
        "likeliest": _right(held_out, held_out.sounds == likeliest),
        "places": places,
        "erased": _erased(corrector, asked, erasers, edits),
    }


def _right(heard: Heard, right: np.ndarray) -> dict[str, Any]:
    """How often a probe is right: at all syllables, and where the sound differs from the letter."""
    return {
        "all": _mean(right, heard.sentences),
        "changed": _mean(right[heard.changed], heard.sentences[heard.changed]),
    }


def _erased(
    corrector: Corrector, pairs: Sequence[tuple[str, str]], erasers: Sequence[Sequence[Eraser]], edits: int
) -> dict[str, Any]:
    """By kind of mistake: how many fixes stay the network's choice, and by how much the score falls."""
    found: dict[str, list[tuple[int, float, np.ndarray]]] = defaultdict(list)
    for number, pair in enumerate(pairs):
        if pair[0] == pair[1] or sum(map(len, found.values())) >= edits:
            continue
        for kind, score, without in scores(corrector, *pair, erasers):
            found[kind].append((number, score, without))
    return {kind: _summary(rows) for kind, rows in found.items()}


def _summary(rows: Sequence[tuple[int, float, np.ndarray]]) -> dict[str, Any]:
    """The measures for edits of one kind; for random directions, the mean over all draws."""
    sentences, score = (np.array(each) for each in list(zip(*rows, strict=True))[:2])
    without = np.stack([each for *_, each in rows])  # (edits, 1 + DRAWS, P + 1)
    summary: dict[str, Any] = {"edits": len(rows), "score": _mean(score, sentences)}
    names = [*map(str, range(without.shape[2] - 1)), EVERYWHERE]
    for of, some in ((HEARD, without[:, :1]), (RANDOM, without[:, 1:])):
        summary[of] = {
            name: {
                "kept": _mean((some[..., column] > 0).mean(axis=1), sentences),
                "lost": _mean(score - some[..., column].mean(axis=1), sentences),
            }
            for column, name in enumerate(names)
        }
    return summary


def _mean(values: np.ndarray, sentences: np.ndarray) -> list[float | None]:
    """A mean and half its 95% interval, clustered by sentence."""
    found = clustered(values, sentences)
    return [round(float(each), _DIGITS) if np.isfinite(each) else None for each in (found.mean, found.margin)]


@dataclass(frozen=True)
class Probing(Numbers):
    """The options of ``heard``."""

    sentences: int = knob(800, "Half of them fit.", type=click.IntRange(min=8))
    edits: int = knob(300, "Asked without what is heard.", type=COUNT)
    seed: int = knob(0, "Decides sentences and errors.")


@command("heard", asked=Probing)
@click.argument("file", type=PATH)
def heard_command(file: Path, asked: Probing) -> None:
    """Probe the encoder for the onset that is heard next, over sentences of FILE with generated errors, and
    erase it.
    """
    corrector = Corrector.load(asked.model)
    pairs = [
        (normalise(pair.wrong), normalise(pair.right))
        for pair in sample_pairs(open_corpus(file), asked.seed, asked.sentences)
    ]
    longest = corrector.config.max_length
    kept = [pair for pair in pairs if all(0 < len(text) <= longest for text in pair)]
    found = measured(corrector, kept, asked.edits, asked.seed)
    write_numbers(asked.json, found)
    click.echo(json.dumps(found, indent=1))
