"""The pairs that the trees of the confidence are fitted on, and those kept apart, on which it is seen whether they help."""

import hashlib
import random
from collections.abc import Iterable, Sequence
from itertools import cycle

from training.corpus.corpus import Corpus
from training.measure.evaluate import sample_pairs
from training.noise.drill import Drill, SpaceDrill
from training.noise.pairs import NoisyPair, make_pair
from training.run.examples import ExampleMaker, ExampleSettings
from training.run.practice import PRACTICES


def is_for_fitting(pair: NoisyPair) -> bool:
    """Whether the pair's right sentence belongs to the half that the trees are fitted on."""
    return hashlib.sha256(pair.right.encode()).digest()[0] % 2 == 0


def pairs_of(corpora: Iterable[Corpus], seeds: int) -> list[NoisyPair]:
    """The pairs of all files. If errors are generated: those of seed 0, and of further seeds for sentences of the fitting half."""
    pairs = []
    for corpus in corpora:
        pairs += sample_pairs(corpus, 0)
        if not corpus.holds_pairs:
            for seed in range(1, seeds):
                pairs += filter(is_for_fitting, sample_pairs(corpus, seed))
    return pairs


def drilled_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Phrases of the fitting half with one native mistake each; all mistakes come equally often.

    Sentences contain only the common ones, and the trees would learn to doubt every word that the table of words lacks.
    """
    drill = Drill(sorted({pair.right for pair in pairs if is_for_fitting(pair)}))
    rng = random.Random(0)
    made = (make_pair(drill.phrase(rng), rng, "native") for _ in range(count))
    return [pair for pair in made if pair.family == "native"]


def spaced_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Phrases of the fitting half, ``count`` of them with one misplaced space each, chosen as in ``drilled_pairs``. Every third
    comes once more without the mistake, or the trees would learn that a phrase always lacks something.
    """
    drill = SpaceDrill(sorted({pair.right for pair in pairs if is_for_fitting(pair)}))
    rng = random.Random(0)
    made = [pair for pair in (drill.pair(rng) for _ in range(count)) if pair]
    return [
        *(NoisyPair(wrong, right, "spacing", ()) for wrong, right in made),
        *_as_they_are(right for _, right in made[::3]),
    ]


def named_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """Sentences of the fitting half with a made-up name, which is right, and errors around it.

    No table knows such a name. Trees that have seen none take it for a slip in the nearest word that they know.
    """
    sentences = sorted({pair.right for pair in pairs if is_for_fitting(pair)})
    maker, rng = ExampleMaker(sentences, ExampleSettings(name_share=1.0)), random.Random(0)
    made = (next(maker.pairs(rng.choice(sentences), rng)) for _ in range(count))
    return [NoisyPair(wrong, right, "name", ()) for wrong, right in made]


def practised_pairs(pairs: Iterable[NoisyPair], count: int) -> list[NoisyPair]:
    """``count`` pairs of every practice of ``--practice`` alike, made of sentences of the fitting half. Every third comes once more
    without the mistake.

    Sentences with the usual mistakes have neither loose jamo nor lists, and the trees would doubt what they have not seen.
    """
    sentences = sorted({pair.right for pair in pairs if is_for_fitting(pair)})
    shares = dict.fromkeys(PRACTICES, 1.0)
    maker, rng = ExampleMaker(sentences, ExampleSettings(practice=shares)), random.Random(0)
    made = []
    for _, practice in zip(range(count), cycle(PRACTICES.values())):
        if pair := practice.make(maker, rng.choice(sentences), rng):
            made.append(NoisyPair(*pair, practice.name, ()))
    return [*made, *_as_they_are(pair.right for pair in made[::3])]


def intact_pairs(sentences: Sequence[str], count: int) -> list[NoisyPair]:
    """``count`` right sentences as they are, or all if there are fewer: whatever is changed in them is wrong.

    Most of what people write is right. The development pairs hold few such sentences, so trees that are fitted on them
    alone do not learn what a false alarm looks like.
    """
    return _as_they_are(random.Random(0).sample(sentences, min(count, len(sentences))))


def right_pairs(pairs: Iterable[NoisyPair]) -> list[NoisyPair]:
    """The right sentences of the fitting half as they are. The network has been trained on those of ``intact_pairs``, so it is surer of
    them than of what people write.
    """
    return _as_they_are(sorted({pair.right for pair in pairs if is_for_fitting(pair)}))


def _as_they_are(sentences: Iterable[str]) -> list[NoisyPair]:
    return [NoisyPair(text, text, "clean", ()) for text in sentences]
