"""Every text on the screen, in the language of the session."""

from ui.shell import address
from viz.browser.texts import LANGUAGES, table


def language() -> str:
    """The language of this session."""
    return address.get_option("lang", list(LANGUAGES))


def say(key: str, /, **values: object) -> str:
    """The text ``key`` in the session's language, its placeholders filled."""
    return table(language())[key].format(**values)
