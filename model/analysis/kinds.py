"""Which kind of mistake a change repairs. The kind is read from the two spellings alone."""

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import OSA

from model.analysis.sounds import carried_over, rules_between, sound_alike
from model.text.changes import Change, find_changes
from model.text.hangul import decompose, is_hangul, is_syllable
from model.text.keyboard import STROKES

KINDS = ("spacing", "liaison", "sound", "jamo", "word")

_CONTEXT = 2  # characters on each side: the next syllable, also where a space lies between
_HEARD_LETTERS = ("", *"ㄱㄴㄷㄹㅁㅂㅅㅇ")  # how the seven codas that can be heard are written, ㅅ for ㄷ too


def kind_of(change: Change, source: str, target: str) -> str:
    """One of KINDS, the first that fits a change from ``source`` to ``target``:

    spacing: only white space differs.
    liaison: both spellings sound alike, and a coda stands as the onset of the next syllable or the other
        way round (바비 → 밥이, 설겆이 → 설거지). Other rules of sound may take part (갱니믈 → 객님을).
    sound: both spellings sound alike by the rules of pronunciation, as ``model.analysis.sounds`` has them
        (궁물 → 국물, 가치 → 같이, 할께 → 할게, 되요 → 돼요).
    jamo: Hangul in which a single jamo, or a single key of the keyboard, is wrong, missing, too much or
        swapped with the next one (날싸 → 날씨, 안녀ㅇ → 안녕). Also a coda that makes a syllable that Korean
        does not use (늖 → 는): it may sound alike, but nobody spells so by ear.
    word: anything else; another word, another ending, punctuation, several slips at once.

    It is a description of the difference, not of what the writer was thinking: 낳다 for 낫다 is one jamo.

    Raises ValueError for a change whose offsets belong to other texts.

    >>> from model.text.changes import find_changes
    >>> [kind_of(*find_changes(a, b), a, b) for a, b in (("바비", "밥이"), ("궁물", "국물"), ("할수", "할 수"))]
    ['liaison', 'sound', 'spacing']
    """
    _refuse_strangers(change, source, target)
    if "".join(change.wrong.split()) == "".join(change.right.split()):
        return "spacing"
    if _is_stray_coda(change.wrong, change.right):
        return "jamo"
    if pair := _heard_alike(change, source, target):
        return "liaison" if _has_liaison(*pair) else "sound"
    return "jamo" if _is_one_jamo(change.wrong, change.right) else "word"


def kinds_of(change: Change, source: str, target: str) -> tuple[str, ...]:
    """``kind_of``, after "spacing" where letters and spaces change together: 안되 → 안 돼 is ("spacing", "sound").

    Raises ValueError as ``kind_of`` does.
    """
    kind = kind_of(change, source, target)
    return (kind,) if kind == "spacing" or not _moves_a_space(change) else ("spacing", kind)


def sound_rules(change: Change, source: str, target: str) -> tuple[str, ...]:
    """By which rules of pronunciation a change is heard as what was typed, some of ``sounds.RULES`` in their order.

    Empty where the change is no question of sound, and where no rule with a name decides it (강기 → 감기).

    >>> [sound_rules(*find_changes(a, b), a, b) for a, b in (("궁물", "국물"), ("갱니믈", "객님을"), ("강기", "감기"))]
    [('nasalisation',), ('nasalisation', 'liaison'), ()]
    """
    if kind_of(change, source, target) not in ("liaison", "sound"):
        return ()
    alike = _heard_alike(change, source, target)
    return rules_between(*alike) if alike else ()


def _refuse_strangers(change: Change, source: str, target: str) -> None:
    typed = source[change.source_start : change.source_end]
    corrected = target[change.target_start : change.target_end]
    if (typed, corrected) != (change.wrong, change.right):
        raise ValueError(
            f"the change should stand in its texts of {len(source)} and {len(target)} characters, "
            f"received one of {change.place}"
        )


