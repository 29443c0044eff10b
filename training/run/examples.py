"""Training examples: pairs of correct sentences, and further kinds of pairs, ``PRACTICES``.

Most pairs are a correct sentence with the usual mistakes. A practice makes one further pair from a sentence,
or from nothing but chance, for patterns that the corpus lacks. To add one, add an entry to ``PRACTICES``;
``python -m training train --practice "NAME=0.2"`` then practises it beside a fifth of the sentences.

>>> vanishing = lambda maker, text, rng: (text.rstrip("."), text)
>>> vanishing(None, "봄이 왔다.", random.Random(0))
('봄이 왔다', '봄이 왔다.')
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from training.corpus.selection import read_weights
from training.noise.draft import Aim
from training.noise.drill import Drill, LoneSpaces, SpaceDrill, look_alike
from training.noise.everyday import everyday_sentence
from training.noise.hard_right import hard_right
from training.noise.lexicon import lexicon
from training.noise.lookalikes import add_laughter, as_hearsay, make_right_lookalike
from training.noise.native import has_native_site
from training.noise.norm import norm_counterexample, norm_in, norm_pair
from training.noise.pairs import MIX, Writer, as_people_write, make_pair, read_mix
from training.noise.pieces import made_up_phrase
from training.noise.registers import make_note, make_repetition
from training.noise.strokes import make_slipped
from training.options import knob

# ``practice(maker, text, rng)``: a (wrong, right) pair, or None where this sentence gives no occasion. All
# chance comes from ``rng``, so that a run can be repeated. ``maker`` makes the usual mistakes
# (``maker.mistake``) and knows all sentences (``maker.items``).
Practice = Callable[["ExampleMaker", str, random.Random], tuple[str, str] | None]

EVERYDAY = 0.3  # of the slips and of the repetitions are made in sentences of everyday words
IN_CORPUS = 0.3  # of the mistakes against the norm are made in the sentence itself, where it has room


def _slips(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str] | None:
    said = everyday_sentence(rng) if rng.random() < EVERYDAY else text
    if rng.random() < maker.settings.right_share:
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


def _lexicon(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str] | None:
    other = lexicon().vary(text, rng)
    return None if other == text else maker.mistake(other, rng)


def _lone_spaces(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str] | None:
    if rng.random() < maker.settings.right_share:
        right = look_alike(rng)
        return right, right
    return maker.lone_spaces.pair(rng) if maker.lone_spaces else None


def _norm(maker: "ExampleMaker", text: str, rng: random.Random) -> tuple[str, str]:
    if rng.random() < IN_CORPUS and (pair := norm_in(text, rng)):
        return pair
    made = norm_counterexample(rng) if rng.random() < maker.settings.right_share else norm_pair(rng)
    return made.wrong, made.right


def _misspelling(maker: "ExampleMaker") -> Callable[[str, random.Random], str]:
    return lambda text, rng: maker.mistake(text, rng)[0]


PRACTICES: dict[str, Practice] = {
    "slips": _slips,
    "notes": _notes,
    "repetitions": _repetitions,
    "lexicon": _lexicon,
    "lone_spaces": _lone_spaces,
    "norm": _norm,
    "people": lambda maker, text, rng: as_people_write(text, rng, maker.sentences),
    "hard_right": lambda maker, text, rng: (hard_right(text, rng),) * 2,
}


def read_practice(text: str) -> dict[str, float]:
    """``"slips=0.2,notes=0.1"`` as ``ExampleSettings.practice``.

    Raises ValueError for an unknown name or a share that is not from 0 to 1.
    """
    shares = read_weights(filter(None, text.split(",")))
    for name, share in shares.items():
        if name not in PRACTICES:
            raise ValueError(f"practice should be one of {sorted(PRACTICES)}, received {name!r}")
        if share > 1:
            raise ValueError(f"a share should be from 0 to 1, received {share:g} for {name!r}")
    return shares


Practised = str | tuple[str, str]  # a correct sentence, or a (wrong, right) pair as it is

# Characters no vocabulary holds, added to some sentences so that copying them is learnt.
OUTSIDE_EXAMPLES = "🙂😀👍🎉❤漢字學校日本語中文абвгдéñøßαβγ★♥→①②㉠🇰☕"
LONE_SPACE_SENTENCES = 20_000  # searched for places of one misplaced space
SEARCHED_SENTENCES = 60_000  # searched for places of native mistakes
ALONE = 0.1  # share of the names that stand alone, as in a list of a class
RIGHT_SHARE = 0.15  # of the drilled phrases stay right, or the network would doubt them all


@dataclass(frozen=True)
class ExampleSettings:
    """How a sentence is made into pairs. A share of 0.1 concerns a tenth of the sentences."""

    max_length: int = 128  # characters; longer sentences are left out
    join_share: float = 0.05  # get a second one appended, to practise length
    outside_share: float = 0.03  # get a character from outside the vocabulary
    strength: float = knob(1.0, "How often errors are made, times the usual; the development set has 1.")
    mix: Mapping[str, float] = knob(
        lambda: dict(MIX), "Shares of error families, in percent: typing=35,clean=5.", parse=read_mix
    )
    right_share: float = knob(
        RIGHT_SHARE,
        "Share of drilled phrases, slips, lone spaces and norm pairs that are right, and look odd.",
    )
    right_side_share: float = knob(0.0, "Share of given pairs beside which their right side is read alone.")
    rare_copies: int = knob(0, "More pairs of a sentence with room for a rare native mistake.")
    drill_share: float = knob(0.0, "Share of sentences beside which a native phrase is drilled.")
    name_share: float = knob(0.0, "Share of sentences that get a made-up name, which is always spelt right.")
    aim_share: float = knob(
        0.0, "Share of sentences that are mistyped in their rarer words more often than in their common ones."
    )
    laugh_share: float = knob(
        0.0, "Share of sentences that get ㅋㅋ, ㅠㅠ or the like, which stays as it is."
    )
    hearsay_share: float = knob(0.0, "Share of sentences that are told as hearsay (했대), where they can be.")
    space_share: float = knob(
        0.0, "Share of sentences with some of the commonest spacing mistakes, whatever else is wrong."
    )
    space_drill_share: float = knob(
        0.0, "Share of sentences beside which a phrase with one of these is drilled."
    )
    everyday_share: float = knob(
        0.0, "Share of sentences beside which one is put together from everyday words."
    )
    practice: Mapping[str, float] = knob(
        dict,
        "Shares of sentences beside which more is practised, each drawn for itself: slips=0.2,notes=0.1.",
        parse=read_practice,
    )


class ExampleMaker:
    """Makes (wrong, right) pairs of the items of a corpus."""

    def __init__(self, items: Sequence[Practised], settings: ExampleSettings):
        self.items, self.settings = items, settings
        some = [item for item in items[:: -(-len(items) // SEARCHED_SENTENCES)] if isinstance(item, str)]
        self.drill = Drill(some) if settings.rare_copies or settings.drill_share else None
        self.space_drill = SpaceDrill(some) if settings.space_drill_share else None
        self.aim = Aim(item for item in items if isinstance(item, str)) if settings.aim_share else None
        # Made before a process is forked, or each would search for itself.
        self.lone_spaces = (
            LoneSpaces(some[:LONE_SPACE_SENTENCES]) if "lone_spaces" in settings.practice else None
        )
        self.sentences: list[str] = some if settings.practice else []

    def pairs(self, item: Practised, rng: random.Random) -> Iterator[tuple[str, str]]:
        """The item as a pair, and the further pairs that the settings ask for."""
        if not isinstance(item, str):
            yield item
            if self.settings.right_side_share and rng.random() < self.settings.right_side_share:
                yield item[1], item[1]
            return
        yield self._pair(item, rng)
        yield from self._drilled(item, rng)
        if self.settings.everyday_share and rng.random() < self.settings.everyday_share:
            yield self.mistake(everyday_sentence(rng), rng)
        for name, share in self.settings.practice.items():
            if rng.random() < share and (practised := PRACTICES[name](self, item, rng)):
                yield practised

    def _pair(self, item: str, rng: random.Random) -> tuple[str, str]:
        """The sentence with an error, now and then with a name or a laugh."""
        if rng.random() < self.settings.name_share:
            return self._named(item, rng)
        pair = self.mistake(self._varied(item, rng), rng)
        laughs = self.settings.laugh_share and rng.random() < self.settings.laugh_share
        return add_laughter(*pair, rng) if laughs else pair

    def _drilled(self, item: str, rng: random.Random) -> Iterator[tuple[str, str]]:
        """More of the native mistakes and of the spacing mistakes that running text has too few of."""
        settings = self.settings
        if settings.rare_copies and self.drill and has_native_site(item, but_for=self.drill.common):
            for _ in range(settings.rare_copies):
                yield self.mistake(item, rng, "native")
        if rng.random() < settings.drill_share and self.drill:
            family = "clean" if rng.random() < settings.right_share else "native"
            yield self.mistake(self.drill.phrase(rng), rng, family)
        drills_spaces = self.space_drill and rng.random() < settings.space_drill_share
        if drills_spaces and self.space_drill and (drilled := self.space_drill.pair(rng)):
            wrong, right = drilled
            yield (right, right) if rng.random() < settings.right_share else (wrong, right)

    def mistake(self, text: str, rng: random.Random, family: str | None = None) -> tuple[str, str]:
        """The sentence as a (wrong, right) pair.

        The errors are of the given family of ``MIX``, or of one that is drawn.
        """
        settings = self.settings
        weights = None
        if self.aim is not None and rng.random() < settings.aim_share:
            weights = self.aim.weights(text)
        misspaces = bool(settings.space_share) and rng.random() < settings.space_share
        writer = Writer(settings.strength, settings.mix, weights, misspaces)
        pair = make_pair(text, rng, family, writer)
        return pair.wrong, pair.right

    def _varied(self, text: str, rng: random.Random) -> str:
        """The sentence, now and then with something added that the corpus has too little of."""
        if self.settings.hearsay_share and rng.random() < self.settings.hearsay_share:
            text = as_hearsay(text, rng)
        if rng.random() < self.settings.join_share:
            other = rng.choice(self.items)
            if isinstance(other, str) and len(text) + len(other) < self.settings.max_length:
                text = f"{text} {other}"
        if rng.random() < self.settings.outside_share:
            place = rng.choice([i for i, c in enumerate(text) if c == " "] or [len(text)])
            text = f"{text[:place]}{rng.choice((' ', ''))}{rng.choice(OUTSIDE_EXAMPLES)}{text[place:]}"
        return text

    def _named(self, text: str, rng: random.Random) -> tuple[str, str]:
        """The sentence with a name that both sides share, and errors beside it.

        The name has no errors, because an unseen name cannot be mended.
        """
        name = made_up_phrase(rng)
        if rng.random() < ALONE:
            return name, name
        words = text.split(" ")
        place = rng.randint(0, len(words))
        parts = [self.mistake(" ".join(side), rng) for side in (words[:place], words[place:]) if side]
        parts.insert(1 if place else 0, (name, name))
        wrong, right = (" ".join(texts) for texts in zip(*parts, strict=True))
        return wrong, right
