"""Particles of the wrong shape, and particles and words that are written twice.

Each function is given a word, the index of one of its syllables (which does not matter here) and a source of chance. It
returns what is written then, or None where it has nothing to do. What looks like a particle counts as one only behind a
known noun: 배우는 may be 배우 with 는, but 그리는 is not 그리 with 는.

Sources: 표준국어대사전 for the shapes of particles; 표준어 규정 제26항 for 이에요. Behind a vowel 이라고, 이며 and 이었다 are right,
too (친구이며), so only the shapes behind a consonant lose their 이 here.
"""

import random

from model.text.hangul import decompose
from training.noise.known_words import known_words

_CHANGED = "은/는 이/가 을/를 과/와 이랑/랑 이야말로/야말로 은커녕/는커녕 " + " ".join(
    f"으로{tail}/로{tail}" for tail in ("", "는", "도", "만", "서", "써", "부터")
)
_SHORTENED = "이나/나 이라는/라는 이라고/라고 이라도/라도 이며/며 이든지/든지 이었다/였다 이었습니다/였습니다 이었어요/였어요"
WRONG_SHAPES: dict[str, tuple[str, ...]] = {
    **{one: (other,) for pair in _CHANGED.split() for one, other in (pair.split("/"), pair.split("/")[::-1])},
    **{one: (other,) for one, other in (pair.split("/") for pair in _SHORTENED.split())},
    "이에요": ("예요", "이예요", "에요"),
    "예요": ("에요",),
}
# Shapes that have no entry of their own among the particles, because they look like endings of verbs.
_LOOKALIKES = {"나": "이나", "야": "아", "아": "야", "이야": "야"}
_NOT_BEFORE_NA = frozenset("언제 어디 누구 얼마 하나".split())  # 언제나, 누구나
_NOT_BEFORE_YA = frozenset("어아해와여워혀려춰줘서")  # 피해야 and 주어야 are verbs
_PRONOUNS = frozenset("나 너 저 내 제 네".split())  # nobody says 제이 for 제가
_NO_PARTICLE = ("사랑", "자랑")  # 참사랑 is not 참사 with 랑
# Not 만 and 도: 만만, 도도.
DOUBLED = frozenset("은 는 을 를 가 에 의 로 와 과 에서 에게 으로 까지 부터".split())
_WITH_DOUBLED_NOUN = frozenset("은 는 을 를 의 에서 에게 으로".split())
_DETERMINERS = frozenset("이 그 모든 어떤 이런 그런".split())


def particle_misshaped(word: str, index: int, rng: random.Random) -> str | None:
    """A particle in the shape that follows the other kind of syllable: 학교로 -> 학교으로, 바다와 -> 바다과, 책을 -> 책를."""
    start = known_words().particle_of_noun(word)
    noun, particle = word[:start], word[start:]
    if particle not in WRONG_SHAPES:
        return _lookalike_misshaped(word)
    if noun in _PRONOUNS or word.endswith(_NO_PARTICLE):
        return None
    if particle == "이에요" and noun.endswith("이"):
        return None  # 지영이에요 may be 지영이 with 예요
    return noun + rng.choice(WRONG_SHAPES[particle])


def _lookalike_misshaped(word: str) -> str | None:
    for right, wrong in _LOOKALIKES.items():
        noun = word.removesuffix(right)
        if noun == word or len(noun) < 2 or noun not in known_words().nouns:
            continue
        if (right == "나" and noun in _NOT_BEFORE_NA) or (right == "야" and noun[-1] in _NOT_BEFORE_YA):
            continue
        if bool(decompose(noun[-1])[2]) == (right in ("아", "이야")):
            return noun + wrong
    return None


def particle_doubled(word: str, index: int, rng: random.Random) -> str | None:
    """A particle is written twice: 편지를 -> 편지를를, 학교에서 -> 학교에서에서."""
    start = known_words().particle_of_noun(word)
    return word + word[start:] if start and word[start:] in DOUBLED else None


def word_doubled(word: str, index: int, rng: random.Random) -> str | None:
    """A noun with its particle or a determiner is written twice: 나는 -> 나는 나는, 모든 -> 모든 모든.

    What people double on purpose (빨리 빨리, 정말 정말, 하나하나) is no noun with such a particle.
    """
    start = known_words().particle_of_noun(word)
    doubles = word[start:] in _WITH_DOUBLED_NOUN if start else word in _DETERMINERS
    return f"{word} {word}" if doubles else None
