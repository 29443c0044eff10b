"""Adds laughing and weeping (ㅋㅋㅋ, ㅎㅎ, ㅠㅠ) to both sides of a pair, so that the network practises to leave it.

No corpus of well-written sentences has it; a network that never met it takes it for slips.
"""

import random

from model.text.hangul import compose, decompose, is_syllable

LAUGHS = ("ㅋ", "ㅎ")
TEARS = ("ㅠ", "ㅜ")
ANSWERS = ("ㅇㅇ", "ㅇㅋ", "ㄴㄴ", "ㄱㄱ", "ㅇㅈ", "ㄳ", "ㄷㄷ")  # 응, 오케이, 아니, 가자, 인정, 감사, 덜덜
MOST = 6  # of one letter, usually; now and then far more
END_MARKS = ".!?~"


def laughter(rng: random.Random) -> str:
    """ㅋㅋㅋ, ㅠㅠ, ㅇㅇ and the like; one letter of ㅋ or ㅎ alone is possible, one tear hardly."""
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(ANSWERS)
    letter = rng.choice(LAUGHS if kind < 0.7 else TEARS)
    least = 1 if letter in LAUGHS else 2
    count = rng.randint(least, MOST) if rng.random() < 0.95 else rng.randint(MOST, 3 * MOST)
    return letter * count


def add_laughter(wrong: str, right: str, rng: random.Random) -> tuple[str, str]:
    """Both sides of a pair with the same laughter at the end, apart or attached, or before the first word."""
    laugh = laughter(rng)
    if rng.random() < (0.5 if laugh in ANSWERS else 0.15):
        return f"{laugh} {wrong}", f"{laugh} {right}"
    if rng.random() < 0.7:  # who laughs seldom writes a full stop
        wrong, right = wrong.rstrip(END_MARKS), right.rstrip(END_MARKS)
    if laugh[0] in LAUGHS and wrong[-1:] == right[-1:] and rng.random() < 0.3:
        wrong, right = _closed(wrong, laugh[0]), _closed(right, laugh[0])
        gap = ""
    else:
        gap = rng.choice(("", "", " "))
    return f"{wrong}{gap}{laugh}", f"{right}{gap}{laugh}"


def _closed(text: str, letter: str) -> str:
    """The text with ``letter`` below its last syllable, where that is open: 좋아요 -> 좋아욬."""
    if not text or not is_syllable(text[-1]) or decompose(text[-1])[2]:
        return text
    initial, medial, _ = decompose(text[-1])
    return text[:-1] + compose(initial, medial, letter)
