"""Slips of whole syllables and of finals: in another place, twice, missing, one too many.

Each function is given a word, the index of one of its syllables and a source of chance. It returns what is written then,
or None where it has nothing to do there. Only words that everybody knows lose or move something, because nobody could
mend it in others. All violate 한글 맞춤법 제1항 (a word is written in its standard form).
"""

import random

from model.text.hangul import FINALS, compose, decompose
from model.text.keyboard import UNSHIFTED
from training.noise.known_words import SHORTEST_SHORTENED, known_words
from training.noise.word_parts import particle_start

NEXT_ONSET_SHARE = 0.7  # of the finals that are added are the next initial, struck too early
ANY_FINAL = "ㄱㅁㅂㅅㅇ"  # ㄴ, ㄹ and ㅆ would make other forms: 가다, 간다, 갔다
ONE_APART_SHARE = 0.15  # of the exchanges are across a syllable
SHORTEST_SWAPPED = 3  # syllables: 과사 might be any word, 생선님 only one
SHORT_SHARE = 0.3  # of the nouns of two syllables: 정는 might have been many
PAST = frozenset("었았였했됐겠")  # what loses ㅆ and is no other form then: 먹어다, but 가다
TOPIC_AND_OBJECT = frozenset("는를")  # 느 and 르 say what they were; 으 may have been 은 or 을


def final_added(word: str, index: int, rng: random.Random) -> str | None:
    """A final too many, mostly the next initial: 사과 -> 삭과, 학교에 -> 학굥에 or 학굑에, 노래 -> 녹래.

    The last syllable gets none: 학교엔, 하곤 and 갈 are right.
    """
    if index == len(word) - 1 or decompose(word[index])[2]:
        return None
    onset = decompose(word[index + 1])[0]
    final = UNSHIFTED.get(onset, onset) if rng.random() < NEXT_ONSET_SHARE else rng.choice(ANY_FINAL)
    initial, medial, _ = decompose(word[index])
    return word[:index] + compose(initial, medial, final) + word[index + 1 :]


def final_lost(word: str, index: int, rng: random.Random) -> str | None:
    """A final is not written: 전화 -> 저화, 안경 -> 아경, 닫고 -> 다고, 사람을 -> 사라을.

    Not where another form would be left (간다 -> 가다, 할게 -> 하게), or where it could have been one (먹으: 먹은, 먹을).
    """
    initial, medial, final = decompose(word[index])
    known = known_words()
    if not final or len(word) < 2 or not known.is_common(word):
        return None
    in_noun = index < known.noun_at_start(word) and (index < len(word) - 1)
    if final in "ㄴㄹ" and not in_noun and word[index] not in TOPIC_AND_OBJECT:
        return None
    if final == "ㅆ" and word[index] not in PAST:
        return None
    return word[:index] + compose(initial, medial) + word[index + 1 :]


def onset_early(word: str, index: int, rng: random.Random) -> str | None:
    """The next initial becomes a final, with ㅇ in its place: 노래 -> 놀애, 나무 -> 남우."""
    if index == len(word) - 1:
        return None
    initial, medial, final = decompose(word[index])
    onset, vowel, coda = decompose(word[index + 1])
    if final or onset == "ㅇ" or onset not in FINALS:
        return None
    return word[:index] + compose(initial, medial, onset) + compose("ㅇ", vowel, coda) + word[index + 2 :]


def _other(word: str, index: int, rng: random.Random) -> int | None:
    """The index of another syllable, the next one or the one after it."""
    other = index + (2 if rng.random() < ONE_APART_SHARE else 1)
    return other if other < len(word) and known_words().is_common(word) else None


def syllables_swapped(word: str, index: int, rng: random.Random) -> str | None:
    """Two syllables change places: 선생님 -> 생선님, 물고기 -> 고물기, 도서관 -> 도관서."""
    other = _other(word, index, rng)
    if other is None or len(word) < SHORTEST_SWAPPED:
        return None
    return word[:index] + word[other] + word[index + 1 : other] + word[index] + word[other + 1 :]


def jamo_exchanged(word: str, index: int, rng: random.Random) -> str | None:
    """The same part (initial, medial or final) of two syllables changes places: 물고기 -> 굴모기, 도서관 -> 더소관, 전화 -> 저환."""
    other = _other(word, index, rng)
    if other is None:
        return None
    one, two = list(decompose(word[index])), list(decompose(word[other]))
    part = rng.randrange(3)
    one[part], two[part] = two[part], one[part]
    return word[:index] + compose(*one) + word[index + 1 : other] + compose(*two) + word[other + 1 :]


def syllable_doubled(word: str, index: int, rng: random.Random) -> str | None:
    """A syllable is written twice: 우리는 -> 우리리는, 학교에 -> 학학교에.

    Not a word of one syllable (꼭꼭), nor what repeats itself anyway (하나하나), nor what draws the end out (그래애) or is
    another form (가지지, 먹었었다).
    """
    half = len(word) // 2
    if len(word) < 2 or word[:half] == word[-half:] or word[index] == "었":
        return None
    initial, _, final = decompose(word[index])
    ends = index == len(word) - 1
    if ends and ((initial == "ㅇ" and not final) or word[index] in "지니고"):
        return None
    if word[index] in word[max(0, index - 1) : index] + word[index + 1 : index + 2]:
        return None
    return word[:index] + word[index] + word[index:]


def syllable_missing(word: str, index: int, rng: random.Random) -> str | None:
    """A syllable of a common word is not written: 도서관에 -> 도관에, 시간이 -> 시이, 안녕하세요 -> 안하세요.

    In a longer noun it is one between the first and the last, if no other noun leaves the same, and that is no noun. In a noun of two
    syllables it is the second, seldom, and only if the particle does not fit the first: that shows that something is missing.
    """
    known, start = known_words(), particle_start(word)
    if start < 2 or word[:start] not in known.common_nouns:
        return _missing_in_word(word, rng)
    gone = rng.randrange(1, max(2, start - 1))  # chosen anew: few words have such a syllable
    left = word[:gone] + word[gone + 1 :]
    noun = left[: start - 1]
    if start == 2:
        fits = bool(decompose(word[0])[2]) == bool(decompose(word[1])[2])
        return None if fits or rng.random() > SHORT_SHARE else left
    return left if known.shortened[noun] == 1 and noun not in known.nouns else None


def _missing_in_word(word: str, rng: random.Random) -> str | None:
    known = known_words()
    if len(word) < SHORTEST_SHORTENED or word not in known.common:
        return None
    gone = rng.randrange(1, len(word) - 1)
    left = word[:gone] + word[gone + 1 :]
    return left if known.shortened_words[left] == 1 else None
