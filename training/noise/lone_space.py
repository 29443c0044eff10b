"""One misplaced space in a sentence that is otherwise right: the most frequent mistake there is.

``spacing`` makes several at once. A network that mostly sees them together doubts a single one. Here exactly one space is left out or
put in, at a kind of place where the norm is certain; rare kinds come about as often as frequent ones.
"""

import random
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from training.noise.common_spacing import COMMON_RULES
from training.noise.draft import Draft
from training.noise.space_places import DROPPED, INSERTED, Places
from training.noise.spacing import SPACING_RULES, SpacingRule

MOST_TEXTS = 1000  # that are remembered for a kind
# Without space_dropped, which does not know where a space is free unless Kiwi is asked.
_RULES = {name: rule for name, rule in {**SPACING_RULES, **COMMON_RULES}.items() if name != "space_dropped"}


def _by_rule(rule: SpacingRule) -> Places:
    """Where a rule of ``spacing`` or ``common_spacing`` would act."""

    def places(text: str) -> list[int]:
        draft = Draft(text)
        rule(draft, random.Random(0), 1.0)
        return [edit.start if text[edit.start] == " " else edit.start + 1 for edit in draft.edits]

    return places


KINDS: dict[str, Places] = {**{name: _by_rule(rule) for name, rule in _RULES.items()}, **DROPPED, **INSERTED}

# In how many of 1,000 sentences a kind has a place, counted in 7,000 of the corpora and 1,000 of ``everyday``.
# What is rare is made wherever it can be.
ROOM = {
    "dependent_noun_joined": 263,
    "auxiliary_joined": 212,
    "negation_joined": 28,
    "unit_noun_joined": 31,
    "listing_joined": 49,
    "title_joined": 7,
    "particle_split": 937,
    "suffix_split": 558,
    "space_inserted": 1000,
    "free_noun_joined": 152,
    "determiner_joined": 153,
    "guess_joined": 4,
    "ending_split": 23,
    "compound_split": 32,
    "object_joined": 510,
    "subject_joined": 329,
    "topic_joined": 269,
    "place_joined": 350,
    "manner_joined": 246,
    "genitive_joined": 215,
    "position_joined": 35,
    "purpose_joined": 2,
    "adverb_joined": 160,
    "bare_object_joined": 2,
    "modifier_joined": 201,
    "clause_joined": 102,
    "numeral_joined": 15,
    "become_split": 13,
    "feeling_split": 3,
    "plural_split": 12,
    "measure_split": 5,
    "one_word_split": 15,
    "negative_split": 6,
    "final_split": 176,
}


def lone_spaces(text: str, kind: str) -> list[int]:
    """The places of a kind at which one space may go wrong."""
    return [place for place in KINDS[kind](text) if 0 < place < len(text) - 1]


def make_lone_space(text: str, rng: random.Random) -> tuple[str, str] | None:
    """(wrong, right) with one space left out or put in; None where the text has no place for it.

    >>> make_lone_space("책상 위에 둬", random.Random(0))
    ('책상위에 둬', '책상 위에 둬')
    """
    for kind in sorted(KINDS, key=lambda kind: rng.expovariate(1) * ROOM[kind]):
        if places := lone_spaces(text, kind):
            return _misspaced(text, rng.choice(places)), text
    return None


def _misspaced(text: str, place: int) -> str:
    return text[:place] + (text[place + 1 :] if text[place] == " " else " " + text[place:])


class LoneSpaces:
    """The same from some sentences, with each kind exactly as often as the next: 만나러 왔다 stands in one of 600."""

    def __init__(self, sentences: Iterable[str]):
        self.texts: dict[str, list[str]] = {}
        for text in sentences:
            for kind in KINDS:
                texts = self.texts.setdefault(kind, [])
                if len(texts) < MOST_TEXTS and lone_spaces(text, kind):
                    texts.append(text)
        self.texts = {kind: texts for kind, texts in self.texts.items() if texts}

    def pair(self, rng: random.Random) -> tuple[str, str] | None:
        """(wrong, right); None where no sentence has a place."""
        if not self.texts:
            return None
        kind = rng.choice(list(self.texts))
        text = rng.choice(self.texts[kind])
        return _misspaced(text, rng.choice(lone_spaces(text, kind))), text


@cache
def look_alikes() -> tuple[str, ...]:
    """Right sentences whose spaces look wrong, and such as differ from another right one by a space alone."""
    return tuple(files("training.noise").joinpath("look_alikes.txt").read_text("utf-8").splitlines())


def look_alike(rng: random.Random) -> str:
    """One of them: 어제 산 책을 읽었다 must not become 산책을."""
    return rng.choice(look_alikes())
