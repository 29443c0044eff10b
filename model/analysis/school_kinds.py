"""Kinds of mistakes as a Korean teacher names them: by the article of the norm, else by the difference.

An article says why the right spelling is right. Where none is known, the difference decides: only white
space (``spacing``), both spellings sound alike (``sound``), a single letter (``slip``), punctuation, or
another word.
"""

from typing import NamedTuple

from model.analysis.kinds import has_same_sound, kinds_of, sound_rules
from model.correction.correction import Correction
from model.norm import Article, explanation_of
from model.text.changes import Change

# The kinds and reasons of the norm by their names in the TOML files; one that is not named here is ``word``,
# a word that is often misspelt.
_OF_NORM = {
    "spacing": "words_apart one_word particle_joined dependent_noun suffix_and_noun unit_noun number_tens "
    "linking_words auxiliary title_apart joined_eops one_word_idiom man_hada counted "
    "dependent_noun_parted parted one_word_verb",
    "dwae": "doe_dwae boe_bwae",
    "i_hi": "i_adverb hi_adverb i_after_double",
    "saisiot": "saisiot_native saisiot_mixed saisiot_chinese saisiot_none",
    "initial": "dueum_n dueum_n_compound dueum_n_inside dueum_r dueum_r_inside dueum_dependent "
    "dueum_r_compound yul_ryul ryang_yang ran_nan dueum_l dueum_l_compound dueum_l_inside",
    "ieyo": "copula_polite",
    "deon_deun": "past_deo choice deun",
    "an_anh": "an_anh an_apart",
    "particle": "particle_yo short_particle roseo_rosseo ui_e",
    "ending": "ending_o link_iyo plain_ending tense_ending geureomeuro reo_ryeo rae ryeogo "
    "dae_hearsay neunde ge_adverb",
    "conjugation": "stem_ending vowel_harmony stem_l stem_s stem_h stem_eu stem_reu stem_d stem_b ha_yeo "
    "reo_irregular",
    "contraction": "short_noun short_stem short_a_eo short_wa_wo short_yeo short_i short_ieo janh_chanh "
    "ha_short_k ha_short_gone ha_absent ha_word geo "
    "eotteokhae yaegi jaemit",
    "tense": "tense_inside tense_after_stop kkun",
    "meaning": "homophones_57 ikka_itda one_form anda majhida",
    "loan": "loan_coda loan_tense loan_final_stop loan_fricative loan_affricate loan_vowel loan_usual loan_f "
    "loan_liquid loan_name loan_certain",
}
# The norm writes these as the parts are written alone: what is written by ear is ``sound``.
_OF_FORM = (
    "palatal compound_root compound_form suffix_i_eum noun_i noun_suffix causative root_i root_verb "
    "root_adverb hada_eopda noun_particle stem_ending short_a_eo short_wa_wo short_yeo past_tense"
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


def change_kinds(correction: Correction) -> tuple[str, ...]:
    """The kinds of each change of a correction, joined by AND.

    Example:
        >>> change_kinds(corrector.correct("머거요."))
        ('sound',)
    """
    return tuple(
        AND.join(reason_of(change, correction.source, correction.text).kinds) for change in correction.changes
    )
