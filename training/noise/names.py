"""Makes up names, so that the network practises to copy a word that it does not know, syllable by syllable.

Half of the made-up names follow 외래어 표기법 (국립국어원) for foreign names: simple vowels, no tense initials (제4항), and as codas only ㄱ, ㄴ,
ㄹ, ㅁ, ㅂ, ㅅ and ㅇ (제3항). The other half are any syllables of KS X 1001, because names need not follow a pattern.

Half of the names with several short words are Vietnamese (the commonest family, middle and given names, spelt by 외래어 표기법 제3장),
because in Korean classes these are the most frequent names with spaces. Without them a network takes the spaces for mistakes.
"""

import random

from model.text.hangul import compose
from model.text.particles import particle
from training.vocabulary import KS_X_1001_SYLLABLES

INITIALS = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅓㅔㅕㅗㅛㅜㅠㅡㅣ"
CODAS = ("",) * 7 + tuple("ㄱㄴㄹㅁㅂㅅㅇ")
LONGEST = 5  # syllables of a name of one word
PARTS_SHARE = 0.4  # of the names have two or three short parts, as 응우옌 티 란 has
LIST_SHARE = 0.15  # of the names stand in a list with others
FAMILY_NAMES = (
    "응우옌 쩐 레 팜 후인 호앙 판 부 보 당 부이 도 호 응오 즈엉 리 다오 딘 찐 마이 르엉 까오 따 도안".split()
)
MIDDLE_NAMES = "티 티 티 반 반 민 응옥 타인 홍 득 꽝 흐우 쑤언 투 낌 바오 프엉 호아이 뚜언".split()
GIVEN_NAMES = (
    "란 남 흐엉 호아 마이 린 짱 타오 하 옌 훙 중 뚜언 롱 선 후이 하이 아인 응언 떰 늉 투이 응아 안 비 카인 푹 뚜 끄엉 "
    "히에우 로안 오아인 득 민 응옥 짜우 토 빈 꾸인 또안 비엣 쭝"
).split()
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


def vietnamese_name(rng: random.Random) -> str:
    """Family name, perhaps a middle name, given name."""
    middle = rng.choices(MIDDLE_NAMES, k=rng.random() < 0.8)
    return " ".join([rng.choice(FAMILY_NAMES), *middle, rng.choice(GIVEN_NAMES)])


def name_in_parts(rng: random.Random) -> str:
    """A Vietnamese name, or two or three words of 1 to 3 simple syllables, apart or with ·, that mean nothing."""
    if rng.random() < 0.5:
        return vietnamese_name(rng)
    parts = (
        "".join(compose(*map(rng.choice, (INITIALS, VOWELS, CODAS))) for _ in range(rng.randint(1, 3)))
        for _ in range(rng.choice((2, 2, 3)))
    )
    return rng.choice((" ", " ", " ", "·")).join(parts)


def any_name(rng: random.Random) -> str:
    return name_in_parts(rng) if rng.random() < PARTS_SHARE else made_up_name(rng)


def made_up_phrase(rng: random.Random) -> str:
    """Such a name, or a list of some, with a particle that agrees with it, with 씨, or alone."""
    names = [any_name(rng) for _ in range(rng.choice((2, 3)) if rng.random() < LIST_SHARE else 1)]
    follower = rng.choice(FOLLOWERS)
    return ", ".join(names) + (particle(follower, names[-1]) if "/" in follower else follower)
