"""Reads every text that a screen shows: one folder for each language, one file for each part of the app.

A folder in ``assets/texts`` is a language. It is called as in the address (``ko``, ``pt-BR``) and has its own name under the key
``language_name``. A text that it lacks is shown in English, which more readers know than Korean; what English lacks, too, in
Korean, in which texts are written first. ``tests/ui/wording/test_texts.py`` lists what each language lacks.
"""

import json
import re
from collections.abc import Callable
from functools import cache

import assets

FIRST = "ko"  # the app opens in it
_INSTEAD = ("ko", "en")  # languages that stand in for a missing text; the later one is preferred

Say = Callable[..., str]  # (key, **values) -> the text with its placeholders filled


@cache
def own_texts(language: str) -> dict[str, str]:
    """Key -> text of what the folder ``language`` itself says. Raises ValueError for a file that is
    no JSON, and for a key said twice.

    >>> own_texts("en")["language_name"]
    'English'
    """
    texts: dict[str, str] = {}
    for path in sorted((assets.TEXTS / language).glob("*.json")):
        try:
            part = json.loads(path.read_text("utf-8-sig"))  # some editors write a mark in front
        except ValueError as error:
            raise ValueError(f"{language}/{path.name} is no JSON: {error}") from error
        if twice := sorted(texts.keys() & part.keys()):
            raise ValueError(f"{language}/{path.name} says again what another file says: {twice}")
        texts |= part
    return texts


@cache
def table(language: str) -> dict[str, str]:
    """Key -> text of one of LANGUAGES; what it lacks is filled from another one."""
    texts: dict[str, str] = {}
    for each in (*_INSTEAD, language):
        texts |= own_texts(each)
    return texts


def languages() -> dict[str, str]:
    """Code -> the language's own name, in the order of the menu, of all folders in ``assets/texts``."""
    codes = sorted(
        path.name for path in assets.TEXTS.iterdir() if re.fullmatch(r"[a-z]{2,3}(-\w+)?", path.name)
    )
    codes.sort(key=lambda code: code != FIRST)
    return {code: own_texts(code).get("language_name", code) for code in codes}


LANGUAGES = languages()  # as they are when the app starts
