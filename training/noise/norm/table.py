"""The sentences in which the norm is practised, read from the ``.toml`` files beside this one.

``slots.toml`` has lists of words by the name of the slot and the frames for single words. The others have a table for a
kind of ``model/norm``: ``sentences`` with a mistake and ``stay`` without one, a template a line (see ``template.py``), and
how often the kind comes (``weight``). A line, or a word of a slot, that begins with ``*`` is held out of practice.
"""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from model.norm.kinds import Entry, Kind, kinds
from training.noise.norm.template import Template

FILES = ("sentences", "spaces")
LARGEST_SHARE = 8.0  # a kind with many words comes at most so many times as often as one with one word


@dataclass(frozen=True)
class NormPractice:
    """What there is to practise, or to measure on, of one kind."""

    kind: Kind
    entries: tuple[Entry, ...]
    sentences: tuple[Template, ...]
    stay: tuple[Template, ...]
    weight: float


@cache
def practices(held_out: bool) -> tuple[NormPractice, ...]:
    """Of every kind that has any, what is practised, or what is held out of it."""
    written = _written()
    found = []
    for name, kind in kinds().items():
        fields = written.get(name, {})
        entries = tuple(each for each in kind.entries if each.held_out == held_out)
        sentences, stay = (_templates(fields.get(key, ""), held_out) for key in ("sentences", "stay"))
        size = len(entries) + len(sentences)
        weight = min(LARGEST_SHARE, math.sqrt(size)) * fields.get("weight", 1.0)
        found.append(NormPractice(kind, entries, sentences, stay, weight))
    return tuple(found)


@cache
def slots(held_out: bool) -> dict[str, tuple[str, ...]]:
    """The words of each slot; of a slot without held-out ones, all."""
    lists = {
        name: [word.strip() for word in text.split(",")] for name, text in _slots_file()["slots"].items()
    }
    return {name: _chosen(words, held_out) for name, words in lists.items()}


@cache
def frames(word_class: str) -> tuple[Template, ...]:
    """Sentences for a single word, which stands in the slot ``<@>``."""
    return tuple(Template(line) for line in _lines(_slots_file()["frames"][word_class]))


def _chosen(words: list[str], held_out: bool) -> tuple[str, ...]:
    chosen = [word.removeprefix("*") for word in words if word.startswith("*") == held_out]
    return tuple(chosen or [word.removeprefix("*") for word in words])


def _templates(text: str, held_out: bool) -> tuple[Template, ...]:
    lines = [line for line in _lines(text) if line.startswith("*") == held_out]
    return tuple(Template(line.removeprefix("*")) for line in lines)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _read(name: str) -> dict:
    return tomllib.loads(files("training.noise.norm").joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def _slots_file() -> dict:
    return _read("slots")


@cache
def _written() -> dict[str, dict]:
    found = {name: fields for file in FILES for name, fields in _read(file).items()}
    if unknown := set(found) - set(kinds()):
        raise ValueError(f"sentences for kinds that model/norm does not have: {sorted(unknown)}")
    return found
