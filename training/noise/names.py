"""Names that nobody has seen, so that copying one syllable by syllable is practised too.

Half are spelt as 외래어 표기법 (국립국어원) spells foreign names: simple vowels, no tense initials (제4항), and of the
codas only ㄱ, ㄴ, ㄹ, ㅁ, ㅂ, ㅅ and ㅇ (제3항). The other half are of any syllables of KS X 1001: what a name
may be that follows no pattern at all.
"""

import random

from model.hangul import compose
from training.particles import particle
from training.vocabulary import KS_X_1001_SYLLABLES

INITIALS = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅓㅔㅕㅗㅛㅜㅠㅡㅣ"
CODAS = ("",) * 7 + tuple("ㄱㄴㄹㅁㅂㅅㅇ")
LONGEST = 5  # syllables of a name of one word
PARTS_SHARE = 0.25  # of the names have two or three short parts, as 응우옌 티 란 has
FOLLOWERS = (
    *("은/는", "이/가", "을/를", "과/와", "으로/로", "이라는/라는", "이라고/라고"),
    *("의", "에서", "에게", "에", "도", "까지", " 씨가", " 씨는", ""),
)


def made_up_name(rng: random.Random) -> str:
    """A word of 2 to LONGEST syllables that means nothing."""
    count = rng.randint(2, LONGEST)
    if rng.random() < 0.5:
        return "".join(rng.choices(KS_X_1001_SYLLABLES, k=count))
    return "".join(compose(*map(rng.choice, (INITIALS, VOWELS, CODAS))) for _ in range(count))


def name_in_parts(rng: random.Random) -> str:
    """Two or three words of 1 to 3 simple syllables, apart or with ·, that mean nothing."""
    parts = (
        "".join(compose(*map(rng.choice, (INITIALS, VOWELS, CODAS))) for _ in range(rng.randint(1, 3)))
        for _ in range(rng.choice((2, 2, 3)))
    )
    return rng.choice((" ", " ", " ", "·")).join(parts)


def made_up_phrase(rng: random.Random) -> str:
    """Such a name with a particle that agrees with it, with 씨, or alone."""
    name = name_in_parts(rng) if rng.random() < PARTS_SHARE else made_up_name(rng)
    follower = rng.choice(FOLLOWERS)
    return name + (particle(follower, name) if "/" in follower else follower)
