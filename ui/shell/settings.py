"""Settings in the address: types, registry, those of all pages; example sentences.

Views add theirs to the registry.

A setting has a name in the address, a type that reads any text, a default, and a subject that decides when it
is reset.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import ClassVar, Literal

import assets
from engine.client import own_model


@dataclass(frozen=True)
class Example:
    """``id`` names the kind of error; its label is the text ``example_<id>`` of each language."""

    id: str
    text: str


@cache
def load_examples() -> tuple[Example, ...]:
    """All examples in the order in which they are offered.

    >>> load_examples()[0].id
    'tensification'
    """
    return tuple(Example(**entry) for entry in json.loads(assets.EXAMPLES.read_text("utf-8")))


Subject = Literal["", "text", "sentence", "visitor", "browser"]


@dataclass(frozen=True)
class Setting:
    """A setting that an address may hold under ``name``.

    ``of`` is its subject: "sentence" for one sentence of the text, "text" for the whole text, "visitor" for
    the visitor's own, such as the language, "browser" for those of them that the browser keeps instead of the
    address, so that any link keeps them. A setting about a text or a sentence is reset when another one is
    opened; settings about a sentence are forgotten with the text, too. The browser's Back leaves the
    visitor's own settings alone. If ``is_step`` is true, a change of the setting is a step of the browser's
    history, which Back takes back.
    """

    name: str
    of: Subject = field(default="", kw_only=True)
    is_step: bool = field(default=False, kw_only=True)

    def history_step(self, text: str) -> str | int:
        """The part of a value whose change is a step of the history."""
        return text


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
        """Whether ``text`` is "1"; any other is off.

        >>> Flag("lecture").read("1"), Flag("lecture").read("yes")
        (True, False)
        """
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
        """The number; ``start`` for any other text, and for a number out of range.

        >>> Number("positions", 2, 512, start=64).read("1000")
        64
        """
        return int(text) if is_number(text) and self.lowest <= int(text) <= self.highest else self.start


@dataclass(frozen=True)
class Ordinal(Setting):
    """One of several things in a row, such as a step; the address counts from 1, code from 0. Empty: none was
    chosen.

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


@dataclass(frozen=True)
class Places(Setting):
    """Places in the text: stretches of characters, start and end from 0, the end not included. A whole number
    is one of the proposals, from 1 in the address, as earlier links have it.

    >>> Places("rejected").read("3-5,9-9,2,x")
    ((3, 5), (9, 9), 1)
    >>> Places.written([(9, 9), (3, 5)])
    '3-5,9-9'
    """

    default: ClassVar[str] = ""

    def read(self, text: str) -> tuple["Place", ...]:
        found: list[Place] = []
        for part in text.split(","):
            if is_number(part):
                found.append(int(part) - 1)
            elif re.fullmatch("[0-9]{1,5}-[0-9]{1,5}", part):
                start, end = map(int, part.split("-"))
                found.append((start, end))
        return tuple(found)

    @staticmethod
    def written(spans: Iterable[tuple[int, int]]) -> str:
        return ",".join(f"{start}-{end}" for start, end in sorted(spans))

    def history_step(self, text: str) -> int:
        """How many there are: a press adds or takes one, and typing moves them only.

        >>> Places("rejected").history_step("3-5,9-9")
        2
        """
        return len(self.read(text))


Place = int | tuple[int, int]
AnySetting = Choice | Flag | Number | Ordinal | Places | Text


def is_number(text: str) -> bool:
    """Whether ``text`` is a short row of ASCII digits; in a link it may be anything.

    >>> is_number("12"), is_number("-1"), is_number("12345")
    (True, False, False)
    """
    return text.isascii() and text.isdecimal() and len(text) <= 4


_settings: dict[str, AnySetting] = {}
_defaults: dict[str, str] = {}


def register(*settings: AnySetting) -> None:
    """Make ``settings`` part of the address, before a session begins. Raises ValueError for a name that has
    another meaning already."""
    for setting in settings:
        if _settings.setdefault(setting.name, setting) != setting:
            raise ValueError(
                f"two settings have the name {setting.name!r}: {_settings[setting.name]} and {setting}"
            )
        _defaults[setting.name] = setting.default


def registered() -> Mapping[str, AnySetting]:
    """Each setting by its name, in the order of registration. Raises TypeError on assignment."""
    return MappingProxyType(_settings)


