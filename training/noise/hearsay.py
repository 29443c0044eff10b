"""Turns statements into hearsay (했대, 온대요, 없다며?, 책이래). It is right as it is, and the network practises to leave it.

Written language hardly has it; a network that never met it takes 대 for a slip in 다. Sources: 표준국어대사전 '-대', '-ㄴ대', '-래', '-재',
'-다며', '-다던데'.
"""

import random
import re
from typing import NamedTuple

from model.text.hangul import FINALS, syllables_with_coda


class _ToldEnding(NamedTuple):
    """An ending of a statement, and the ending with which somebody else tells it."""

    stated: re.Pattern
    told: tuple[str, ...]


_CLOSED = syllables_with_coda(*FINALS[1:])
_MARK = r"[.!]?$"
_SAID = (*("대",) * 4, *("대요",) * 3, "다며", "다면서", "다던데", "다더라", "다니까")
_ENDINGS = (
    _ToldEnding(re.compile(rf"(?<=[{syllables_with_coda('ㅆ')}없])(?:다|습니다|어요?){_MARK}"), _SAID),
    # After ㄴ only verbs have 다: 간다, 먹는다. Of adjectives only a few are listed: a word with 하다 may be a verb, too.
    _ToldEnding(re.compile(rf"(?<=[{syllables_with_coda('ㄴ')}많좋싫같싶])다{_MARK}"), _SAID),
    _ToldEnding(
        re.compile(rf"(?<=[{_CLOSED}])이다{_MARK}"), ("이래", "이래요", "이라며", "이라던데", "이라니까")
    ),
    _ToldEnding(re.compile(rf"(?<=아니)다{_MARK}"), ("래", "래요", "라며", "라던데")),
    _ToldEnding(re.compile(rf"(?<=[하가보먹오])자{_MARK}"), ("재", "재요", "자던데", "자며")),
)
_END_MARKS = ("", ".", ".", "?", "!")


def as_hearsay(text: str, rng: random.Random) -> str:
    """The sentence as somebody tells it who has heard it; unchanged if its ending is not known here.

    >>> as_hearsay("비가 온다.", random.Random(0))
    '비가 온대요?'
    """
    for stated, told in _ENDINGS:
        if stated.search(text):
            return stated.sub("", text) + rng.choice(told) + rng.choice(_END_MARKS)
    return text
