"""Generator of right sentences that look mistaken: laughing, hearsay, drawn-out ends.

All of it is written on purpose and has to stay (ㅋㅋㅋ, 온대요, 감사합니다아, 빨리빨리, ㄱㅅ). No corpus of
well-written sentences has it, and a network that has practised slips alone would change it: 대 would be a
slip in 다.

The 표준국어대사전 tells which doubled adverbs are one word (빨리빨리, 오래오래); the others are written apart
(정말 정말). Its entries for hearsay: '-대', '-ㄴ대', '-래', '-재', '-다며', '-다던데'.
"""

import random
import re
from collections.abc import Callable

from model.text.hangul import FINALS, compose, decompose, is_syllable, syllables_with_coda
from training.noise import rates_of, words_of

LAUGHS = ("ㅋ", "ㅎ")
TEARS = ("ㅠ", "ㅜ")
_LISTS = words_of("lookalikes")
ANSWERS = _LISTS["answers"]
MOST = 6  # of one letter, usually; now and then far more
END_MARKS = ".!?~"


def laughter(rng: random.Random) -> str:
    """ㅋㅋㅋ, ㅠㅠ, ㅇㅇ and the like; one letter of ㅋ or ㅎ alone is possible, one tear hardly.

    >>> laughter(random.Random(0))
    'ㅜㅜㅜㅜㅜㅜ'
    """
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(ANSWERS)
    letter = rng.choice(LAUGHS if kind < 0.7 else TEARS)
    least = 1 if letter in LAUGHS else 2
    count = rng.randint(least, MOST) if rng.random() < 0.95 else rng.randint(MOST, 3 * MOST)
    return letter * count


def add_laughter(wrong: str, right: str, rng: random.Random) -> tuple[str, str]:
    """Both sides of a pair with the same laughter at the end, apart or attached, or before the first word.

    >>> add_laughter("조아", "좋아", random.Random(1))
    ('조아ㅋㅋㅋㅋ', '좋아ㅋㅋㅋㅋ')
    """
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


_CLOSED = syllables_with_coda(*FINALS[1:])
_MARK = r"[.!]?$"
_SAID = (*("대",) * 4, *("대요",) * 3, "다며", "다면서", "다던데", "다더라", "다니까")
# Endings of a statement, and the same as hearsay.
_ENDINGS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(rf"(?<=[{syllables_with_coda('ㅆ')}없])(?:다|습니다|어요?){_MARK}"), _SAID),
    # After ㄴ only verbs have 다: 간다, 먹는다. Of adjectives only a few are listed: a word with 하다 may be
    # a verb, too.
    (re.compile(rf"(?<=[{syllables_with_coda('ㄴ')}많좋싫같싶])다{_MARK}"), _SAID),
    (re.compile(rf"(?<=[{_CLOSED}])이다{_MARK}"), ("이래", "이래요", "이라며", "이라던데", "이라니까")),
    (re.compile(rf"(?<=아니)다{_MARK}"), ("래", "래요", "라며", "라던데")),
    (re.compile(rf"(?<=[하가보먹오])자{_MARK}"), ("재", "재요", "자던데", "자며")),
)
_END_MARKS = ("", ".", ".", "?", "!")


def as_hearsay(text: str, rng: random.Random) -> str:
    """The sentence as hearsay; unchanged if its ending is not known here.

    >>> as_hearsay("비가 온다.", random.Random(0))
    '비가 온대요?'
    """
    for stated, told in _ENDINGS:
        if stated.search(text):
            return stated.sub("", text) + rng.choice(told) + rng.choice(_END_MARKS)
    return text


