"""Finds the spaces between two nouns that may be left out: 대기 오염 and 대기오염 are both right.

한글 맞춤법 제2항 separates all words, but 제50항 lets the words of a technical term be joined, and no dictionary lists all such terms.
So leaving such a space out is no mistake. A network that had to put it back would learn to change right texts. Kiwi tells which words
are nouns (``model.correction.morphemes``).

A space stays obligatory beside a noun of time, place, measure or person (오늘일출, 도로주변, 엄마친구) and beside a name (제48항, 제49항).
It also stays beside a noun of one syllable (책값, 시험때), because those are often half of another word.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from model.correction.morphemes import cut

_TIME = (
    "오늘|내일|모레|글피|어제|그제|지금|이제|요즘|요새|최근|당시|평소|아침|점심|저녁|새벽|오전|오후|주말|평일|매일|매주|매달|매년|하루|이틀|사흘|나흘"
    "|지난주|지난달|지난해|작년|올해|내년|[월화수목금토일]요일|이번|다음|저번|처음|마지막|나중|먼저|도중|무렵|이전|이후|이래|동안|당일|항상|언제|결국|원래"
)
_PLACE = "사이|가운데|근처|주변|내부|외부|아래|왼쪽|오른쪽|[앞뒤옆안위]쪽|바깥|바깥쪽|아래쪽|여기|거기|저기|어디|이쪽|그쪽|저쪽"
_MEASURE = "이상|이하|이내|이외|정도|전후|하나|모두|전부|전체|일부|대부분|나머지|기타|경우|관련|때문|각자|각각|서로|혼자|스스로|필요|최대|최소|약간|조금|특정|주요|기존|자체|만약"
_PERSON = "자신|자기|우리|저희|너희|누구|엄마|아빠|아버지|어머니|할머니|할아버지|동생|누나|언니|오빠|친구|아들|남편|아내|선생님|사람|여자|남자|아이"
_APART = re.compile(f"(?:{_TIME}|{_PLACE}|{_MEASURE}|{_PERSON}|[가-힣]+님)들?")
_OF_NOUNS = {"NNG", "XPN", "XSN"}  # a common noun, and what stands before and after its stem
_AFTER_NOUNS = ("J", "VCP", "S")  # a particle, the copula, a sign

TaggedSpan = tuple[str, int, int]  # tag, start, end


@lru_cache(maxsize=64)  # one sentence is asked about by several rules, and drawn again where they did nothing
def free_spaces(text: str) -> frozenset[int]:
    """The indices in ``text`` of the spaces between two nouns that may be joined."""
    words = _words(cut(text))
    return frozenset(
        before[-1][2]
        for before, after in pairwise(words)
        if text[before[-1][2] : after[0][1]] == " "
        and _joins_what_follows(text, before)
        and _joins_what_precedes(text, after)
    )


def _words(morphemes: Sequence[TaggedSpan]) -> list[list[TaggedSpan]]:
    """The morphemes of each word: those with nothing between them."""
    words: list[list[TaggedSpan]] = []
    for morpheme in morphemes:
        if words and words[-1][-1][2] >= morpheme[1]:
            words[-1].append(morpheme)
        else:
            words.append([morpheme])
    return words


def _joins_what_follows(text: str, word: Sequence[TaggedSpan]) -> bool:
    """Whether the word consists of nouns only, and its last one may be joined to another."""
    tags = {tag for tag, _, _ in word}
    if tags - _OF_NOUNS or tags == {"XSN"}:  # the latter: 들 alone
        return False
    last = max(index for index, (tag, _, _) in enumerate(word) if tag != "XSN")  # 개발|자
    return _is_joinable(text, word[last][1], word[-1][2])


def _joins_what_precedes(text: str, word: Sequence[TaggedSpan]) -> bool:
    """Whether the word begins with a noun that may be joined to another and that no verb is made of (준비하다)."""
    nouns = 0
    while nouns < len(word) and word[nouns][0] in _OF_NOUNS:
        nouns += 1
    if not nouns or (nouns < len(word) and not word[nouns][0].startswith(_AFTER_NOUNS)):
        return False
    end = word[0][2]
    if nouns > 1 and (word[0][0] == "XPN" or word[1][0] == "XSN"):
        end = word[1][2]
    return _is_joinable(text, word[0][1], end)


def _is_joinable(text: str, start: int, end: int) -> bool:
    return end - start >= 2 and not _APART.fullmatch(text, start, end)
