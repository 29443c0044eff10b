"""The only place where the pages write HTML; everything that a person typed passes ``escape`` here."""

from collections.abc import Iterable
from html import escape
from pathlib import Path

import pandas as pd
import streamlit as st

from model.changes import Change

_STYLE = Path(__file__).with_name("style.css")


def style() -> None:
    """The page's few own rules of style."""
    st.html(_STYLE)


def paragraph(text: str, kind: str) -> None:
    """``text`` exactly as it is, no part of it read as HTML or Markdown; ``kind`` names its style."""
    st.html(f'<p class="{kind}">{escape(text)}</p>')


def correction(
    source: str, target: str, changes: Iterable[Change], source_label: str, target_label: str
) -> None:
    """The corrected text with what is new marked; below it what was typed, what was wrong struck out."""
    changes = tuple(changes)
    right = _marked(target, [(c.target_start, c.target_end) for c in changes], "ins")
    wrong = _marked(source, [(c.source_start, c.source_end) for c in changes], "del")
    st.html(
        f'<div class="correction"><h2>{escape(target_label)}</h2><p class="corrected" lang="ko">{right}</p>'
        f'<h3>{escape(source_label)}</h3><p class="typed" lang="ko">{wrong}</p></div>'
    )


def table(cells: pd.DataFrame, label: str) -> None:
    """A table of texts with a header for each row and column; a reader without a mouse can scroll it, too."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in cells.columns)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for name, row in zip(cells.index, cells.to_numpy(), strict=True)
    )
    st.html(
        f'<div class="numbers" role="region" tabindex="0" aria-label="{escape(label)}"><table>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _marked(text: str, spans: Iterable[tuple[int, int]], tag: str) -> str:
    parts, done = [], 0
    for start, end in spans:
        parts.append(escape(text[done:start]))
        if start < end:
            parts.append(f"<{tag}>{escape(text[start:end])}</{tag}>")
        done = end
    return "".join([*parts, escape(text[done:])])
