"""What the network practises on: pairs made of a correct sentence, and of what the corpus has too little of."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from training.noise.names import made_up_phrase
from training.noise.native import common_native_sites, has_native_site
from training.noise.native_table import random_phrase
from training.noise.pairs import MIX, make_pair

Item = str | tuple[str, str]  # a correct sentence, or a (wrong, right) pair as it is

# Characters no vocabulary holds, added to some sentences so that copying them is learnt.
OUTSIDE_EXAMPLES = "🙂😀👍🎉❤漢字學校日本語中文абвгдéñøßαβγ★♥→①②㉠🇰☕"
COUNTED_SENTENCES = 20_000  # in which it is counted how often a native mistake could be made
MOST_WORDS_BESIDE = 4  # of a sentence, beside a phrase that is drilled


@dataclass(frozen=True)
class ExampleSettings:
    """What is made of a sentence; shares are of the sentences."""

    max_length: int = 128  # characters; longer sentences are left out
    join_share: float = 0.05  # get a second one appended, to practise length
    outside_share: float = 0.03  # get a character from outside the vocabulary
    name_share: float = 0.0  # get a made-up name, which is always spelt right
    strength: float = 1.0  # of the errors; the development set has 1
    mix: Mapping[str, float] = field(default_factory=lambda: dict(MIX))  # shares of the families of errors
    rare_copies: int = 0  # extra pairs of a sentence with room for a rare native mistake
    drill_share: float = 0.0  # bring a second pair with a phrase of the table of mistakes


class ExampleMaker:
    """Makes (wrong, right) pairs of the items of a corpus."""

    def __init__(self, items: Sequence[Item], settings: ExampleSettings):
        self.items, self.settings = items, settings
        self.common = frozenset()
        if settings.rare_copies:
            sentences = [
                item for item in items[:: -(-len(items) // COUNTED_SENTENCES)] if isinstance(item, str)
            ]
            self.common = common_native_sites(sentences)

    def pairs(self, item: Item, rng: random.Random) -> Iterator[tuple[str, str]]:
        """The item as a pair, and the further pairs that the settings ask for."""
        if not isinstance(item, str):
            yield item
            return
        if rng.random() < self.settings.name_share:
            yield self._named(item, rng)
        else:
            yield self._make(self._varied(item, rng), rng)
        if self.settings.rare_copies and has_native_site(item, but_for=self.common):
            for _ in range(self.settings.rare_copies):
                yield self._make(item, rng, "native")
        if rng.random() < self.settings.drill_share:
            yield self._make(_beside(random_phrase(rng), item, rng), rng, "native")

    def _make(self, text: str, rng: random.Random, family: str | None = None) -> tuple[str, str]:
        pair = make_pair(text, rng, family, self.settings.strength, self.settings.mix)
        return pair.wrong, pair.right

    def _varied(self, text: str, rng: random.Random) -> str:
        """The sentence, now and then with something that the corpus has too little of."""
        if rng.random() < self.settings.join_share:
            other = rng.choice(self.items)
            if isinstance(other, str) and len(text) + len(other) < self.settings.max_length:
                text = f"{text} {other}"
        if rng.random() < self.settings.outside_share:
            place = rng.choice([i for i, c in enumerate(text) if c == " "] or [len(text)])
            text = f"{text[:place]}{rng.choice((' ', ''))}{rng.choice(OUTSIDE_EXAMPLES)}{text[place:]}"
        return text

    def _named(self, text: str, rng: random.Random) -> tuple[str, str]:
        """The sentence made wrong on both sides of a name that stays: no reader could mend a name he never saw."""
        words = text.split(" ")
        place = rng.randint(0, len(words))
        name = made_up_phrase(rng)
        parts = [self._make(" ".join(side), rng) for side in (words[:place], words[place:]) if side]
        parts.insert(1 if place else 0, (name, name))
        wrong, right = (" ".join(texts) for texts in zip(*parts, strict=True))
        return wrong, right


def _beside(phrase: str, text: str, rng: random.Random) -> str:
    """The phrase alone or before or after a few words of the sentence: a short text, so that many can be drilled."""
    words = text.split(" ")
    count = rng.randint(0, MOST_WORDS_BESIDE)
    start = rng.randint(0, max(0, len(words) - count))
    few = words[start : start + count]
    return " ".join([*few, phrase] if rng.random() < 0.5 else [phrase, *few])
