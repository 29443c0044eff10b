"""The only place where the pages write HTML; everything that a person typed passes ``escape`` here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from model.changes import Change

if TYPE_CHECKING:
    import pandas as pd

_STYLE = Path(__file__).with_name("style.css")
_LECTURE_STYLE = Path(__file__).with_name("lecture.css")


def style() -> None:
    """The page's few own rules of style."""
    st.html(_STYLE)


def lecture_style() -> None:
    """Larger type for the back row, and out of the way what a lecturer sets before the lesson."""
    st.html(_LECTURE_STYLE)


def paragraph(text: str, kind: str) -> None:
    """``text`` exactly as it is, no part of it read as HTML or Markdown; ``kind`` names its style."""
    st.html(f'<p class="{kind}">{escape(text)}</p>')


def link(address: str) -> None:
    """An address to copy or to open, exactly as it is."""
    st.html(f'<p class="link"><a href="{escape(address)}">{escape(address)}</a></p>')


def correction(
    source: str,
    target: str,
    changes: Iterable[Change],
    labels: tuple[str, str],
    note_of: Callable[[Change], str],
) -> None:
    """The corrected text with what is new marked; below it what was typed, what was wrong struck out.

    ``labels`` name what was typed and what is corrected. ``note_of`` a change appears where a mouse rests on
    its mark, and beside the mark where it is touched or reached by keyboard.
    """
    changes = tuple(changes)
    source_label, target_label = map(escape, labels)
    right = _marked(target, [Mark("ins", c.target_start, c.target_end, note_of(c), True) for c in changes])
    # What is only taken away has no mark in the corrected text, so its mark here can be reached instead.
    wrong = _marked(
        source, [Mark("del", c.source_start, c.source_end, note_of(c), not c.right) for c in changes]
    )
    st.html(
        f'<div class="correction"><h2>{target_label}</h2><p class="corrected" lang="ko">{right}</p>'
        f'<h3>{source_label}</h3><p class="typed" lang="ko">{wrong}</p></div>'
    )


def table(cells: pd.DataFrame, label: str, strong: str | None = None) -> None:
    """A table of texts with a header for each row and column; a reader without a mouse can scroll it, too.

    ``strong`` is the name of the row that stands out. What the rows are named by, the index may tell.
    """
    corner = f'<th scope="col">{escape(cells.index.name)}</th>' if cells.index.name else "<td></td>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cells.columns)
    rows = "".join(
        f'<tr{_class("strong" if name == strong else "")}><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for name, row in zip(cells.index, cells.to_numpy(), strict=True)
    )
    st.html(
        f'<div class="numbers" role="region" tabindex="0" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{corner}{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


@dataclass(frozen=True)
class Mark:
    """A span of a text inside the element ``tag``, with a note; ``reachable`` by keyboard and by touch."""

    tag: str
    start: int
    end: int
    note: str
    reachable: bool = False


def _marked(text: str, marks: Iterable[Mark]) -> str:
    parts, done = [], 0
    for mark in marks:
        parts.append(escape(text[done : mark.start]))
        if mark.start < mark.end:
            place = ' tabindex="0"' if mark.reachable else ""
            inside = escape(text[mark.start : mark.end])
            parts.append(f'<{mark.tag} title="{escape(mark.note)}"{place}>{inside}</{mark.tag}>')
        done = mark.end
    return "".join([*parts, escape(text[done:])])
