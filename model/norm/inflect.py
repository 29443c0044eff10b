"""Inflects a Korean predicate, rightly spelt or misspelt, from its three principal parts.

The parts are the forms before 고, before 면 and before 서: 잠그·잠그·잠가. The second may be left out if it follows from the
first: it is the same after a vowel or ㄹ, and has 으 after another consonant (한글 맞춤법 제15항, 제16항, 제18항).
"""

from typing import NamedTuple

from model.text.hangul import compose, decompose

CODAS = "ㄴㄹㅁㅂ"  # an ending that begins with one of these closes the syllable before it: -ㄴ, -ㄹ, -ㅁ, -ㅂ니다


class Stem(NamedTuple):
    """The three principal parts of a predicate."""

    plain: str  # before 고, 지, 는
    linked: str  # before 면, 니까, ㄴ, ㄹ, ㅁ, ㅂ니다
    infinitive: str  # before 서, 요, ㅆ다


def stem(parts: str) -> Stem:
    """The parts that stand between the dots; where there are two, the second follows from the first.

    >>> [stem(parts).linked for parts in ("묻·물으·물어", "잡·잡아", "만들·만들어")]
    ['물으', '잡으', '만들']
    """
    plain, *linked, infinitive = parts.split("·")
    return Stem(plain, linked[0] if linked else _linked(plain), infinitive)


def _linked(plain: str) -> str:
    return plain if decompose(plain[-1])[2] in ("", "ㄹ") else plain + "으"


def attach(linked: str, ending: str) -> str:
    """The linked stem with an ending. ㄹ is lost before ㄴ, ㅂ, 오 and 시 (한글 맞춤법 제18항 1).

    >>> attach("잠그", "ㄴ"), attach("만들", "ㅁ"), attach("만들", "니까")
    ('잠근', '만듦', '만드니까')
    """
    initial, medial, final = decompose(linked[-1])
    bare = linked[:-1] + compose(initial, medial)
    if ending[0] in CODAS:
        coda = "ㄻ" if (final, ending[0]) == ("ㄹ", "ㅁ") else ending[0]
        return linked[:-1] + compose(initial, medial, coda) + ending[1:]
    return (bare if final == "ㄹ" and ending[0] in "니네는세시오" else linked) + ending


def formal(parts: Stem) -> str:
    """What stands before 니다; after a consonant other than ㄹ that is 습 (표준어 규정 제17항).

    >>> [formal(stem(parts)) for parts in ("잠그·잠가", "만들·만들어", "빨갛·빨가·빨개")]
    ['잠급', '만듭', '빨갛습']
    """
    final = decompose(parts.plain[-1])[2]
    return attach(parts.plain, "ㅂ") if final in ("", "ㄹ") else parts.plain + "습"


def past(infinitive: str) -> str:
    """
    >>> past("잠가")
    '잠갔'
    """
    initial, medial, _ = decompose(infinitive[-1])
    return infinitive[:-1] + compose(initial, medial, "ㅆ")


def beginnings(right: str, wrong: str) -> list[tuple[str, str]]:
    """The beginnings of all forms of a predicate, (right, wrong), where the two differ.

    >>> beginnings("잠그·잠가", "잠구·잠궈")[:2]
    [('잠그', '잠구'), ('잠근', '잠군')]
    """
    good, bad = stem(right), stem(wrong)
    pairs = [(good.plain, bad.plain)]
    pairs += [(attach(good.linked, coda), attach(bad.linked, coda)) for coda in "ㄴㄹㅁ"]
    pairs += [(formal(good), formal(bad))]
    pairs += [(attach(good.linked, end), attach(bad.linked, end)) for end in ("면", "니까", "며", "려고")]
    pairs += [(good.infinitive, bad.infinitive), (past(good.infinitive), past(bad.infinitive))]
    return list(dict.fromkeys((one, other) for one, other in pairs if one != other))
