"""Kinds of spelling mistakes, and keys by which spellings that sound alike are equal.

Spellings that a listener could not tell apart get the same key. The rules are those of the Standard
Pronunciation (표준 발음법), whose articles (제…항) stand beside them, and three habits of most speakers:
ㅐ sounds like ㅔ, ㅎ is lost between vowels, and a coda takes the place of the next onset.
"""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, product
from typing import NamedTuple

from rapidfuzz.distance import OSA

from model.text.changes import Change, find_changes
from model.text.hangul import compose, decompose, is_hangul, is_syllable
from model.text.keyboard import STROKES

_HANGUL = re.compile("([가-힣]+)")
# While a text is typed the same few words are compared again at each key, which took a tenth of the page's
# time.
_KEPT = 4096  # pairs

# 제8항–제11항: the one sound that is left of a coda where no vowel follows.
_HEARD = (
    dict.fromkeys("ㄱㄲㅋㄳㄺ", "ㄱ")
    | dict.fromkeys("ㄷㅅㅆㅈㅊㅌㅎ", "ㄷ")
    | dict.fromkeys("ㅂㅍㅄㄿ", "ㅂ")
    | dict.fromkeys("ㄴㄵㄶ", "ㄴ")
    | dict.fromkeys("ㄹㄼㄽㄾㅀ", "ㄹ")
    | dict.fromkeys("ㅁㄻ", "ㅁ")
    | {"ㅇ": "ㅇ", "": ""}
)
# 제13항, 제14항, 제12항 4: the part of a coda that stays before a vowel, and the part that moves.
_MOVES = {coda: ("", coda) for coda in "ㄱㄲㄴㄷㄹㅁㅂㅅㅆㅈㅊㅋㅌㅍ"} | {
    "ㄳ": ("ㄱ", "ㅆ"), "ㄵ": ("ㄴ", "ㅈ"), "ㄺ": ("ㄹ", "ㄱ"), "ㄻ": ("ㄹ", "ㅁ"), "ㄼ": ("ㄹ", "ㅂ"),
    "ㄽ": ("ㄹ", "ㅆ"), "ㄾ": ("ㄹ", "ㅌ"), "ㄿ": ("ㄹ", "ㅍ"), "ㅄ": ("ㅂ", "ㅆ"), "ㄶ": ("", "ㄴ"),
    "ㅀ": ("", "ㄹ"),
}  # fmt: skip
_OF_STEMS = "ㅆㄵㄶㄼㄾㄿㅀ"  # codas of predicates, behind which 제15항 has no word of its own
_WITHOUT_H = {"ㅎ": "", "ㄶ": "ㄴ", "ㅀ": "ㄹ"}
_ASPIRATED = {"ㄱ": "ㅋ", "ㄷ": "ㅌ", "ㅂ": "ㅍ", "ㅈ": "ㅊ"}
_TENSE = {"ㄱ": "ㄲ", "ㄷ": "ㄸ", "ㅂ": "ㅃ", "ㅅ": "ㅆ", "ㅈ": "ㅉ"}
_LAX = {tense: lax for lax, tense in _TENSE.items()}
_NASAL = {"ㄱ": "ㅇ", "ㄷ": "ㄴ", "ㅂ": "ㅁ"}
# Onsets before which these codas are silent.
_SWALLOWS = {"ㄱ": "ㄲㅋ", "ㄷ": "ㄸㅌㅆㅉㅊ", "ㅂ": "ㅃㅍ"}

_SAME_VOWEL = {"ㅐ": "ㅔ", "ㅒ": "ㅖ", "ㅙ": "ㅚ", "ㅞ": "ㅚ"}
_WITHOUT_GLIDE = {"ㅑ": "ㅏ", "ㅕ": "ㅓ", "ㅛ": "ㅗ", "ㅠ": "ㅜ", "ㅖ": "ㅔ"}


