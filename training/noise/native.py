"""Frequent mistakes of native writers as error rules, read from ``native.toml``.

A mistake replaces right letters of a ``Draft``. The file is in the format of ``model/norm/kinds.py``: rows
hold the closed cases (며칠/몇일), a rule covers an open class (돼/되 before any ending) by one regular
expression. Sources: 한글 맞춤법, 표준어 규정, 외래어 표기법 and 표준국어대사전 (국립국어원), named kind by
kind.
"""

import functools
import random
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from model.norm.kinds import Misspelling, RowIndex, Rule, read_kinds, rows_of
from training.noise import rates_of
from training.noise.draft import Draft, ErrorRule, changed_cells

FAMILY = "native"

_KINDS = read_kinds([Path(__file__).with_name("native.toml")])
_RULES = {kind.name: kind.rules[0] for kind in _KINDS.values() if kind.rules}


@functools.cache
def table() -> tuple[Misspelling, ...]:
    """All rows of ``native.toml``, read once."""
    return rows_of(_KINDS)


@functools.cache
def _table_index() -> RowIndex:
    return RowIndex(table())


def write_table_mistakes(draft: Draft, rng: random.Random, rate: float) -> None:
    """Mistakes of the table; where several rows occur at one place, one is drawn.

    Sources: its rows.

    >>> draft = Draft("며칠 뒤에 봅시다.")
    >>> write_table_mistakes(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '몇일 뒤에 봅시다.'
    """
    for start, rows in _table_index().sites(draft.text):
        row = rng.choice(rows)
        if rng.random() < rate * WEIGHTS.get(row.name, 1.0):
            offset, cells = changed_cells(row.right, row.wrong)
            _put(draft, row.name, start + offset, cells)


def _put(draft: Draft, name: str, start: int, cells: list[str]) -> None:
    """Write a mistake, unless another one is there already."""
    if not draft.touched(start, start + len(cells)):
        draft.put(name, FAMILY, start, cells)


WEIGHTS = rates_of("native")  # factors of a rule's rate


def _write_rule(name: str, rule: Rule, draft: Draft, rng: random.Random, rate: float) -> None:
    """Mistakes of one rule."""
    for match in rule.pattern.finditer(draft.text):
        if rng.random() < rate:
            right = match[0]
            offset, cells = changed_cells(right, rng.choice(rule.spellings(match)))
            whole = [*right[:offset], *cells, *right[offset + len(cells) :]]
            _put(draft, name, match.start(), whole)


NATIVE_RULES: dict[str, ErrorRule] = {
    "native_table": write_table_mistakes,
    **{name: functools.partial(_write_rule, name, rule) for name, rule in _RULES.items()},
}


def write_native_mistakes(draft: Draft, rng: random.Random, rate: float) -> None:
    """Every rule of ``NATIVE_RULES`` in order; a site fires with probability ``rate`` times its WEIGHTS.

    >>> draft = Draft("제가 할게요.")
    >>> write_native_mistakes(draft, random.Random(0), 1.0)
    >>> draft.wrong
    '제가 할께요.'
    """
    for name, rule in NATIVE_RULES.items():
        rule(draft, rng, rate * WEIGHTS.get(name, 1.0))


class MistakeSite(NamedTuple):
    """Where in a correct sentence a native mistake could be made: by the rule of this name, or a row of the
    table.
    """

    mistake: str | Misspelling
    start: int
    end: int


def native_sites(text: str) -> Iterator[MistakeSite]:
    """All sites of native mistakes in a text: first those of the rules, then those of the table.

    >>> [(site.start, site.end) for site in native_sites("제가 할게요.")]
    [(4, 5)]
    """
    for name, rule in _RULES.items():
        yield from (MistakeSite(name, *match.span()) for match in rule.pattern.finditer(text))
    for start, found in _table_index().sites(text):
        yield from (MistakeSite(row, start, start + len(row.right)) for row in found)


def has_native_site(text: str, but_for: Collection[str | Misspelling] = ()) -> bool:
    """Whether any native mistake could be made in this correct sentence, ``but_for`` these.

    >>> has_native_site("며칠"), has_native_site("하늘")
    (True, False)
    """
    return any(site.mistake not in but_for for site in native_sites(text))
