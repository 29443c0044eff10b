"""Decides whether a word of the norm's tables stands at a place of a text."""

import re

# What may follow a noun: a particle, the copula, or the end of the word.
_AFTER_NOUN = re.compile(
    r"[은는이가을를의에도로와과만]|으로|까지|부터|처럼|보다|마다|조차|라[고는]|들|예요|였|[^0-9A-Za-z가-힣]|$"
)


def stands_at(right: str, boundary: str, text: str, start: int) -> bool:
    """Whether ``right`` stands at ``text[start:]``, and words begin or end where ``boundary`` says: left, right or both.

    ``noun`` is left, and a particle may follow, but not the rest of another word.

    >>> stands_at("대가", "noun", "대가를", 0), stands_at("대가", "noun", "대가족", 0)
    (True, False)
    """
    if not text.startswith(right, start):
        return False
    end = start + len(right)
    if boundary in ("left", "both", "noun") and start > 0 and text[start - 1].isalnum():
        return False
    if boundary == "noun":
        return _AFTER_NOUN.match(text, end) is not None
    return boundary not in ("right", "both") or not text[end : end + 1].isalnum()