# Rules that can be named as the cause of a change, the most telling first. The last ones take part in most
# words.
RULES = (
    "palatalisation",  # 구개음화 제17항 (같이 [가치])
    "aspiration",  # 거센소리되기 제12항 1 (좋다 [조타])
    "nasalisation",  # 비음화 제18항, 제19항 (국물 [궁물])
    "lateralisation",  # 유음화 제20항 (신라 [실라])
    "n_insertion",  # ㄴ 첨가 제29항 (담요 [담뇨])
    "tensification",  # 경음화 제23항–제28항 (국수 [국쑤])
    "h_loss",  # ㅎ 탈락 제12항 4 (좋아 [조아])
    "liaison",  # 연음 제13항–제15항 (밥이 [바비])
    "final",  # 음절 끝소리 제8항–제11항 (꽃 [꼳], 값 [갑])
    "vowel",  # vowels that most speakers no longer tell apart (웬, 왠), and ㅢ 제5항
)


class PronunciationChoices(NamedTuple):
    """The choices of a reader where a text can be pronounced in several ways."""

    across_spaces: bool = False  # two words in one breath (밥 먹다 [밤먹따])
    # 제15항: before a word of its own a coda moves as it is heard (맛없다 [마덥따])
    moves_as_heard: bool = False
    inserts_n: bool = False  # 제29항 (담요 [담뇨])
    ui_as_e: bool = False  # 제5항 다만 4: the particle 의 [에]; else 의 inside a word is [이]
    other_of_cluster: bool = False  # 제10항 다만, 제11항 다만 (밟고 [밥꼬], 맑게 [말께])
    keeps_n: bool = False  # 제20항 다만 (생산량 [생산냥])
    without: str = ""  # one of RULES, which is not applied
    is_standard: bool = False  # by the articles alone, without the habits of most speakers


_CHOICES = PronunciationChoices._fields.index("without")
# A change is short: no more than two choices meet in it.
WAYS_TO_READ = tuple(
    PronunciationChoices._make((*each, "", False))
    for each in product((False, True), repeat=_CHOICES)
    if sum(each) <= 2
)

# Where these are right depends on the word: 생산량 [생산냥], but 신라 [실라].
_OF_THE_STANDARD = tuple(each for each in WAYS_TO_READ if not each.keeps_n)


def sound_alike(one: str, other: str) -> bool:
    """Whether two texts sound the same in at least one way to read them.

    >>> sound_alike("궁물", "국물"), sound_alike("국물", "구멍")
    (True, False)
    """
    return _choices_for(one, other) is not None


@lru_cache(_KEPT)
def sound_the_same(one: str, other: str) -> bool:
    """Whether two texts have the same pronunciation by the Standard Pronunciation.

    Fewer do than ``sound_alike``: ㅐ and ㅔ differ, and so do the onsets of 달걀 and 달꺌.

    >>> sound_the_same("조아", "좋아"), sound_the_same("개", "게"), sound_the_same("않아서", "앉아서")
    (True, False, False)
    """
    standard = (choices._replace(is_standard=True) for choices in _OF_THE_STANDARD)
    return any(reading(one, choices) == reading(other, choices) for choices in standard)


@lru_cache(_KEPT)
def rules_between(one: str, other: str) -> tuple[str, ...]:
    """The RULES that are needed for two texts to sound alike; none for texts that do not sound alike.

    Two spellings may also sound alike by a rule that has no name here, such as the place of a nasal
    (감기, 강기).

    >>> rules_between("궁물", "국물")
    ('nasalisation',)
    """
    choices = _choices_for(one, other)
    if choices is None:
        return ()
    without = {rule: choices._replace(without=rule) for rule in RULES}
    return tuple(rule for rule, fewer in without.items() if reading(one, fewer) != reading(other, fewer))


@lru_cache(_KEPT)
def _choices_for(one: str, other: str) -> PronunciationChoices | None:
    """The first reading that makes two texts sound alike, None where there is none."""
    if len("".join(one.split())) != len("".join(other.split())):
        return None  # no rule takes a syllable away
    return next(
        (choices for choices in WAYS_TO_READ if reading(one, choices) == reading(other, choices)), None
    )


def reading(text: str, choices: PronunciationChoices = WAYS_TO_READ[0]) -> str:
    """The pronunciation of a text as a key: texts that sound alike have the same key.

    It is no transcription: differences that writers do not hear are left out (the tense onset
    after ㄴ, ㄹ, ㅁ, ㅇ).

    >>> reading("국물") == reading("궁물")
    True
    """
    if choices.without != "vowel":
        text = re.sub("(?<=[가-힣])의", "에" if choices.ui_as_e else "이", text)
    if choices.across_spaces:
        text = "".join(text.split())
    pieces = _HANGUL.split(text)
    pieces[1::2] = (_read(map(decompose, piece), choices) for piece in pieces[1::2])
    return "".join(pieces)