DOUBLED = {word: word * 2 for word in _LISTS["doubled_joined"]}
DOUBLED |= {word: f"{word} {word}" for word in _LISTS["doubled_apart"]}
_DOUBLED = re.compile(rf"(?<![가-힣ㄱ-ㅣ])(?:{'|'.join(DOUBLED)})(?= [가-힣])(?! (?:{'|'.join(DOUBLED)}))")
# The vowel that is heard when a syllable is drawn out; others are heard as themselves.
_HEARD = dict(zip("ㅑㅕㅛㅠㅖㅒㅘㅝㅙㅚㅞㅟㅢ", "ㅏㅓㅗㅜㅔㅐㅏㅓㅐㅔㅔㅣㅣ", strict=True))
MOST_DRAWN_OUT = 4  # times that a vowel is written again
LOOSE_SHARE = 0.25  # of drawn-out ends are written in single vowels: 네ㅔㅔ


def drawn_out(text: str, rng: random.Random) -> str:
    """The text with its last syllable drawn out: 감사합니다 -> 감사합니다아, 그래? -> 그래애?, 정말 ->
    정마알, 네 -> 네ㅔㅔ.

    Unchanged if it does not end in a syllable.

    >>> drawn_out("감사합니다", random.Random(0))
    '감사합니다ㅏㅏ~'
    """
    words = text.rstrip(END_MARKS)
    if not words or not is_syllable(words[-1]):
        return text
    initial, medial, final = decompose(words[-1])
    heard = _HEARD.get(medial, medial)
    count = rng.choice((1, 1, 1, 2, 2, rng.randint(3, MOST_DRAWN_OUT)))
    if final:
        last = compose(initial, medial) + compose("ㅇ", heard) * (count - 1) + compose("ㅇ", heard, final)
    else:
        last = words[-1] + (heard if rng.random() < LOOSE_SHARE else compose("ㅇ", heard)) * count
    wave = rng.choice(("", "", "~"))
    return words[:-1] + last + wave + text[len(words) :]


def _with_initials(text: str, rng: random.Random) -> str:
    """ㄱㅅ and the like before the sentence or behind it."""
    initials = rng.choice(_LISTS["initials"])
    return f"{initials} {text}" if rng.random() < 0.5 else f"{text} {initials}"


def _with_cry(text: str, rng: random.Random) -> str:
    """A cry before the sentence, often drawn out: 와아, 우와!, 네에~."""
    cry = rng.choice(_LISTS["cries"])
    cry = drawn_out(cry, rng) if rng.random() < 0.6 else cry
    return f"{cry}{rng.choice((',', '!', '~', '', '...'))} {text}"


def with_doubled_adverb(text: str, rng: random.Random) -> str:
    """An adverb doubled: 빨리 와 -> 빨리빨리 와, 정말 좋아 -> 정말 정말 좋아; as it is without such an
    adverb.

    >>> with_doubled_adverb("빨리 와", random.Random(0))
    '빨리빨리 와'
    """
    found = list(_DOUBLED.finditer(text))
    if not found:
        return text
    place = rng.choice(found)
    return text[: place.start()] + DOUBLED[place[0]] + text[place.end() :]


def _with_laughter(text: str, rng: random.Random) -> str:
    """ㅋㅋㅋ, ㅠㅠ and the like (``laughter``)."""
    return add_laughter(text, text, rng)[1]


_WAYS: dict[str, Callable[[str, random.Random], str]] = {
    "doubled_adverb": with_doubled_adverb,
    "drawn_out": drawn_out,
    "cry": _with_cry,
    "initials": _with_initials,
    "laughter": _with_laughter,
}
_SHARES = rates_of("lookalikes")


def make_right_lookalike(text: str, rng: random.Random) -> tuple[str, str]:
    """(text, text), with a part that looks like a slip and is none: the network practises to leave it.

    >>> make_right_lookalike("고마워.", random.Random(3))
    ('고마워어.', '고마워어.')
    """
    (way,) = rng.choices(list(_SHARES), list(_SHARES.values()))
    changed = _WAYS[way](text, rng)
    if changed == text:  # this sentence has no place for it
        changed = rng.choice((_with_laughter, _with_initials, _with_cry))(text, rng)
    return changed, changed
