"""Notes that people chat: no full stops, laughing and weeping, names, times, mentions, hashtags."""

import re
from collections.abc import Callable

from training.noise.pieces import Pieces, RegisterPart, left_alone, prose, verbatim

_ENDS = (
    "ㅋㅋ ㅋㅋㅋ ㅋㅋㅋㅋ ㅎㅎ ㅎㅎㅎ ㅠㅠ ㅜㅜ ㅠ ㅋ ㅎ ^^ ^^; ^_^ ;; ;;; ~~ ~ ~~~ !! !!! ?? ?! ... .. … :) :( :D ^0^ -_- ㅡㅡ >_< T_T "
    "(웃음) (농담) ♥ ❤ 😊 😂 🙏 👍 🎉 ★"
).split()
_ANSWERS = "ㅇㅇ ㅇㅋ ㄴㄴ ㄱㄱ ㅇㅈ ㄱㅅ ㄷㄷ ㅎㅇ ㅊㅋ 헐 네 응 아하 음 와 앗 어".split()
_END_MARK = re.compile(r"[.!?…]+$")


def ended(words: Pieces) -> list[RegisterPart]:
    """``희한하네^^``, ``내일 봐 ㅋㅋ``"""
    return [prose(_unmarked(words)), left_alone(words.one("", " ") + words.one(*_ENDS))]


def begun(words: Pieces) -> list[RegisterPart]:
    """``ㅇㅇ 지금 가는 중``"""
    return [left_alone(words.one(*_ANSWERS) + words.one(" ", " ", ", ", "... ")), prose(_unmarked(words))]


def interrupted(words: Pieces) -> list[RegisterPart]:
    """``나 지금 왔어 ㅋㅋ 어디야``"""
    return [prose(words.phrase(4)), left_alone(f" {words.one(*_ENDS)} "), prose(words.phrase(4))]


def said(words: Pieces) -> list[RegisterPart]:
    """``민수: 오늘 몇 시에 봐``"""
    name = words.name()
    who = words.one(
        f"{name}: ",
        f"{name} : ",
        f"{name}: ",
        f"<{name}> ",
        f"{name} > ",
        f"{name} - ",
        f"({name}) ",
        f"{name}> ",
    )
    return [left_alone(who), prose(_unmarked(words))]


def time_stamped(words: Pieces) -> list[RegisterPart]:
    """``[지영] [오후 3:12] 나 먼저 갈게``"""
    name, half = words.name(), words.one("오전", "오후")
    time = f"{words.rng.randint(1, 12)}:{words.rng.randint(0, 59):02}"
    stamp = words.one(
        f"[{name}] [{half} {time}] ",
        f"{half} {time} {name}: ",
        f"[{time}] {name}: ",
        f"{time} ",
        f"{name} ({half} {time}) ",
    )
    return [left_alone(stamp), prose(_unmarked(words))]


def mention(words: Pieces) -> list[RegisterPart]:
    """``@민수 회의 자료 보내 주세요``, ``결석 2회 @민수``"""
    at, text = left_alone("@" + words.name()), prose(_unmarked(words))
    if words.rng.random() < 0.3:
        at = left_alone(at.text + " @" + words.name())
    return [at, left_alone(" "), text] if words.rng.random() < 0.6 else [text, left_alone(" "), at]


def hashtags(words: Pieces) -> list[RegisterPart]:
    """``드디어 끝났다 #오늘의운동``: what follows # is one word, however many words it joins."""
    tags = [verbatim(squashed(words.phrase(3))) for _ in range(words.rng.randint(1, 3))]
    parts = [part for tag in tags for part in (left_alone(" #"), tag)]
    if words.rng.random() < 0.3:
        return [left_alone("#"), *parts[1:]]
    return [prose(_unmarked(words)), *parts]


def bare(words: Pieces) -> list[RegisterPart]:
    """A sentence without its full stop, or two in a row: ``나 왔어 어디야``."""
    first = prose(_unmarked(words))
    return (
        [first, left_alone(words.one(" ", " / ", "~ ", ", ")), prose(words.phrase(3))]
        if words.rng.random() < 0.4
        else [first]
    )


def aside(words: Pieces) -> list[RegisterPart]:
    """``내일 가요 (비가 오면 못 가요)``"""
    opening, closing = tuple(words.one("()", "()", "[]", "{}"))
    return [
        prose(words.phrase(4)),
        left_alone(words.one(" ", "") + opening),
        prose(words.phrase(3)),
        left_alone(closing),
    ]


def squashed(text: str) -> str:
    return text.replace(" ", "")


def _unmarked(words: Pieces) -> str:
    return _END_MARK.sub("", words.sentence()) if words.rng.random() < 0.5 else words.phrase()


CHAT: tuple[Callable[[Pieces], list[RegisterPart]], ...] = (
    ended,
    begun,
    interrupted,
    said,
    time_stamped,
    mention,
    hashtags,
    bare,
    aside,
)