def carried_over(coda: str) -> frozenset[str]:
    """The onsets that a coda may become before a vowel, by liaison alone: ㅎ, which is lost, becomes none.

    >>> sorted(carried_over("ㄱ")), sorted(carried_over("ㅎ"))
    (['ㄱ'], [])
    """
    if coda not in _MOVES:
        return frozenset()
    return frozenset((_MOVES[coda][1], _HEARD[coda]))


def _read(syllables: Iterable[tuple[str, str, str]], choices: PronunciationChoices) -> str:
    initials, medials, finals = (list(jamo) for jamo in zip(*syllables, strict=True))
    for here, after in enumerate(range(1, len(initials))):
        follows = initials[after], medials[after], finals[after]
        finals[here], initials[after] = _meet(finals[here], *follows, choices)
    finals[-1] = _heard(finals[-1], "", choices)
    if choices.without != "vowel":
        medials = [_vowel(*each, choices.is_standard) for each in zip(initials, medials, strict=True)]
    return "".join(map(compose, initials, medials, finals))


def _vowel(initial: str, medial: str, is_standard: bool) -> str:
    """제4항, 제5항: the sound of a vowel behind this onset."""
    if not is_standard or medial == "ㅞ":
        medial = _SAME_VOWEL.get(medial, medial)
    if initial == "ㅇ" or (is_standard and (initial, medial) == ("ㄹ", "ㅖ")):
        return medial
    if medial == "ㅢ":
        return "ㅣ"
    return _WITHOUT_GLIDE.get(medial, medial) if initial in "ㅈㅉㅊ" or medial == "ㅖ" else medial


def _meet(coda: str, initial: str, medial: str, final: str, choices: PronunciationChoices) -> tuple[str, str]:
    """A coda and the onset of the next syllable (initial, medial, final), as they sound together."""
    is_ending = choices.is_standard and final in ("", "ㅆ")  # 이, 았, 었: no word of its own
    if (
        choices.inserts_n
        and choices.without != "n_insertion"
        and coda
        and initial == "ㅇ"
        and medial in "ㅣㅑㅕㅛㅠㅖㅒ"
        and not (is_ending and medial in "ㅣㅕ")
    ):
        initial = "ㄹ" if _HEARD[coda] == "ㄹ" else "ㄴ"
    before_i = medial == "ㅣ" or (medial == "ㅕ" and final in ("", "ㅆ"))
    palatal = coda in ("ㄷ", "ㅌ", "ㄾ") and initial in "ㅇㅎ" and before_i  # 제17항
    if palatal and choices.without != "palatalisation":
        return "ㄹ" if coda == "ㄾ" else "", "ㅈ" if (coda, initial) == ("ㄷ", "ㅇ") else "ㅊ"
    if coda in _WITHOUT_H:
        coda, initial = _melt(coda, initial, choices)
    elif initial == "ㅎ":
        coda, initial = _aspirate(coda, before_i, choices)
    if initial == "ㅇ" and coda in _MOVES and choices.without != "liaison":
        as_heard = choices.moves_as_heard and choices.without != "final"  # else it is heard as it is written
        if choices.is_standard and (coda in _OF_STEMS or medial not in "ㅏㅓㅗㅜㅟ" or is_ending):
            as_heard = False
        coda, initial = ("", _heard(coda, "", choices)) if as_heard else _MOVES[coda]
    return _assimilate(_heard(coda, initial, choices), initial, choices)


def _melt(coda: str, initial: str, choices: PronunciationChoices) -> tuple[str, str]:
    """제12항 for ㅎ in the coda."""
    left = _WITHOUT_H[coda]
    if initial in _ASPIRATED and choices.without != "aspiration":
        return left, _ASPIRATED[initial]
    if initial == "ㅅ" and choices.without != "tensification":
        return left, "ㅆ"
    if initial in ("ㅇ", "ㅎ"):
        return left, "ㅎ" if choices.without == "h_loss" else "ㅇ"
    return left or "ㄷ", initial


