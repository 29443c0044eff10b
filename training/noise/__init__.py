"""Error generation (synthetic noise): right Korean sentences made wrong as people do.

A ``Draft`` (``draft``) keeps a cell for each character of the right sentence. Its cells never move, so rules
can follow one another, and each edit is recorded with its rule, its family and its place. The families:

* ``pronunciation``: written as it is heard (표준 발음법)
* ``typing_slips``: slips of the fingers on a two-set keyboard
* ``native``: frequent spelling mistakes, a table and rules
* ``spacing``: 한글 맞춤법 제2항, 제41항 to 제50항

``pairs`` combines families in a sentence. Other makers give pairs that running text lacks:

* ``drill``: rare mistakes practised as often as common ones, and single misplaced spaces
* ``strokes``: slips of timing, of syllables and of particles
* ``norm``: the norm article by article, with a fifth of its words held out to measure on
* ``registers``: lists, chat, mark-up and code (``register_kinds``, of ``pieces`` of sentences), and
  repetitions
* ``everyday``: sentences composed of everyday words; ``lexicon``: sentences with other nouns
* ``lookalikes``: laughing, hearsay and the like, which is right and stays

Lists, patterns and rates are in files beside the code: ``words.toml`` has the lists of words, ``rates.toml``
how often each kind of mistake is made, and the others what one module reads.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def read_toml(name: str) -> dict[str, Any]:
    """A TOML file of this folder, by its name without ``.toml``."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))


@cache
def read_lines(name: str) -> tuple[str, ...]:
    """The lines of a text file of this folder, read once.

    >>> read_lines("everyday.tsv")[0].split()
    ['stem', 'tag', 'particle', 'nouns']
    """
    return tuple((_FOLDER / name).read_text("utf-8").splitlines())


_WORDS, _RATES = read_toml("words"), read_toml("rates")


def words_of(module: str) -> dict[str, tuple[str, ...]]:
    """The lists of ``words.toml`` for one module: a string holds words between spaces.

    >>> words_of("word_parts")["no_suffix"]
    ('무제한', '최소한', '최대한')
    """
    lists = _WORDS[module].items()
    return {name: tuple(each.split() if isinstance(each, str) else each) for name, each in lists}


def rates_of(module: str) -> dict[str, float]:
    """The table of ``rates.toml`` for one module, in its order."""
    return dict(_RATES[module])
