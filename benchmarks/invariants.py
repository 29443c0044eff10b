"""What holds for every correction of every text, whatever the text is made of.

Each function gives what is wrong, in words, for each place where its invariant does not hold. They need no network: they
look at a text, its correction, and what the text was composed of.
"""

import re
from collections.abc import Callable, Iterator

from rapidfuzz.distance import Levenshtein

from benchmarks.composed_texts import ComposedText
from model import Correction
from model.text import hangul
from model.text.changes import Change
from model.text.protected import protected
from model.text.sentences import split_sentences

MOST_LOST = 1 / 3  # of a word's letters; 않 -> 안 loses one of three, 않된다 -> 된다 three of eight
FAR_BELOW = 10.0  # times less probable than leaving the text as it is

_WORD = re.compile(r"[가-힣ㄱ-ㅣ]+")
_DOUBLE_FINALS = {
    "ㄳ": "ㄱㅅ", "ㄵ": "ㄴㅈ", "ㄶ": "ㄴㅎ", "ㄺ": "ㄹㄱ", "ㄻ": "ㄹㅁ", "ㄼ": "ㄹㅂ",
    "ㄽ": "ㄹㅅ", "ㄾ": "ㄹㅌ", "ㄿ": "ㄹㅍ", "ㅀ": "ㄹㅎ", "ㅄ": "ㅂㅅ",
}  # fmt: skip


def letters(word: str) -> str:
    """The letters that are heard or typed: no silent ㅇ, and both consonants of a double final.

    >>> letters("않아")
    'ㅏㄴㅎㅏ'
    """
    found = []
    for character in word:
        if not hangul.is_syllable(character):
            found.append(character)
            continue
        initial, medial, final = hangul.decompose(character)
        found += ["" if initial == "ㅇ" else initial, medial, _DOUBLE_FINALS.get(final, final)]
    return "".join(found)


def lost_words(source: str, corrected: str) -> list[str]:
    """The words of ``source`` of whose letters more than a third were deleted in ``corrected``. A letter that was replaced is not lost.

    >>> lost_words("괜찮아 괜찮아 괜찮아", "괜찮아 괜찮아")
    ['괜찮아']
    >>> lost_words("* 않된다", "* 안 된다")
    []
    """
    words = _WORD.findall(source)
    before, after = "".join(map(letters, words)), "".join(map(letters, _WORD.findall(corrected)))
    gone = {edit.src_pos for edit in Levenshtein.editops(before, after) if edit.tag == "delete"}
    lost, start = [], 0
    for word in words:
        end = start + len(letters(word))
        if sum(place in gone for place in range(start, end)) > MOST_LOST * (end - start):
            lost.append(word)
        start = end
    return lost


def no_word_is_lost(text: ComposedText, correction: Correction) -> Iterator[str]:
    for word in lost_words(text.text, correction.text):
        yield f"{word!r} is not written again"


def no_evidence_against(text: ComposedText, correction: Correction) -> Iterator[str]:
    """The network itself holds no change for ten times less probable than leaving the text as it is."""
    for change in correction.changes:
        fix, keep = change.fix_probability, change.keep_probability
        if fix is not None and keep is not None and fix * FAR_BELOW < keep:
            yield f"{change.wrong!r} -> {change.right!r}: fix {fix:.4f}, keep {keep:.4f}"


def protected_spans_stay(text: ComposedText, correction: Correction) -> Iterator[str]:
    """No change lies in a protected part, and none sets it apart from its neighbour or joins it to one."""
    source, corrected = text.text, correction.text
    for part in text.protected:
        if any(_overlaps(change, part.start, part.end) for change in correction.changes):
            yield f"{part.kind} {part.text!r}"
            continue
        before = [change for change in correction.changes if change.source_end <= part.start]
        start = part.start + sum(len(change.right) - len(change.wrong) for change in before)
        was = _is_space(source, part.start - 1), _is_space(source, part.end)
        if was != (_is_space(corrected, start - 1), _is_space(corrected, start + len(part.text))):
            yield f"a space beside {part.kind} {part.text!r}"


def _overlaps(change: Change, start: int, end: int) -> bool:
    if change.source_start == change.source_end:  # an insertion
        return start < change.source_start < end
    return change.source_start < end and start < change.source_end


def _is_space(text: str, place: int) -> bool | None:
    return text[place].isspace() if 0 <= place < len(text) else None


def order_stays(text: ComposedText, correction: Correction) -> Iterator[str]:
    """Line breaks and marks stand in the same order, and there are as many sentences."""
    if _skeleton(text.text) != _skeleton(correction.text):
        yield f"marks {_skeleton(text.text)!r} -> {_skeleton(correction.text)!r}"
    elif len(split_sentences(text.text)) != len(split_sentences(correction.text)):
        yield "another number of sentences"


def _skeleton(text: str) -> str:
    return "".join(c for c in text if c in "\n.!?…" or protected(c))


def is_settled(text: ComposedText, correction: Correction, again: str) -> Iterator[str]:
    """``again``, the correction of the corrected text, is the corrected text."""
    if again != correction.text:
        yield f"corrected once more: {again!r}"


def repeats(text: ComposedText, correction: Correction, unit: str) -> Iterator[str]:
    """``unit``, the correction of what is repeated, stands as often in the corrected text."""
    what = text.repetition
    if what is not None and correction.text != what.between.join([unit] * what.times):
        yield f"{what.times} times {unit!r}"


InvariantCheck = Callable[[ComposedText, Correction], Iterator[str]]
OF_ONE_CORRECTION: dict[str, InvariantCheck] = {
    "no word is lost": no_word_is_lost,
    "no evidence against": no_evidence_against,
    "protected spans stay": protected_spans_stay,
    "order and marks stay": order_stays,
}