def _aspirate(coda: str, before_i: bool, choices: PronunciationChoices) -> tuple[str, str]:
    """제12항 1 for ㅎ in the onset: it melts with a stop and is lost behind anything else."""
    palatal = before_i and coda in ("ㅈ", "ㄵ")
    if not (palatal or coda == "ㄼ" or _HEARD[coda] in _NASAL):
        return coda, "ㅎ" if choices.is_standard or choices.without == "h_loss" else "ㅇ"
    if choices.without == "aspiration":
        return coda, "ㅎ"
    if palatal:
        return _MOVES[coda][0], "ㅊ"
    if coda == "ㄼ":
        return "ㄹ", "ㅍ"
    return "ㄹ" if coda == "ㄺ" else "", _ASPIRATED[_HEARD[coda]]


def _heard(coda: str, initial: str, choices: PronunciationChoices) -> str:
    """The sound of a coda before this onset, "" for none."""
    if choices.without == "final":
        return coda
    if choices.other_of_cluster and coda == "ㄼ" and not choices.is_standard:
        return "ㅂ"
    if choices.other_of_cluster and coda == "ㄺ" and initial in ("ㄱ", "ㄲ"):
        return "ㄹ"
    return _HEARD[coda]


def _assimilate(coda: str, initial: str, choices: PronunciationChoices) -> tuple[str, str]:
    """제18항–제20항, 제23항–제28항; and by habit, not by the standard, the place of a nasal (감기 [강기])."""
    nasal, lateral, tense = (
        choices.without != rule for rule in ("nasalisation", "lateralisation", "tensification")
    )
    if initial == "ㄹ" and coda and coda != "ㄹ":
        becomes_l = coda == "ㄴ" and not choices.keeps_n
        initial = "ㄹ" if becomes_l or not nasal else "ㄴ"
    if coda in _NASAL:
        coda = _NASAL[coda] if nasal and initial in "ㄴㅁ" else coda
        initial = _TENSE.get(initial, initial) if tense and coda in _TENSE else initial
    if lateral and (coda, initial) in (("ㄴ", "ㄹ"), ("ㄹ", "ㄴ")):
        return "ㄹ", "ㄹ"
    if choices.is_standard:
        return ("", initial) if initial in _SWALLOWS.get(coda, "") else (coda, initial)
    if initial in "ㄱㄲㅋ":
        coda = {"ㄴ": "ㅇ", "ㅁ": "ㅇ", "ㄷ": "ㄱ"}.get(coda, coda)
    elif initial in "ㅂㅃㅍㅁ":
        coda = {"ㄴ": "ㅁ", "ㄷ": "ㅂ"}.get(coda, coda)
    if initial in _SWALLOWS.get(coda, ""):
        return "", initial
    return coda, _LAX.get(initial, initial) if tense and coda else initial


KINDS = ("spacing", "liaison", "sound", "jamo", "word")

_CONTEXT = 2  # characters on each side: the next syllable, also where a space lies between
_HEARD_LETTERS = ("", *"ㄱㄴㄷㄹㅁㅂㅅㅇ")  # how the seven codas that can be heard are written, ㅅ for ㄷ too


