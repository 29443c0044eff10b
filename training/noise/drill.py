"""Drills: pairs for rare misspellings and single spacing mistakes; right look-alikes.

In running text a few mistakes can be made everywhere and most nowhere: half of the table's rows find no place
in 40,000 sentences. A network has to learn these words by heart, so it meets them again and again, in short
phrases that cost little time (``Drill``, ``SpaceDrill``).

The most frequent mistake of all is one misplaced space in a sentence that is otherwise right
(``LoneSpaces``). ``spacing`` makes several at once, and a network that mostly sees them together doubts a
single one. A kind of place is a function from a right text to the indices of its places: of a space that is
obligatory (한글 맞춤법 제2항, 제42항), or of a syllable before which none may come. Where the norm leaves the
choice no place is listed: before an auxiliary verb (제47항) and between nouns (제49항, 제50항). Rare kinds
come as often as frequent ones.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from model.norm.kinds import Misspelling
from training.noise import read_lines, words_of
from training.noise.draft import Draft, Edit, ErrorRule, edits_of
from training.noise.native import MistakeSite, native_sites, table
from training.noise.spacing import COMMON_RULES, PATTERNS, SPACING_RULES, misspace_at
from training.noise.word_parts import particle_start

RARE = 0.001  # a mistake for which fewer sentences have room is rare: chance alone will not teach it
MOST_PLACES = 64  # places that are remembered for one mistake
MOST_WORDS_BESIDE = 3  # on each side of the mistake's own words
# cuts, until a phrase still has room for the mistake: '에' is mistaken before ' 대해', not before ' 집'
ATTEMPTS = 8
RULE_SHARE = 0.3  # of the phrases are for a rule, the others for a row of the table
# Without its sentence, an adverb in -히 taught a network that any word in -이 should: 강당이 → 강당히.
UNDRILLED = frozenset({"hi_i"})
# Spacing mistakes of which the word before says more than the word after: 안 가, 그 사람, 두 개.
_BY_WORD_BEFORE = frozenset({"negation_joined", "determiner_joined", "unit_noun_joined"})


class Drill:
    """Phrases from some right sentences; from the table itself for rows that have room in no sentence."""

    def __init__(self, sentences: Iterable[str]):
        self.places: dict[str | Misspelling, list[tuple[str, MistakeSite]]] = {}
        counts: Counter[str | Misspelling] = Counter()
        total = 0
        for total, text in enumerate(sentences, 1):
            sites = {site.mistake: site for site in native_sites(text)}
            counts.update(sites.keys())
            for mistake, site in sites.items():
                places = self.places.setdefault(mistake, [])
                if len(places) < MOST_PLACES:
                    places.append((text, site))
        self.common = frozenset(mistake for mistake, count in counts.items() if count >= RARE * total)
        self.rules = [mistake for mistake in self.places if isinstance(mistake, str)]
        self.rows = [row for row in table() if row.name not in UNDRILLED]
        self.some_words = [text.split(" ") for places in self.places.values() for text, _ in places[:2]]

    def phrase(self, rng: random.Random) -> str:
        """A few right words in which a native mistake can be made."""
        by_rule = self.rules and rng.random() < RULE_SHARE
        mistakes: Sequence[str | Misspelling] = self.rules if by_rule else self.rows
        mistake = rng.choice(mistakes)
        # The name of a rule is no text. It is never shown, because a rule always has places.
        right = mistake if isinstance(mistake, str) else mistake.right
        places = self.places.get(mistake)
        for _ in range(ATTEMPTS):
            phrase = _around(*rng.choice(places), rng) if places else self._beside(right, rng)
            if any(site.mistake == mistake for site in native_sites(phrase)):
                return phrase
        return rng.choice(places)[0] if places else right

    def _beside(self, right: str, rng: random.Random) -> str:
        words = rng.choice(self.some_words or [[]])
        start = rng.randrange(len(words) + 1)
        few = words[start : start + rng.randint(0, MOST_WORDS_BESIDE)]
        phrase = right.strip()
        return " ".join([*few, phrase] if rng.random() < 0.5 else [phrase, *few])


class SpaceDrill:
    """Phrases of some right sentences with one frequent spacing mistake each.

    Each rule comes equally often, and so does each word of a rule: 것 and 수 occur in every other sentence,
    텐데 and 자마자 in one of a thousand, but people get all of them wrong.
    """

    def __init__(self, sentences: Iterable[str]):
        places: dict[str, defaultdict[str, list[tuple[str, Edit]]]]
        places = {name: defaultdict(list) for name in COMMON_RULES}
        for text in sentences:
            for word, edit in _misplaced(text):
                same = places[edit.rule][word]
                if len(same) < MOST_PLACES:
                    same.append((text, edit))
        self.places = {name: dict(words) for name, words in places.items() if words}

    def pair(self, rng: random.Random) -> tuple[str, str] | None:
        """(wrong, right); None where no sentence has room for a mistake."""
        if not self.places:
            return None
        words = self.places[rng.choice(list(self.places))]
        text, edit = rng.choice(words[rng.choice(list(words))])
        right = _around(text, MistakeSite(edit.rule, edit.start, edit.end), rng)
        mistakes = [each for _, each in _misplaced(right) if each.rule == edit.rule]
        if not mistakes:  # cut off, the words are no place for it
            right, mistakes = text, [edit]
        draft, place = Draft(right), rng.choice(mistakes)
        misspace_at(draft, place)
        return draft.wrong, right


def _misplaced(text: str) -> Iterator[tuple[str, Edit]]:
    """Every common spacing mistake that could be made in a correct text, with the word that it is made of."""
    for rule in COMMON_RULES.values():
        for edit in edits_of(rule, text, random.Random(0)):
            before, after = text[: edit.start + 1].split(" "), text[edit.start + 1 :].split(" ")
            # The mistake depends on the word before of 안 가 and 두 개, on the word after of 할 것 and 학교
            # 에서.
            word = before[-2] + " " if edit.rule in _BY_WORD_BEFORE else ""
            yield word + after[0][:2], edit


def _around(text: str, site: MistakeSite, rng: random.Random) -> str:
    words = text.split(" ")
    first = text.count(" ", 0, site.start) - rng.randint(0, MOST_WORDS_BESIDE)
    last = text.count(" ", 0, site.end) + rng.randint(0, MOST_WORDS_BESIDE)
    return " ".join(words[max(0, first) : last + 1])


SpacePlaces = Callable[[str], list[int]]

_WORD = re.compile("(?<![가-힣])[가-힣]+(?= [가-힣])")
_BY_PARTICLE = words_of("drill")
_PARTICLE_OF = {form: kind for kind, forms in _BY_PARTICLE.items() for form in forms}


def _after_particle(kind: str) -> SpacePlaces:
    def places(text: str) -> list[int]:
        found = []
        for match in _WORD.finditer(text):
            word = match.group()
            start = particle_start(word)
            # 우리가 and 친구를, but no word of which one syllable would be left: it may be another word.
            if start > 1 and _PARTICLE_OF.get(word[start:]) == kind:
                found.append(match.end())
        return found

    return places


def _at(pattern: re.Pattern[str]) -> SpacePlaces:
    """Where a match ends, or the space with which it does."""
    return lambda text: [match.end() - match[0].endswith(" ") for match in pattern.finditer(text)]


DROPPED: dict[str, SpacePlaces] = {
    **{f"{kind}_joined": _after_particle(kind) for kind in _BY_PARTICLE},
    **{kind: _at(pattern) for kind, pattern in PATTERNS["joined_alone"].items()},
}
INSERTED = {kind: _at(pattern) for kind, pattern in PATTERNS["split_alone"].items()}


MOST_TEXTS = 1000  # texts that are remembered for one kind
# Without space_dropped, which does not know where a space is free without Kiwi.
_RULES = {name: rule for name, rule in {**SPACING_RULES, **COMMON_RULES}.items() if name != "space_dropped"}


def _by_rule(rule: ErrorRule) -> SpacePlaces:
    """Where a rule of ``spacing`` or ``common_spacing`` would act."""
    return lambda text: [
        edit.start if text[edit.start] == " " else edit.start + 1
        for edit in edits_of(rule, text, random.Random(0))
    ]


KINDS: dict[str, SpacePlaces] = {
    **{name: _by_rule(rule) for name, rule in _RULES.items()},
    **DROPPED,
    **INSERTED,
}


def lone_spaces(text: str, kind: str) -> list[int]:
    """The places of a kind at which one space may go wrong.

    >>> lone_spaces("책상 위에 둬", "position_joined")
    [2]
    """
    return [place for place in KINDS[kind](text) if 0 < place < len(text) - 1]


def _misspaced(text: str, place: int) -> str:
    return text[:place] + (text[place + 1 :] if text[place] == " " else " " + text[place:])


class LoneSpaces:
    """Pairs with one space left out or put in, each kind as often as the next: 만나러 왔다 occurs in one
    sentence of 600.

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


def look_alike(rng: random.Random) -> str:
    """A right sentence whose spaces look wrong, or one that differs from another right one by a space alone:
    어제 산 책을 읽었다 must not become 산책을.

    >>> look_alike(random.Random(0)) in read_lines("look_alikes.txt")
    True
    """
    return rng.choice(read_lines("look_alikes.txt"))
