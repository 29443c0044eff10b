"""Every text on the screen, from one folder per language with one file per room of the app."""

import json
from functools import cache
from pathlib import Path

from ui import address

FOLDER = Path(__file__).parents[1] / "assets" / "texts"
LANGUAGES = {"ko": "한국어", "en": "English"}


@cache
def table(language: str) -> dict[str, str]:
    """Key -> text of one of LANGUAGES, from all files of its folder. Raises ValueError for a key said twice."""
    texts: dict[str, str] = {}
    for path in sorted((FOLDER / language).glob("*.json")):
        part = json.loads(path.read_text("utf-8"))
        if twice := sorted(texts.keys() & part.keys()):
            raise ValueError(f"{path.name} says again what another file says: {twice}")
        texts |= part
    return texts


def language() -> str:
    """The language of this session."""
    return address.get_option("lang", list(LANGUAGES))


def say(key: str, /, **values: object) -> str:
    """The text ``key`` in the session's language, its placeholders filled."""
    return table(language())[key].format(**values)