def kind_of(change: Change, source: str, target: str) -> str:
    """The kind of mistake that a change from ``source`` to ``target`` repairs: the first of KINDS that fits.

    spacing: only white space differs.
    liaison: both spellings sound alike, and a coda is the onset of the next syllable or the other way round
        (바비 → 밥이, 설겆이 → 설거지). Other pronunciation rules may take part (갱니믈 → 객님을).
    sound: both spellings sound alike by the pronunciation rules (궁물 → 국물, 가치 → 같이, 할께 → 할게,
        되요 → 돼요).
    jamo: Hangul in which a single jamo, or a single key of the keyboard, is wrong, missing, too much or
        swapped with the next one (날싸 → 날씨, 안녀ㅇ → 안녕). Also a coda that makes a syllable that Korean
        does not use (늖 → 는): it may sound alike, but it is no spelling by ear.
    word: anything else; another word, another ending, punctuation, several slips at once.

    It describes the difference, not the writer's intention: 낳다 for 낫다 is one jamo.

    Raises:
        ValueError: for a change whose offsets belong to other texts.

    Example:
        >>> from model.text.changes import find_changes
        >>> pairs = (("바비", "밥이"), ("궁물", "국물"), ("할수", "할 수"))
        >>> [kind_of(*find_changes(a, b), a, b) for a, b in pairs]
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
    """``kind_of``, after "spacing" where letters and spaces change together:

    안되 → 안 돼 is ("spacing", "sound").

    Raises:
        ValueError: as ``kind_of`` does.
    """
    kind = kind_of(change, source, target)
    return (kind,) if kind == "spacing" or not _moves_a_space(change) else ("spacing", kind)


def sound_rules(change: Change, source: str, target: str) -> tuple[str, ...]:
    """The pronunciation rules, some of RULES, by which a change sounds like the typed text.

    Empty where the change is no question of sound, and where no rule with a name decides it (강기 → 감기).

    >>> pairs = (("궁물", "국물"), ("갱니믈", "객님을"), ("강기", "감기"))
    >>> [sound_rules(*find_changes(a, b), a, b) for a, b in pairs]
    [('nasalisation',), ('nasalisation', 'liaison'), ()]
    """
    if kind_of(change, source, target) not in ("liaison", "sound"):
        return ()
    alike = _heard_alike(change, source, target)
    return rules_between(*alike) if alike else ()


def has_same_sound(change: Change, source: str, target: str) -> bool:
    """Whether a change leaves the standard pronunciation as it is.

    >>> pairs = (("궁물", "국물"), ("희미하개", "희미하게"))
    >>> [has_same_sound(*find_changes(a, b), a, b) for a, b in pairs]
    [True, False]
    """
    _refuse_strangers(change, source, target)
    return any(sound_the_same(*pair) for pair in _in_context(change, source, target))


def _refuse_strangers(change: Change, source: str, target: str) -> None:
    typed = source[change.source_start : change.source_end]
    corrected = target[change.target_start : change.target_end]
    if (typed, corrected) != (change.wrong, change.right):
        raise ValueError(
            f"the change should stand in its texts of {len(source)} and {len(target)} characters, "
            f"received one of {change.place}"
        )


def _moves_a_space(change: Change) -> bool:
    """Whether white space is added or removed between letters, or moved among as many characters."""
    if not (change.wrong.strip() and change.right.strip()):
        return False  # a word that goes takes its space along
    typed, corrected = ([c.isspace() for c in text] for text in (change.wrong, change.right))
    return typed != corrected if len(typed) == len(corrected) else sum(typed) != sum(corrected)


def _heard_alike(change: Change, source: str, target: str) -> tuple[str, str] | None:
    """(typed, corrected):

    the change with as many neighbours as make both sound alike; None if no number of them does.
    """
    return next((pair for pair in _in_context(change, source, target) if sound_alike(*pair)), None)


def _in_context(change: Change, source: str, target: str) -> Iterator[tuple[str, str]]:
    """(typed, corrected):

    the change between its neighbours, once with these corrected and once as they were typed.

    Then the same with the change before it, and with the one behind it: 오 탄 and 옷 한 differ in two places
    that explain each other.
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
    """The characters of the source between two changes; infinite for a change and itself."""
    first, last = sorted((one, other), key=_start)
    return last.source_start - first.source_end if first != last else math.inf


def _has_liaison(typed: str, corrected: str) -> bool:
    """Whether a coda of one text is the next onset in the other, syllable for syllable."""
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
    """Whether one syllable differs in its coda only and is not in use.

    The 2,350 syllables of KS X 1001 are in use; any other one is no spelling by ear.
    """
    if not (len(wrong) == len(right) == 1 and is_syllable(wrong) and is_syllable(right)):
        return False
    (*start, coda), (*other, _) = decompose(wrong), decompose(right)
    in_use = len(wrong.encode("euc_kr")) == 2  # this encoding spells out any other syllable
    return start == other and coda not in _HEARD_LETTERS and not in_use


def _slots(text: str) -> list[str]:
    """Initial, medial and final of each syllable ("" without a coda); other characters as they are."""
    return [jamo for c in text for jamo in (decompose(c) if is_syllable(c) else (c,))]
