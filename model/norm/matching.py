"""Where a row of the norm stands in a text."""


def stands_at(right: str, boundary: str, text: str, start: int) -> bool:
    """Whether ``right`` stands at ``text[start:]``, and words begin or end where ``boundary`` says: left, right or both."""
    if not text.startswith(right, start):
        return False
    end = start + len(right)
    if boundary in ("left", "both") and start > 0 and text[start - 1].isalnum():
        return False
    return boundary not in ("right", "both") or not text[end : end + 1].isalnum()
