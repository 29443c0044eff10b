"""The misspelled sentences that the page offers."""

import json
from dataclasses import dataclass
from functools import cache

import assets


@dataclass(frozen=True)
class Example:
    """``id`` names the kind of error; its label is the text ``example_<id>`` of each language."""

    id: str
    text: str


@cache
def load_examples() -> tuple[Example, ...]:
    """All examples in the order in which they are offered."""
    return tuple(Example(**entry) for entry in json.loads(assets.EXAMPLES.read_text("utf-8")))
