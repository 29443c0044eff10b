"""``PortableRules``: correction rules as data, for a port to a language such as JavaScript."""

import re
from typing import NamedTuple

from model.correction import candidates, confidence, mending, proposing
from model.norm.articles import BESIDE, explained
from model.norm.kinds import AFTER_NOUN, kinds, rows
from model.text import hangul, keyboard, pronunciation, protected, readings, tokenizer


class PortableRules(NamedTuple):
    """Regular expressions, thresholds, sets of characters, and tables of the keyboard, by name."""

    patterns: dict[str, re.Pattern]
    numbers: dict[str, float]
    marks: dict[str, str]  # characters, sorted
    keys: dict[str, object]


def portable_rules() -> PortableRules:
    """The rules of all networks.

    Example:
        >>> portable_rules().marks["free"]
        '!,.?~…'
    """
    numbers = {
        tokenizer: "LEAST_JOINED LEAST_REPETITIONS LEAST_REPETITIONS_JOINED",
        protected: "MOST_NEW LEAST_ALIKE LEAST_ALIKE_JOINED",
        candidates: "LEAST_PROBABILITY MOST",
        confidence: "DOUBT SPACES_COMMONER LETTERS_RARER FEW",
        proposing: "PROBABILITY_OF_LOSS PROBABILITY_OF_LOST_BEGINNING OFFERED PARTICLE_CONFIDENCE "
        "LEAST_COUNT_LONGER",
        mending: "LEAST_OF_LONG LONG",
    }
    norm = [(number, rule) for number, kind in enumerate(kinds().values()) for rule in kind.rules]
    return PortableRules(
        patterns={
            "boundary": tokenizer.SENTENCE_BOUNDARY,
            "verbatim": protected.VERBATIM,
            "outcry": protected.OUTCRY,
            "latin_word": keyboard.LATIN_WORD,
            "typed_syllable": keyboard.TYPED_SYLLABLE,
            "kept": protected.KEPT,
            "dialect": protected.DIALECT,
            "particle": readings.PARTICLE,
            "particle_behind": mending.PARTICLE,
            "after_noun": AFTER_NOUN,
            "brackets": readings.BRACKETS,
            "placeholder": readings.PLACEHOLDER,
            **{f"heard_{i}": pattern for i, (_, pattern) in enumerate(readings.ENDINGS)},
            **{f"reason_{i}_right": each.right for i, each in enumerate(explained())},
            **{f"reason_{i}_wrong": each.wrong for i, each in enumerate(explained())},
            **{f"rule_{i}": rule.pattern for i, (_, rule) in enumerate(norm)},
        },
        numbers={
            **{name: getattr(module, name) for module, names in numbers.items() for name in names.split()},
            "KNOWN_CONFIDENCE": mending.CONFIDENCE,
            "LEAST_OF_KNOWN": mending.LEAST_PROBABILITY,
            "LONGEST_READ": readings.LONGEST,
            "BESIDE": BESIDE,
            "LEAST_COUNT_SHORT": proposing.LEAST_COUNT[keyboard.LEAST_SYLLABLES],
        },
        marks={
            "free": "".join(sorted(protected.FREE_PUNCTUATION)),
            "ends": "".join(sorted(protected.ENDS)),
            "opening": "".join(protected.OPENING),
            "closing": "".join(protected.CLOSING),
            "markup": "".join(sorted(protected.MARKUP)),
            "silent": readings.MARKS,
            "stand_in": readings.STAND_IN,
        },
        keys={
            "jamo": keyboard.KEY_JAMO,
            "latin_words": sorted(keyboard.LATIN_WORDS),
            "joined": keyboard.JOINED,
            "initials": hangul.INITIALS,
            "medials": hangul.MEDIALS,
            "finals": hangul.FINALS,
            "forms": readings.FORMS,
            "codas": readings.CODAS,
            "heard": [heard for heard, _ in readings.ENDINGS],
            "misspellings": _misspellings(),
            "rules": [(number, rule.wrong) for number, rule in norm],  # of ``rule_0``: its kind's number
            "sounds": pronunciation.portable_sounds(),
        },
    )


def _misspellings() -> str:
    """The rows of the norm, a line each: wrong, right, boundary, 1 where the wrong one is certain, and the
    number of the first kind that has it."""
    certain = {name for name, kind in kinds().items() if kind.is_certain}
    numbers = {name: str(number) for number, name in enumerate(kinds())}
    found: dict[str, str] = {}
    for row in rows():
        fields = row.wrong, row.right, row.boundary, "1" if row.name in certain else ""
        found.setdefault("\t".join(fields), numbers[row.name])
    return "\n".join(f"{fields}\t{number}" for fields, number in found.items())
