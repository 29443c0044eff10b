"""Every text on a screen, from one folder per language with one file per room of the app."""

import json
from collections.abc import Callable
from functools import cache

import assets

LANGUAGES = {"ko": "한국어", "en": "English"}

Say = Callable[..., str]  # (key, **values) -> the text with its placeholders filled


@cache
def table(language: str) -> dict[str, str]:
    """Key -> text of one of LANGUAGES, from all files of its folder. Raises ValueError for a key said twice."""
    texts: dict[str, str] = {}
    for path in sorted((assets.TEXTS / language).glob("*.json")):
        part = json.loads(path.read_text("utf-8"))
        if twice := sorted(texts.keys() & part.keys()):
            raise ValueError(f"{path.name} says again what another file says: {twice}")
        texts |= part
    return texts
