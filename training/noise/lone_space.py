"""One misplaced space in a sentence that is otherwise right: the most frequent mistake there is.

``spacing`` makes several at once. A network that mostly sees them together doubts a single one. Here exactly one space is left out or
put in, at a kind of place where the norm is certain; rare kinds come as often as frequent ones.
"""

import random
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from training.noise.common_spacing import COMMON_RULES
from training.noise.draft import Draft
from training.noise.space_places import DROPPED, INSERTED, SpacePlaces
from training.noise.spacing import SPACING_RULES, SpacingRule

MOST_TEXTS = 1000  # texts that are remembered for one kind
# Without space_dropped, which does not know where a space is free unless Kiwi is asked.
_RULES = {name: rule for name, rule in {**SPACING_RULES, **COMMON_RULES}.items() if name != "space_dropped"}


def _by_rule(rule: SpacingRule) -> SpacePlaces:
    """Where a rule of ``spacing`` or ``common_spacing`` would act."""

    def places(text: str) -> list[int]:
        draft = Draft(text)
        rule(draft, random.Random(0), 1.0)
        return [edit.start if text[edit.start] == " " else edit.start + 1 for edit in draft.edits]

    return places


KINDS: dict[str, SpacePlaces] = {
    **{name: _by_rule(rule) for name, rule in _RULES.items()},
    **DROPPED,
    **INSERTED,
}


def lone_spaces(text: str, kind: str) -> list[int]:
    """The places of a kind at which one space may go wrong."""
    return [place for place in KINDS[kind](text) if 0 < place < len(text) - 1]


def _misspaced(text: str, place: int) -> str:
    return text[:place] + (text[place + 1 :] if text[place] == " " else " " + text[place:])


class LoneSpaces:
    """Pairs with one space left out or put in, each kind as often as the next: 만나러 왔다 stands in one sentence of 600.

    >>> LoneSpaces(["책상 위에 둬"]).pair(random.Random(0))
    ('책상위에 둬', '책상 위에 둬')
    """

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
