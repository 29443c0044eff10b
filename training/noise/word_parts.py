"""Particle or suffix of a word, by spelling alone; ``KnownWords``: the common words.

The lists hold parts that can be recognised with some certainty; a word in doubt counts as having no particle.

The shipped table of words decides which words a slip may touch and which results it must not have. A slip
that loses a syllable (시간이 -> 시이) can be mended only in a known word. A slip that happens to make another
real word must not be practised: a network that learns to mend it changes right texts.
"""

from collections import Counter, defaultdict
from functools import cache, lru_cache
from typing import NamedTuple

from model.correction.counts import Words
from model.stored.folder import DEFAULT_MODEL, WORDS_FILE, find_model_folder
from model.text.hangul import decompose, indices, is_syllable, syllables_with_coda
from training.noise import words_of

_RIEUL = 8  # index of ㄹ among the codas

_LISTS = words_of("word_parts")
# Particles by the syllables that they may follow.
_AFTER_CODA, _AFTER_VOWEL = _LISTS["after_coda"], _LISTS["after_vowel"]
_AFTER_VOWEL_OR_RIEUL = _LISTS["after_vowel_or_rieul"]
PARTICLES = frozenset([*_AFTER_CODA, *_AFTER_VOWEL, *_AFTER_VOWEL_OR_RIEUL, *_LISTS["after_any"]])
_LONGEST = max(map(len, PARTICLES))

_NOT_AFTER = {particle: each for particle, (each,) in words_of("particle_not_after").items()}
_SUFFIXES = frozenset([*_LISTS["hada"], *_LISTS["doeda"], *_LISTS["other_verbs"]])
_LONGEST_SUFFIX = max(map(len, _SUFFIXES))


def _agrees(particle: str, stem: str) -> bool:
    """Whether the particle has the form that follows the stem's last syllable (은/는, 을/를, 으로/로 …)."""
    coda = indices(stem[-1])[2]
    if particle in _AFTER_CODA:
        return coda != 0
    if particle in _AFTER_VOWEL:
        return coda == 0
    return particle not in _AFTER_VOWEL_OR_RIEUL or coda in (0, _RIEUL)


@lru_cache(maxsize=65536)
def particle_start(word: str) -> int:
    """Index at which the longest particle that fits ``word`` (Hangul only) begins; 0 where it has none.

    >>> particle_start("학교에서")
    2
    """
    if word in _LISTS["no_particle"]:
        return 0
    for length in range(min(_LONGEST, len(word) - 1), 0, -1):
        stem, particle = word[:-length], word[-length:]
        if particle not in PARTICLES or not _agrees(particle, stem):
            continue
        if stem[-1] in _NOT_AFTER.get(particle, ""):
            continue
        if length > 1 or len(stem) > 1 or stem in _LISTS["short_nouns"]:
            return len(stem)
    return 0


@lru_cache(maxsize=65536)
def suffix_start(word: str) -> int:
    """Where a form of -하다, -되다, -시키다 or -드리다 begins; 0 without one.

    Only after two syllables or more: 말하다 and 일하다 look like 못하다 and 위하다.

    >>> suffix_start("공부합니다"), suffix_start("일하다")
    (2, 0)
    """
    if word in _LISTS["no_suffix"]:
        return 0
    for length in range(min(_LONGEST_SUFFIX, len(word) - 2), 0, -1):
        if word[-length:] in _SUFFIXES:
            return 0 if word[-length - 1] in _LISTS["not_noun_ends"] else len(word) - length
    return 0


REAL = 3  # times a word occurs in the training sentences before it counts as one; below, it may be a misprint
COMMON = 10  # times a word or a noun occurs there before it counts as common
CASES = frozenset("을 를 이 가 은 는 의 에".split())
# different particles of these that a noun must be met with: 고양이 has 를, 가 and 의, 고양 has 이 alone
FEWEST_CASES = 2
# Syllables of a word that is no noun, before one can be lost: 안녕하세요 is still known then, 저자들이 is
# not.
SHORTEST_SHORTENED = 5
ENDS_IN_RIEUL = frozenset(syllables_with_coda("ㄹ"))
ENDS_NO_NOUN = frozenset("ㄵㄶㄾㅀㅆ")  # 괜찮은 has the shape of a noun with 은


class KnownWords(NamedTuple):
    """Words between spaces, and nouns without their particles."""

    real: frozenset[str]  # words and nouns
    common: frozenset[str]
    nouns: frozenset[str]
    common_nouns: frozenset[str]
    shortened: Counter[str]  # of how many nouns each is the rest without an inner syllable
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
        """Whether it is a word, or a noun with a particle that follows it.

        >>> known_words().is_real("바다에서"), known_words().is_real("삭과")
        (True, False)
        """
        if word in self.real or not all(map(is_syllable, word)):
            return word in self.real
        start = particle_start(word)
        # particle_start takes 서울으로 for 서울 with 으로, too.
        misshaped = word[start - 1] in ENDS_IN_RIEUL and word.startswith("으로", start)
        return word[:start] in self.nouns and not misshaped

    def is_common(self, word: str) -> bool:
        """Whether it is common, alone or without its particle.

        >>> known_words().is_common("친구를")
        True
        """
        return word in self.common or word[: particle_start(word)] in self.common_nouns

    def looks_right(self, written: str, word: str) -> bool:
        """Whether the misspelling of ``word`` is itself a word, or two words: 회이자료 for 회의자료.

        >>> known_words().looks_right("회의자료", "회이자료")
        True
        """
        if self.is_real(written):
            return True
        end = self.noun_at_start(written)
        return not word.startswith(written[:end]) and len(written) > end + 1 and self.is_real(written[end:])

    def noun_at_start(self, word: str) -> int:
        """How long the longest known noun is that the word begins with, of two syllables or more; 0 without
        one.

        >>> known_words().noun_at_start("학교에서")
        2
        """
        return next((end for end in range(len(word), 1, -1) if word[:end] in self.nouns), 0)

    def particle_of_noun(self, word: str) -> int:
        """Where the particle of a known noun begins; 0 without one: 배우는 has one, 그리는 has none.

        >>> known_words().particle_of_noun("친구를"), known_words().particle_of_noun("그리는")
        (2, 0)
        """
        start = particle_start(word)
        return start if word[:start] in self.nouns else 0


def _shortened(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(1, len(word) - 1)}


@cache
def known_words() -> KnownWords:
    """The words of the shipped model's table; reading it takes a second."""
    return KnownWords.of(Words.read(find_model_folder(DEFAULT_MODEL) / WORDS_FILE))