def _moves_a_space(change: Change) -> bool:
    """Whether white space is added or removed between letters, or stands elsewhere among as many characters."""
    if not (change.wrong.strip() and change.right.strip()):
        return False  # a word that goes takes its space along
    typed, corrected = ([c.isspace() for c in text] for text in (change.wrong, change.right))
    return typed != corrected if len(typed) == len(corrected) else sum(typed) != sum(corrected)


def _heard_alike(change: Change, source: str, target: str) -> tuple[str, str] | None:
    """(typed, corrected): the change with as many neighbours as make both sound alike; None if no number of them does."""
    return next((pair for pair in _in_context(change, source, target) if sound_alike(*pair)), None)


def _in_context(change: Change, source: str, target: str) -> Iterator[tuple[str, str]]:
    """(typed, corrected): the change between its neighbours, once with these corrected and once as they were typed.

    Then the same with the change before it, and with the one behind it: 오 탄 and 옷 한 differ in two places that explain each other.
    """
    near = [each for each in _changes_between(source, target) if _gap(each, change) <= _CONTEXT]
    for first, last in ((change, change), *(sorted((change, each), key=_start) for each in near)):
        spans = (first.source_start, last.source_end), (first.target_start, last.target_end)
        typed, corrected = source[slice(*spans[0])], target[slice(*spans[1])]
        for text, (start, end) in zip((target, source), reversed(spans), strict=True):
            before, after = text[max(start - _CONTEXT, 0) : start], text[end : end + _CONTEXT]
            yield before + typed + after, before + corrected + after


# All changes of a sentence are asked about, one after the other.
_changes_between = lru_cache(maxsize=8)(find_changes)


def _start(change: Change) -> tuple[int, int]:
    return change.source_start, change.target_start


def _gap(one: Change, other: Change) -> float:
    """How many characters of the source lie between two changes; infinite for a change and itself."""
    first, last = sorted((one, other), key=_start)
    return last.source_start - first.source_end if first != last else math.inf


def _has_liaison(typed: str, corrected: str) -> bool:
    """Whether a coda of one text stands as the next onset in the other, syllable for syllable."""
    typed, corrected = ("".join(text.split()) for text in (typed, corrected))
    if len(typed) != len(corrected):
        return False
    pairs = list(zip(pairwise(typed), pairwise(corrected), strict=True))
    return any(_carries(one, other) or _carries(other, one) for one, other in pairs)


def _carries(moved: tuple[str, str], kept: tuple[str, str]) -> bool:
    if not all(map(is_syllable, (*moved, *kept))):
        return False
    (_, _, coda), (initial, _, _) = map(decompose, kept)
    (_, _, left), (onset, _, _) = map(decompose, moved)
    return initial == "ㅇ" and left != coda and onset in carried_over(coda)


def _is_one_jamo(wrong: str, right: str) -> bool:
    if not all(is_hangul(c) or c.isspace() for c in wrong + right):
        return False
    slots = _slots(wrong), _slots(right)
    if len(slots[0]) == len(slots[1]) and sum(a != b for a, b in zip(*slots, strict=True)) == 1:
        return True
    return OSA.distance(*("".join(STROKES.get(jamo, jamo) for jamo in each) for each in slots)) <= 1


def _is_stray_coda(wrong: str, right: str) -> bool:
    """Whether one syllable differs in its coda only and is none of the 2,350 syllables of KS X 1001, which are the ones in
    use. Nobody spells such a syllable by ear.
    """
    if not (len(wrong) == len(right) == 1 and is_syllable(wrong) and is_syllable(right)):
        return False
    (*start, coda), (*other, _) = decompose(wrong), decompose(right)
    in_use = len(wrong.encode("euc_kr")) == 2  # this encoding spells out any other syllable
    return start == other and coda not in _HEARD_LETTERS and not in_use


def _slots(text: str) -> list[str]:
    """Initial, medial and final of each syllable ("" without a coda); other characters as they are."""
    return [jamo for c in text for jamo in (decompose(c) if is_syllable(c) else (c,))]
