"""Every text on the screen, from one table per language."""

import json
from functools import cache
from pathlib import Path

from ui import address

FOLDER = Path(__file__).parents[1] / "assets" / "texts"
LANGUAGES = {"ko": "한국어", "en": "English"}


@cache
def table(language: str) -> dict[str, str]:
    """Key -> text of one of LANGUAGES."""
    return json.loads((FOLDER / f"{language}.json").read_text("utf-8"))


def language() -> str:
    """The language of this session."""
    return address.get_option("lang", list(LANGUAGES))


def say(key: str, /, **values: object) -> str:
    """The text ``key`` in the session's language, its placeholders filled."""
    return table(language())[key].format(**values)
