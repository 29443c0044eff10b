"""Settings with a type: what an address may say about them, and what a page makes of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Choice:
    """One of a few ``options``; the first is the default."""

    name: str
    options: tuple[str, ...]

    @property
    def default(self) -> str:
        return self.options[0]

    def read(self, text: str) -> str:
        return text if text in self.options else self.default


@dataclass(frozen=True)
class Flag:
    """On ("1") or off (empty, the default)."""

    name: str
    default: ClassVar[str] = ""

    def read(self, text: str) -> bool:
        return text == "1"


@dataclass(frozen=True)
class Number:
    """A whole number from ``lowest`` to ``highest`` in steps of ``step``."""

    name: str
    lowest: int
    highest: int
    start: int
    step: int = 1

    @property
    def default(self) -> str:
        return str(self.start)

    def read(self, text: str) -> int:
        good = text.isascii() and text.isdecimal() and len(text) <= 4
        return int(text) if good and self.lowest <= int(text) <= self.highest else self.start


Setting = Choice | Flag | Number


def defaults(settings: Iterable[Setting]) -> dict[str, str]:
    """Name -> the value that a setting has if the address does not mention it."""
    return {setting.name: setting.default for setting in settings}
