"""Refuses changes that lose a word or add one. A correction may only write the same words in another way.

The network's confidence is no help here: when a word is said twenty times it drops nine of them at a probability of 0.999. The only
word that may go is one that was typed twice by mistake.
"""

import re
import unicodedata
from itertools import groupby

from rapidfuzz.distance import Levenshtein

from model.text.changes import Change
from model.text.hangul import is_hangul
from model.text.sentences import Span

LEAST_ALIKE = 0.25  # of a word's jamo, in order: of 꼬치 all four stand in 꽃이, of 저녁 one stands in 아침
# A word that is joined to the one before needs more than this: 주말 에 → 주말에, but not 하늘 씨 → 하늘이
LEAST_ALIKE_JOINED = 0.5
MOST_NEW = 2  # syllables that a change may add: 시이 → 시간이, 학교 → 학교에서

_WORD = re.compile(r"\S+")


def spares_words(change: Change, source: str) -> bool:
    """Whether each word of ``source`` that the change covers is still there, written in whatever way, and no other has come.

    >>> spares_words(Change(3, 3, 3, 6, "", "마지막"), "그 일")
    False
    """
    if not _has_hangul(change.wrong) and not _has_hangul(change.right):
        return True
    if _syllables(change.right) - _syllables(change.wrong) > MOST_NEW:
        return False
    covered = _covered_words(change, source)
    if not _has_hangul(change.right):
        return not covered or (len(covered) == 1 and _is_doubled(covered[0], source))
    if not _has_hangul(change.wrong):
        return _is_beside_letters(change, source)
    kept = _kept_jamo(change)
    shares = {word: _share_kept(word, change.source_start, change.wrong, kept) for word in covered}
    if _joins(change) and any(share <= LEAST_ALIKE_JOINED for share in shares.values()):
        return False
    gone = [word for word, share in shares.items() if share < LEAST_ALIKE]
    # One word may give way to another one (저희 나라 → 우리나라), but not to a shorter text.
    return not gone or (len(gone) == 1 and _syllables(change.right) >= _syllables(change.wrong))


def _joins(change: Change) -> bool:
    """Whether what the change writes is joined to the word before, which the source set apart."""
    return change.wrong[:1].isspace() and not change.right[:1].isspace()


def _has_hangul(text: str) -> bool:
    return any(map(is_hangul, text))


def _syllables(text: str) -> int:
    return sum(map(is_hangul, text))


def _covered_words(change: Change, source: str) -> list[Span]:
    """The words of Hangul that the change covers from their beginning to their end."""
    start, end = change.source_start, change.source_end
    # Beside a letter the change covers only a part of the word at that edge.
    begins_whole, ends_whole = (
        not source[max(start - 1, 0) : start].isalnum(),
        not source[end : end + 1].isalnum(),
    )
    words = (
        Span(*found.span()) for found in _WORD.finditer(source, start, end) if _has_hangul(found.group())
    )
    return [each for each in words if (each.start > start or begins_whole) and (each.end < end or ends_whole)]


def _kept_jamo(change: Change) -> list[bool]:
    """For each jamo of ``wrong`` whether it stands in ``right``, too, in this order."""
    wrong, right = (unicodedata.normalize("NFD", text) for text in (change.wrong, change.right))
    kept = [False] * len(wrong)
    for block in Levenshtein.opcodes(wrong, right):
        if block.tag == "equal":
            kept[block.src_start : block.src_end] = [True] * (block.src_end - block.src_start)
    return kept


def _share_kept(word: Span, start: int, wrong: str, kept: list[bool]) -> float:
    """Which share of the jamo of a word is kept; ``wrong`` begins at ``start`` of the source."""
    first, last = (
        len(unicodedata.normalize("NFD", wrong[: place - start])) for place in (word.start, word.end)
    )
    return sum(kept[first:last]) / (last - first)


def _is_doubled(word: Span, source: str) -> bool:
    """Whether the word stands there exactly twice in a row, in a text of more words. (A text of nothing but two equal words says
    them twice on purpose.)
    """
    words, said = _WORD.findall(source), source[word.start : word.end]
    runs = (len(list(same)) for text, same in groupby(words) if text == said)
    return max(runs, default=0) == 2 < len(words)


def _is_beside_letters(change: Change, source: str) -> bool:
    """Whether the inserted text belongs to a word that is already there."""
    before, after = source[: change.source_start][-1:], source[change.source_end :][:1]
    joins_before = is_hangul(before) and not change.right[0].isspace()
    joins_after = is_hangul(after) and not change.right[-1].isspace()
    return joins_before or joins_after
