"""HTML of the pages, with all typed text escaped.

No other file writes HTML.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from model.text.changes import Change
from viz.labels import capital

_STYLE = Path(__file__).with_name("style.css")
_LECTURE_STYLE = Path(__file__).with_name("lecture.css")


def style(theme: str) -> None:
    """The page's few own rules of style; ``theme`` is "light" or "dark"."""
    st.html(_STYLE)
    # Streamlit sets the colour scheme of the page alone. Popovers and menus lie outside of it and would use
    # light colours.
    st.html(f"<style>:root {{color-scheme: {theme}}}</style>")


def lecture_style() -> None:
    """Larger type for the back row. Controls that a lecturer sets before the lesson are hidden."""
    st.html(_LECTURE_STYLE)


def variables(selector: str, values: Mapping[str, str]) -> None:
    """Set variables of style.css for the elements of ``selector``; the values are CSS, never a visitor's
    text."""
    st.html(
        f"<style>{selector} {{{''.join(f'--{name}: {value};' for name, value in values.items())}}}</style>"
    )


def paragraph(text: str, kind: str) -> None:
    """``text`` exactly as it is, no part of it read as HTML or Markdown; ``kind`` names its style."""
    st.html(f'<p class="{kind}">{escape(text)}</p>')


def colour_key(colours: Sequence[str], low: str, high: str) -> None:
    """A bar of ``colours``, which are CSS, between the numbers of its ends."""
    bar = f'<i style="background: linear-gradient(to right, {", ".join(colours)})"></i>'
    st.html(f'<p class="key">{escape(low)}{bar}{escape(high)}</p>')


def told(text: str, kind: str = "") -> None:
    """The sentence above a picture, with a capital letter at its beginning."""
    st.html(f'<p class="{f"told {kind}".strip()}">{escape(capital(text))}</p>')


def corrected(source: str, changes: Sequence[Change]) -> None:
    """``source`` with each change in its place, large."""
    # ``bdi``: a character that turns the direction of writing must not turn the arrow behind it
    text = with_changes(source, changes, lambda text: f"<bdi>{escape(text)}</bdi>")
    st.html(f'<p class="class-sentence" lang="ko">{text}</p>')


def with_changes(source: str, changes: Iterable[Change], written: Callable[[str], str] = escape) -> str:
    """``source`` as HTML, each change in its place: the wrong text struck out, the right one after it, both
    as ``written``.

    >>> with_changes("밥을 머거.", [Change(3, 5, 3, 5, "머거", "먹어")])
    '밥을 <del>머거</del><ins>먹어</ins>.'
    """
    pieces, done = [], 0
    for change in changes:
        pieces.append(escape(source[done : change.source_start]))
        sides = ("del", change.wrong), ("ins", change.right)
        pieces += [f"<{tag}>{written(text)}</{tag}>" for tag, text in sides if text]
        done = change.source_end
    return "".join([*pieces, escape(source[done:])])


def marked(tokens: Sequence[tuple[str, bool]]) -> None:
    """Characters in a row, each with whether it is marked."""
    parts = (f"<mark>{escape(text)}</mark>" if is_marked else escape(text) for text, is_marked in tokens)
    st.html(f'<p class="class-sentence class-marks" lang="ko">{" ".join(parts)}</p>')


def qr_code(text: str, label: str, kind: str = "qr") -> None:
    """``text`` as a QR code, dark on white in every theme; ``label`` describes it, ``kind`` is its style.
    Raises segno.DataOverflowError for a text that is too long."""
    import segno  # only who asks for a code needs it

    drawing = segno.make(text, error="m").svg_data_uri(border=4, light="#ffffff", omitsize=True)
    st.html(f'<img class="{kind}" src="{escape(drawing)}" alt="{escape(label)}">')


def before_and_after(sides: Sequence[tuple[str, str, str, str]]) -> None:
    """Texts side by side, large: of each a name, the text, and a verdict of two parts, the second of them
    strong."""
    found = "".join(
        f'<div><p class="label">{escape(label)}</p><p class="written" lang="ko">{escape(text)}</p>'
        f'<p class="verdict">{escape(number)} <strong>{escape(verdict)}</strong></p></div>'
        for label, text, number, verdict in sides
    )
    st.html(f'<div class="before-and-after">{found}</div>')


def claims(claims: Sequence[tuple[bool, str, str, str]]) -> None:
    """Claims one below the other: of each whether it holds, the word for that, the claim, and the numbers
    behind it."""
    found = "".join(
        f'<li class="{"holds" if holds else "fails"}"><span class="mark" role="img" '
        f'aria-label="{escape(word)}">'
        f"{'✓' if holds else '✗'}</span><span>{escape(claim)} <strong>{escape(numbers)}</strong></span></li>"
        for holds, word, claim, numbers in claims
    )
    st.html(f'<ul class="receipts">{found}</ul>')


def heading(text: str, kind: str, level: int) -> None:
    """``text`` exactly as it is, as a heading of the page."""
    st.html(f'<h{level} class="{kind}">{escape(text)}</h{level}>')


def link(address: str) -> None:
    """An address to copy or to open, exactly as it is."""
    st.html(f'<p class="link"><a href="{escape(address)}">{escape(address)}</a></p>')


def table(
    columns: Sequence[str],
    rows: Iterable[tuple[str, Sequence[str]]] | Mapping[str, Sequence[str]],
    label: str,
    strong: str | None = None,
    corner: str = "",
) -> None:
    """A table of texts with a header for each row and column; a reader without a mouse can scroll it, too.

    ``strong`` is the name of the emphasised row, ``corner`` the header of the names of the rows.
    """
    named = rows.items() if isinstance(rows, Mapping) else rows
    first = f'<th scope="col">{escape(corner)}</th>' if corner else "<td></td>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr{_class("strong" if name == strong else "")}><th scope="row">{escape(name)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row)
        + "</tr>"
        for name, row in named
    )
    st.html(
        f'<div class="numbers" role="region" tabindex="0" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{first}{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""
