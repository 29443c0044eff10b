"""Words of Hangul: where they stand in a text."""

import re
from collections.abc import Iterator

_WORD = re.compile("[가-힣]+")  # a run of whole syllables; digits, Latin letters and single jamo end it


def find_words(text: str) -> Iterator[tuple[int, str]]:
    """(where it begins, the word) for each word of Hangul, particles and endings included."""
    return ((match.start(), match[0]) for match in _WORD.finditer(text))
