"""``PRACTICES``: the kinds of pairs that a network practises besides the usual mistakes.

A practice makes one further pair from a sentence, or from nothing but chance. To add one, add an entry to ``PRACTICES``;
``python -m training train --practice "NAME=0.2"`` then practises it beside a fifth of the sentences.

>>> vanishing = Practice("vanishing", lambda maker, text, rng: (text.rstrip("."), text))
>>> vanishing.make(None, "봄이 왔다.", random.Random(0))
('봄이 왔다', '봄이 왔다.')
"""

import random
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from training.corpus.sources import read_weights
from training.noise.drill import look_alike
from training.noise.everyday import everyday_sentence
from training.noise.lexicon import Lexicon
from training.noise.lookalikes import make_right_lookalike
from training.noise.norm import norm_counterexample, norm_in, norm_pair
from training.noise.registers import make_note, make_repetition
from training.noise.strokes import make_slipped

if TYPE_CHECKING:
    from training.run.examples import ExampleMaker


class Practice(NamedTuple):
    """``make(maker, text, rng)``: a (wrong, right) pair, or None where this sentence gives no occasion.

    All chance comes from ``rng``, so that a run can be repeated. ``maker`` makes the usual mistakes (``maker.mistake``)
    and knows all sentences (``maker.items``).
    """

    name: str
    make: Callable[["ExampleMaker", str, random.Random], tuple[str, str] | None]


EVERYDAY = 0.3  # of the slips and of the repetitions are made in sentences of everyday words
LOOKS_ALIKE = 0.15  # of slips, lone spaces and made norm pairs are right on both sides and look like mistakes
IN_CORPUS = 0.3  # of the mistakes against the norm are made in the sentence itself, where it has room


def _slips(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str] | None:
    said = everyday_sentence(rng) if rng.random() < EVERYDAY else text
    if rng.random() < LOOKS_ALIKE:
        return make_right_lookalike(said, rng)
    wrong, right = make_slipped(said, rng)
    return None if wrong == right else (wrong, right)


def _notes(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str]:
    return make_note(
        [text, *rng.choices(maker.sentences, k=5), everyday_sentence(rng)], rng, _misspelling(maker)
    )


def _repetitions(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str]:
    said = everyday_sentence(rng) if rng.random() < EVERYDAY else text
    words = said.split(" ")
    start = rng.randrange(len(words))
    return make_repetition(" ".join(words[start : start + rng.randint(1, 4)]), rng, _misspelling(maker))


@cache
def _nouns() -> Lexicon:
    return Lexicon()


def _lexicon(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str] | None:
    other = _nouns().vary(text, rng)
    return None if other == text else maker.mistake(other, rng)


def _lone_spaces(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str] | None:
    if rng.random() < LOOKS_ALIKE:
        right = look_alike(rng)
        return right, right
    return maker.lone_spaces.pair(rng) if maker.lone_spaces else None


def _norm(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str]:
    if rng.random() < IN_CORPUS and (pair := norm_in(text, rng)):
        return pair
    made = norm_counterexample(rng) if rng.random() < LOOKS_ALIKE else norm_pair(rng)
    return made.wrong, made.right


def _misspelling(maker: "ExampleMaker") -> Callable[[str, random.Random], str]:
    return lambda text, rng: maker.mistake(text, rng)[0]


_ALL = (
    Practice("slips", _slips),
    Practice("notes", _notes),
    Practice("repetitions", _repetitions),
    Practice("lexicon", _lexicon),
    Practice("lone_spaces", _lone_spaces),
    Practice("norm", _norm),
)
PRACTICES = {practice.name: practice for practice in _ALL}


def read_practice(text: str) -> dict[str, float]:
    """``"slips=0.2,notes=0.1"`` as ``ExampleSettings.practice``. Raises ValueError for an unknown name or a share that is
    not from 0 to 1.
    """
    shares = read_weights(filter(None, text.split(",")))
    for name, share in shares.items():
        if name not in PRACTICES:
            raise ValueError(f"practice should be one of {sorted(PRACTICES)}, received {name!r}")
        if share > 1:
            raise ValueError(f"a share should be from 0 to 1, received {share:g} for {name!r}")
    return shares
