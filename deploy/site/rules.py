"""What the rules of correction know besides code: patterns, limits, marks and keys, as JSON for the browser."""

from typing import Any

from deploy.site.patterns import javascript
from model.correction import candidates, proposing
from model.correction import proposing as offers
from model.text import hangul, keyboard, protected
from model.text import keyboard as english_layout
from model.text import protected as verbatim
from model.text import protected as whole_words
from model.text import tokenizer as sentences


def rules() -> dict[str, Any]:
    """The rules of all networks.

    >>> rules()["marks"]["free"]
    '!,.?~…'
    """
    return {
        "patterns": {
            "boundary": javascript(sentences._BOUNDARY),
            "verbatim": javascript(verbatim._VERBATIM),
            "outcry": javascript(protected._OUTCRY),
            "latin_word": javascript(english_layout._WORD),
        },
        "numbers": {
            "LEAST_JOINED": sentences.LEAST_JOINED,
            "LEAST_REPETITIONS": sentences.LEAST_REPETITIONS,
            "LEAST_REPETITIONS_JOINED": sentences.LEAST_REPETITIONS_JOINED,
            "MOST_NEW": whole_words.MOST_NEW,
            "LEAST_ALIKE": whole_words.LEAST_ALIKE,
            "LEAST_ALIKE_JOINED": whole_words.LEAST_ALIKE_JOINED,
            "LEAST_PROBABILITY": candidates.LEAST_PROBABILITY,
            "PROBABILITY_OF_LOSS": proposing.PROBABILITY_OF_LOSS,
            "PROBABILITY_OF_LOST_BEGINNING": proposing.PROBABILITY_OF_LOST_BEGINNING,
            "MOST": candidates.MOST,
            "LEAST_COUNT_SHORT": offers.LEAST_COUNT[english_layout.LEAST_SYLLABLES],
            "LEAST_COUNT_LONGER": offers.LEAST_COUNT_LONGER,
        },
        "marks": {
            "free": "".join(sorted(protected._FREE_PUNCTUATION)),
            "ends": "".join(sorted(protected.ENDS)),
            "opening": "".join(protected._OPENING),
            "closing": "".join(protected.CLOSING),
            "markup": "".join(sorted(protected._MARKUP)),
        },
        "keys": {
            "jamo": english_layout._JAMO,
            "latin_words": sorted(english_layout._LATIN_WORDS),
            "joined": keyboard.JOINED,
            "strokes": keyboard.STROKES,
            "initials": hangul.INITIALS,
            "medials": hangul.MEDIALS,
            "finals": hangul.FINALS,
        },
    }
