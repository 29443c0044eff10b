"""Kinds of mistakes: by the difference of two spellings, and as a Korean teacher names them.

``kind_of`` compares letters and sounds. A teacher's kind (``reason_of``) is that of the norm's article, which
says why the right spelling is right. Where none is known, the difference decides: only white space
(``spacing``), both spellings sound alike (``sound``), a single letter (``slip``), punctuation, or another
word.
"""

import math
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from rapidfuzz.distance import OSA

from model.correction.correction import Correction
from model.norm import Article, explanation_of
from model.text.changes import Change, apply_changes, by_word, find_changes
from model.text.hangul import KS_X_1001_SYLLABLES, decompose, is_hangul, is_syllable
from model.text.keyboard import STROKES
from model.text.pronunciation import carried_over, rules_between, sound_alike, sound_the_same

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
    both = slots(wrong), slots(right)
    if len(both[0]) == len(both[1]) and sum(a != b for a, b in zip(*both, strict=True)) == 1:
        return True
    return OSA.distance(*("".join(STROKES.get(jamo, jamo) for jamo in each) for each in both)) <= 1


def _is_stray_coda(wrong: str, right: str) -> bool:
    """Whether one syllable differs in its coda only and is not in use.

    The 2,350 syllables of KS X 1001 are in use; any other one is no spelling by ear.
    """
    if not (len(wrong) == len(right) == 1 and is_syllable(wrong) and is_syllable(right)):
        return False
    (*start, coda), (*other, _) = decompose(wrong), decompose(right)
    return start == other and coda not in _HEARD_LETTERS and wrong not in KS_X_1001_SYLLABLES


def slots(text: str) -> list[str]:
    """Initial, medial and final of each syllable ("" without a coda); other characters as they are."""
    return [jamo for c in text for jamo in (decompose(c) if is_syllable(c) else (c,))]


# The kinds and reasons of the norm by their names in the TOML files; one that is not named here is ``word``,
# a word that is often misspelt.
_OF_NORM = {
    "spacing": "words_apart one_word particle_joined dependent_noun suffix_and_noun unit_noun number_tens "
    "linking_words auxiliary title_apart joined_eops one_word_idiom man_hada counted "
    "dependent_noun_parted parted one_word_verb hours si_apart gan_apart neunde_apart da_boni an_mot "
    "noun_with noun_apart verbs_apart",
    "dwae": "doe_dwae an_dwae an_doe",
    "i_hi": "i_adverb hi_adverb i_after_double",
    "saisiot": "saisiot_native saisiot_mixed saisiot_chinese saisiot_none",
    "initial": "dueum_n dueum_n_compound dueum_n_inside dueum_r dueum_r_inside dueum_dependent "
    "dueum_r_compound yul_ryul ryang_yang ran_nan dueum_l dueum_l_compound dueum_l_inside",
    "ieyo": "copula_polite",
    "deon_deun": "past_deo choice deun past_deora",
    "an_anh": "an_anh an_apart",
    "particle": "particle_yo short_particle roseo_rosseo ui_e bakke",
    "ending": "ending_o link_iyo plain_ending tense_ending geureomeuro reo_ryeo rae ryeogo "
    "dae_hearsay neunde ge_adverb past_coda",
    "conjugation": "stem_ending vowel_harmony stem_l stem_s stem_h stem_eu stem_reu stem_d stem_b ha_yeo "
    "reo_irregular",
    "contraction": "short_noun short_stem short_a_eo short_wa_wo short_yeo short_i short_ieo janh_chanh "
    "ha_short_k ha_short_gone ha_absent ha_word geo "
    "eotteokhae yaegi jaemit boe_bwae boe_ending",
    "tense": "tense_inside tense_after_stop kkun",
    "meaning": "homophones_57 homophones natda ikka_itda one_form anda majhida majhida_answer jekkida "
    "meda_maeda tteuida ttida deullida buchida by_sense",
    "loan": "loan_coda loan_tense loan_final_stop loan_fricative loan_affricate loan_vowel loan_usual loan_f "
    "loan_liquid loan_name loan_certain",
}
# The norm writes these as the parts are written alone: what is written by ear is ``sound``.
_OF_FORM = (
    "palatal compound_root compound_form suffix_i_eum noun_i noun_suffix causative root_i root_verb "
    "root_adverb hada_eopda noun_particle stem_ending short_a_eo short_wa_wo short_yeo past_tense past_coda"
).split()
AND = "+"  # between the kinds of one change: "sound+spacing"
_OF_TWO = {"an_anh_dwae": f"an_anh{AND}dwae", "an_anh_doe": f"an_anh{AND}dwae"}
_BY_NAME = {name: kind for kind, names in _OF_NORM.items() for name in names.split()} | _OF_TWO
_BY_DIFFERENCE = {"spacing": "spacing", "liaison": "sound", "sound": "sound", "jamo": "slip"}
SCHOOL_KINDS = (*_OF_NORM, "word", "sound", "alike", "slip", "punctuation", "other")


