"""Decides which words a slip may touch and which results it must not have, by the shipped table of words.

A slip that loses a syllable (시간이 -> 시이) can be mended only in a known word. A slip that happens to make another real word must not
be practised: a network that learns to mend it changes right texts.
"""

from collections import Counter, defaultdict
from functools import cache
from typing import NamedTuple

from model.correction.words import Words
from model.stored.folder import WORDS_FILE, find_model_folder
from model.text.hangul import decompose, is_syllable, syllables_with_coda
from training.noise.word_parts import particle_start

MODEL = "transformer"  # whose table of words is read
REAL = 3  # times a word stands in the training sentences before it counts as one; below, it may be a misprint
COMMON = 10  # times a word or a noun stands there before everybody knows it
CASES = frozenset("을 를 이 가 은 는 의 에".split())
FEWEST_CASES = 2  # different particles of these that a noun must be met with: 고양이 has 를, 가 and 의, 고양 has 이 alone
# Syllables of a word that is no noun, before one can be lost: 안녕하세요 is still known then, 저자들이 is not.
SHORTEST_SHORTENED = 5
ENDS_IN_RIEUL = frozenset(syllables_with_coda("ㄹ"))
ENDS_NO_NOUN = frozenset("ㄵㄶㄾㅀㅆ")  # 괜찮은 has the shape of a noun with 은


class KnownWords(NamedTuple):
    """Words as they stand between spaces, and nouns without their particles."""

    real: frozenset[str]  # words and nouns
    common: frozenset[str]
    nouns: frozenset[str]
    common_nouns: frozenset[str]
    shortened: Counter[str]  # of how many nouns each is what is left without one of its inner syllables
    shortened_words: Counter[str]  # the same of common words of five syllables or more

    @classmethod
    def of(cls, words: Words) -> "KnownWords":
        particles: defaultdict[str, set[str]] = defaultdict(set)
        totals: defaultdict[str, int] = defaultdict(int)
        for word, count in words.counts.items():
            if count >= REAL and (start := particle_start(word)):
                particles[word[:start]].add(word[start:])
                totals[word[:start]] += count
        nouns = {
            stem
            for stem, found in particles.items()
            if len(found & CASES) >= FEWEST_CASES and decompose(stem[-1])[2] not in ENDS_NO_NOUN
        }
        real = {word for word, count in words.counts.items() if count >= REAL}
        common = frozenset(word for word in real if words.counts[word] >= COMMON)
        return cls(
            real=frozenset(real | nouns),
            common=common,
            nouns=frozenset(nouns),
            common_nouns=frozenset(noun for noun in nouns if totals[noun] >= COMMON),
            shortened=Counter(left for noun in nouns for left in _shortened(noun)),
            shortened_words=Counter(
                left for word in common if len(word) >= SHORTEST_SHORTENED for left in _shortened(word)
            ),
        )

    def is_real(self, word: str) -> bool:
        """Whether it is a word, or a noun with a particle that follows it."""
        if word in self.real or not all(map(is_syllable, word)):
            return word in self.real
        start = particle_start(word)
        # particle_start takes 서울으로 for 서울 with 으로, too.
        misshaped = word[start - 1] in ENDS_IN_RIEUL and word.startswith("으로", start)
        return word[:start] in self.nouns and not misshaped

    def is_common(self, word: str) -> bool:
        """Whether everybody knows it, alone or without its particle."""
        return word in self.common or word[: particle_start(word)] in self.common_nouns

    def looks_right(self, written: str, word: str) -> bool:
        """Whether the misspelling of ``word`` is itself a word, or two words: 회이자료 for 회의자료."""
        if self.is_real(written):
            return True
        end = self.noun_at_start(written)
        return not word.startswith(written[:end]) and len(written) > end + 1 and self.is_real(written[end:])

    def noun_at_start(self, word: str) -> int:
        """How long the longest known noun is that the word begins with, of two syllables or more; 0 without one."""
        return next((end for end in range(len(word), 1, -1) if word[:end] in self.nouns), 0)

    def particle_of_noun(self, word: str) -> int:
        """Where the particle of a known noun begins; 0 where there is none: 배우는 is one, 그리는 is not."""
        start = particle_start(word)
        return start if word[:start] in self.nouns else 0


def _shortened(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(1, len(word) - 1)}


@cache
def known_words() -> KnownWords:
    """What the table of the shipped model knows; reading it takes a second."""
    return KnownWords.of(Words.read(find_model_folder(MODEL) / WORDS_FILE))
