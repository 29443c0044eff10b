"""Settings with a type: what an address may say about them, what a page makes of it, and when they are forgotten."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

Subject = Literal["", "text", "sentence", "visitor"]


@dataclass(frozen=True)
class Setting:
    """What an address may say under ``name``.

    ``of`` says what the setting is about: "sentence" for one sentence of the text, "text" for the whole text, "visitor" for what is the
    visitor's own, such as the language. A setting about a text or a sentence is forgotten when another one is looked at; settings about
    a sentence are forgotten with the text, too. The browser's Back leaves the visitor's own settings alone. If ``is_step`` is true,
    a change of the setting is a step of the browser's history, which Back takes back.
    """

    name: str
    of: Subject = field(default="", kw_only=True)
    is_step: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Choice(Setting):
    """One of a few ``options``; the first is the default.

    >>> Choice("twin", ("typed", "pair")).read("nonsense")
    'typed'
    """

    options: tuple[str, ...]

    @property
    def default(self) -> str:
        return self.options[0]

    def read(self, text: str) -> str:
        return text if text in self.options else self.default


@dataclass(frozen=True)
class Flag(Setting):
    """On ("1") or off (empty, the default)."""

    default: ClassVar[str] = ""

    def read(self, text: str) -> bool:
        return text == "1"


@dataclass(frozen=True)
class Number(Setting):
    """A whole number from ``lowest`` to ``highest`` in steps of ``step``."""

    lowest: int
    highest: int
    start: int
    step: int = 1

    @property
    def default(self) -> str:
        return str(self.start)

    def read(self, text: str) -> int:
        return int(text) if is_number(text) and self.lowest <= int(text) <= self.highest else self.start


@dataclass(frozen=True)
class Ordinal(Setting):
    """One of several things in a row, such as a step; the address counts from 1, code from 0. Empty: none was chosen.

    >>> Ordinal("step").read("3"), Ordinal("step").read("")
    (2, None)
    """

    default: ClassVar[str] = ""

    def read(self, text: str) -> int | None:
        return int(text) - 1 if is_number(text) and int(text) > 0 else None


@dataclass(frozen=True)
class Text(Setting):
    """Any text. The page that uses it reads it, and draws its control."""

    default: str = ""

    def read(self, text: str) -> str:
        return text


AnySetting = Choice | Flag | Number | Ordinal | Text


def is_number(text: str) -> bool:
    """Whether ``text`` is a short row of ASCII digits; in a link it may be anything."""
    return text.isascii() and text.isdecimal() and len(text) <= 4