def defaults() -> Mapping[str, str]:
    """Name -> the value of a setting that the address does not mention.

    >>> defaults()["positions"], defaults()["edit"]
    ('64', '')
    """
    return _defaults


MOVED = {("view", "received"): {"view": "heatmap", "shown": "received"}}  # what earlier addresses say


def moved(given: Mapping[str, str]) -> dict[str, str]:
    """The settings of an address, those of earlier versions under their present names.

    >>> moved({"view": "received", "head": "2"})
    {'view': 'heatmap', 'head': '2', 'shown': 'received'}
    """
    found = dict(given)
    for (name, value), now in MOVED.items():
        if found.get(name) == value:
            found |= now
    return found


def steps() -> tuple[str, ...]:
    """The settings whose changes are steps of the browser's history.

    >>> "edit" in steps(), "lang" in steps()
    (True, False)
    """
    return tuple(name for name, setting in _settings.items() if setting.is_step)


def step(name: str, value: str) -> str | int:
    """The part of the setting's value whose change is a step of the browser's history. Raises KeyError for an
    unregistered name."""
    return _settings[name].history_step(value)


def names_of(subject: Subject) -> tuple[str, ...]:
    """The names of the settings about one sentence, about the whole text (its sentences included), or about
    the visitor.

    >>> set(names_of("sentence")) < set(names_of("text"))
    True
    """
    subjects = {"text": ("text", "sentence"), "visitor": ("visitor", "browser")}.get(subject, (subject,))
    return tuple(name for name, setting in _settings.items() if setting.of in subjects)


PART = Ordinal("part", of="text", is_step=True)  # which sentence of several; empty: the first that changed
EDIT = Ordinal("edit", of="text", is_step=True)  # which change of the sentence; empty: the whole sentence
ASKED = Ordinal("asked", of="text", is_step=True)  # which of its questions; empty: the default one
ACCEPTED = Places("accepted", of="text", is_step=True)  # changed although the network is unsure
REJECTED = Places("rejected", of="text", is_step=True)  # left as typed although the network is sure
SHARED: tuple[AnySetting, ...] = (
    Text("lang", "ko", of="visitor"),
    Text("class", of="browser"),  # the code of the classroom that one is in; empty: none
    Flag("lecture", of="browser"),  # larger type and fewer controls
    Text("sentence", load_examples()[0].text),  # all that is typed, one sentence or several
    Text("model", own_model() or "transformer"),
    Text("confidence"),  # the lowest of the changes that are made; empty: the model's own
    PART,
    EDIT,
    ASKED,
    ACCEPTED,
    REJECTED,
    *(Text(name, first, is_step=True) for name, first in assets.FIRST_MAP.items()),  # kind, layer and head
    Text("cell", of="sentence"),  # the chosen cell of an attention map, "row,column" in tokens, from 0
)
POSITIONS = Number("positions", 2, 512, start=64)
DIMENSIONS = Number("dimensions", 2, 512, start=128, step=2)
OF_PAGES: tuple[AnySetting, ...] = (
    Text("q", "0,10,0"),  # the classroom's queries, keys and values: rows end at ";", cells at ","
    Text("k", "10,0,0;0,10,0;0,0,10;0,0,10"),
    Text("v", "1,0;10,0;100,5;1000,6"),
    Flag("unscaled"),  # the classroom's products are not divided by the root of the width
    Text("heads_by", "leading"),  # the number on the map of all heads: a role, or an effect
    Text("heads_at", "copied"),  # at which characters: copied or edited
    Text("snapshot"),  # the training step of the page on growing up; empty: the last
    Text("grown_role", "own"),  # which role of its heads it follows: a name of model.analysis.roles
    Flag("film"),  # it shows one snapshot after the other
    Text("batch", "손니미 왔는데 방이 업써요.\n갠찬아요!\n이제 집에 갈께요."),  # of the masks, one a line
    Ordinal("batch_row"),  # which of these sentences is looked into; empty: the shortest
    Text("masks_kind", "decoder_attention"),
    POSITIONS,
    DIMENSIONS,
    Text("curves", "10,11,30,31"),
    Text("moved"),  # the position of the character that its page moves, from 0; empty: the first that changed
)
register(*SHARED, *OF_PAGES)
