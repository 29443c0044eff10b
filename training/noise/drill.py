"""Makes short phrases in which each native mistake and each misplaced space is practised equally often.

In running text a few mistakes can be made everywhere and most nowhere: half of the table's rows find no place in 40,000 sentences.
A network has to learn these words by heart, so it meets them again and again, in short phrases that cost little time.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from training.noise.common_spacing import COMMON_RULES
from training.noise.draft import Draft, Edit
from training.noise.native import MistakeSite, native_sites
from training.noise.native_table import Mistake, table
from training.noise.spacing import misspace_at

RARE = 0.001  # a mistake for which fewer sentences have room is rare: chance alone will not teach it
MOST_PLACES = 64  # places that are remembered for one mistake
MOST_WORDS_BESIDE = 3  # on each side of the mistake's own words
ATTEMPTS = 8  # cuts, until a phrase still has room for the mistake: '에' is mistaken before ' 대해', not before ' 집'
RULE_SHARE = 0.3  # of the phrases are for a rule, the others for a row of the table
# Without its sentence, what ends in -히 taught a network that any word in -이 should: 강당이 → 강당히.
UNDRILLED = frozenset({"hi_i"})
# Spacing mistakes of which the word before says more than the word after: 안 가, 그 사람, 두 개.
_BY_WORD_BEFORE = frozenset({"negation_joined", "determiner_joined", "unit_noun_joined"})


class Drill:
    """Phrases from some right sentences; from the table itself for rows that have room in no sentence."""

    def __init__(self, sentences: Iterable[str]):
        self.places: dict[str | Mistake, list[tuple[str, MistakeSite]]] = {}
        counts: Counter[str | Mistake] = Counter()
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
        mistakes: Sequence[str | Mistake] = self.rules if by_rule else self.rows
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

    Each rule comes equally often, and so does each word of a rule: 것 and 수 stand in every other sentence, 텐데 and 자마자 in one
    of a thousand, but people get all of them wrong.
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
        found = [each for _, each in _misplaced(right) if each.rule == edit.rule]
        if not found:  # cut off, the words are no place for it
            right, found = text, [edit]
        draft, place = Draft(right), rng.choice(found)
        misspace_at(draft, place)
        return draft.wrong, right


def _misplaced(text: str) -> Iterator[tuple[str, Edit]]:
    """Every common spacing mistake that could be made in a correct text, with the word that it is made of."""
    for rule in COMMON_RULES.values():
        draft = Draft(text)
        rule(draft, random.Random(0), 1.0)
        for edit in draft.edits:
            before, after = text[: edit.start + 1].split(" "), text[edit.start + 1 :].split(" ")
            # What is wrong depends on the word before of 안 가 and 두 개, on the word after of 할 것 and 학교 에서.
            word = before[-2] + " " if edit.rule in _BY_WORD_BEFORE else ""
            yield word + after[0][:2], edit


def _around(text: str, site: MistakeSite, rng: random.Random) -> str:
    words = text.split(" ")
    first = text.count(" ", 0, site.start) - rng.randint(0, MOST_WORDS_BESIDE)
    last = text.count(" ", 0, site.end) + rng.randint(0, MOST_WORDS_BESIDE)
    return " ".join(words[max(0, first) : last + 1])
