"""What a person typed, inside the labels of Streamlit's controls, which it reads as Markdown."""

import re

_SIGNS = re.compile(r"([!-/:-@\[-`{-~])")  # all punctuation of ASCII, the only signs Markdown gives a meaning
_JOINER = "\u2060"  # no width, no line break


def plain(text: str) -> str:
    """``text`` so that a label shows it character by character.

    A backslash takes the meaning from each sign. The joiner after it is for what Streamlit looks up only
    once the backslashes are gone: ``:smile:``, ``:material_home:``, ``->`` and addresses of the web.
    """
    return _SIGNS.sub(rf"\\\1{_JOINER}", text)