def school_kind(name: str, by_ear: bool = True) -> str:
    """The one of SCHOOL_KINDS for a kind or a reason of the norm; two of them joined by AND.

    ``by_ear``: whether both spellings sound the same.

    >>> school_kind("i_adverb"), school_kind("causative")
    ('i_hi', 'sound')
    """
    return "sound" if by_ear and name in _OF_FORM else _BY_NAME.get(name, "word")


class Reason(NamedTuple):
    """Why a change is right: its kinds, the first one the most telling, and the grounds that are known."""

    kinds: tuple[str, ...]  # of SCHOOL_KINDS, "spacing" last where letters change, too
    article: Article | None  # of the norm
    rules: tuple[str, ...]  # of pronunciation: by which both spellings sound the same, or alike
    is_same_sound: bool = False  # by the Standard Pronunciation

    @property
    def why(self) -> str:
        """The name of the text that gives the reason where no article does.

        >>> Reason(("alike",), None, ("vowel",)).why, Reason(("slip",), None, ()).why
        ('mistake_alike_rules_why', 'mistake_slip_why')
        """
        if self.rules:
            return f"mistake_{'sound' if self.is_same_sound else 'alike'}_rules_why"
        return f"mistake_{self.kinds[0]}_why"


def reason_of(change: Change, source: str, target: str) -> Reason:
    """The reason for a change from ``source`` to ``target``.

    Raises ValueError for a change whose offsets belong to other texts.

    >>> from model.text.changes import find_changes
    >>> pairs = (("역활", "역할"), ("소홀이", "소홀히"), ("안되요", "안 돼요"), ("날싸", "날씨"))
    >>> [reason_of(*find_changes(one, other), one, other).kinds for one, other in pairs]
    [('word',), ('i_hi',), ('dwae', 'spacing'), ('slip',)]
    """
    *spacing, kind = kinds_of(change, source, target)
    is_by_ear = _BY_DIFFERENCE.get(kind) == "sound"
    is_same = is_by_ear and has_same_sound(change, source, target)
    before, after = target[: change.target_start], target[change.target_end :]
    article = explanation_of(change.wrong, change.right, before, after)
    if article is not None:
        named = school_kind(article.kind, is_same)
        return Reason(tuple(dict.fromkeys((*named.split(AND), *spacing))), article, ())
    by_difference = _BY_DIFFERENCE.get(kind) or _other(change)
    if is_by_ear and not is_same:
        by_difference = "alike"
    # Spellings with the same sound have no vowels that are merely alike; of others no other rule is sure.
    rules = tuple(each for each in sound_rules(change, source, target) if (each == "vowel") != is_same)
    return Reason((by_difference, *spacing), None, rules, is_same)


def _other(change: Change) -> str:
    """``punctuation`` where the letters and digits are the same, else ``other``."""
    letters = ["".join(filter(str.isalnum, side)) for side in (change.wrong, change.right)]
    return "punctuation" if letters[0] == letters[1] else "other"


def joint_kinds(kinds: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The kinds of all changes of one word, the most telling first.

    >>> joint_kinds([("spacing",), ("word",)])
    ('word', 'spacing')
    """
    return tuple(sorted(dict.fromkeys(chain.from_iterable(kinds)), key="spacing".__eq__))


def place_kinds(correction: Correction) -> tuple[str, ...]:
    """The kinds of each corrected place, joined by AND. A place is a word with all of its changes.

    Example:
        >>> place_kinds(corrector.correct("머거요."))
        ('sound',)
    """
    changes, kinds = [], []
    for sentence in correction.sentences:
        target = apply_changes(sentence.source, sentence.proposed)  # to which their offsets belong
        made = {(change.source_start, change.source_end) for change in sentence.changes}
        for change in sentence.proposed:
            if (change.source_start, change.source_end) in made:
                changes.append(change.moved(sentence.start, sentence.start))
                kinds.append(reason_of(change, sentence.source, target).kinds)
    words = by_word(correction.source, changes)
    return tuple(AND.join(joint_kinds(kinds[number] for number in numbers)) for *_, numbers in words)
