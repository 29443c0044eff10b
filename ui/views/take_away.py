"""The view to take with you: its numbers and its pictures as files, and its link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

from ui import address, markup, texts
from ui.export import data, page
from ui.export.parts import Choices
from ui.texts import say
from ui.views import heatmap, lines, steps
from ui.views.map_cells import cells_of

if TYPE_CHECKING:
    from ui.lens import Lens

PAGE_MEGABYTES = 5  # what a page weighs before anything is in it: Plotly, and the font
_NAME_LENGTH = 20


def show(lens: Lens) -> None:
    """Buttons for the files, each made when it is asked for and never written to a disk, and the link."""
    trace = lens.trace
    st.subheader(say("take_away_heading"))
    markup.paragraph(
        say(
            "take_away_reading",
            kinds=len(trace.kinds),
            layers=trace.num_layers,
            heads=trace.num_heads,
            count=f"{data.count(lens, 'all'):,}",
            changes=len(lens.sentence.changes),
        ),
        "reading",
    )
    show_files(lens)
    show_link()
    with st.expander(say("take_away_idea_label")):
        st.markdown(say("take_away_idea"))


def show_files(lens: Lens) -> None:
    part = data.part_that_fits(lens)
    with st.container(horizontal=True, gap="small"):
        _offer("html", "text/html", page_maker(lens), lens)
        _offer("csv", "text/csv", partial(data.to_csv, lens), lens)
        _offer("json", "application/json", partial(data.to_json, lens), lens)
        _offer("npz", "application/octet-stream", partial(data.to_npz, lens), lens)
    markup.paragraph(say(f"take_away_part_{part}", rows=f"{data.count(lens, part):,}"), "note")
    markup.paragraph(say("take_away_html_meaning", megabytes=PAGE_MEGABYTES), "note")
    markup.paragraph(say("take_away_figures"), "note")


def _offer(ending: str, mime: str, make: Callable[[], bytes], lens: Lens) -> None:
    st.download_button(
        say(f"take_away_{ending}"),
        make,
        file_name=file_name(lens.sentence.text, ending),
        mime=mime,
        key=f"take_away_{ending}",
        on_click="ignore",
    )


def file_name(text: str, ending: str) -> str:
    """A name that every system takes and that says which sentence it is about, Hangul included."""
    words = "".join(character if character.isalnum() else " " for character in text[:_NAME_LENGTH]).split()
    return "-".join(["attention", *words]) + f".{ending}"


def page_maker(lens: Lens) -> Callable[[], bytes]:
    """Makes the HTML later, outside of the session: what only the session knows is looked up now."""
    layers, heads = lens.trace.num_layers, lens.trace.num_heads
    minus_copy = address.get("shown") == "difference"
    cells = cells_of(
        lens,
        by_words=address.get("unit") == "word",
        without_marks=address.get("unmarked") == "1",
        minus_copy=minus_copy,
    )
    choices = Choices(
        language=texts.language(),
        address=link(),
        cells=cells,
        selected=heatmap.selected_cell(cells),
        minus_copy=minus_copy,
        fitted=address.get("fitted") == "1",
        logarithmic=address.get("logarithmic") == "1",
        heads=tuple(lines.chosen_heads(address.get("heads"), layers, heads) or lines.heads_of(lens)),
        mass=address.get_number("mass", lines.LEAST_MASS, lines.MOST_MASS) / 100,
        step=steps.first_step(lens),
    )
    return partial(page.to_html, lens, partial(say_in, choices.language), choices)


def say_in(language: str, key: str, /, **values: object) -> str:
    """The text ``key`` in ``language``; unlike ``say`` it needs no session."""
    return texts.table(language)[key].format(**values)


def show_link() -> None:
    markup.paragraph(say("take_away_link_label"), "lead")
    markup.link(link())  # not st.code: its colours for programs are 1.5 MB that the first page would wait for
    markup.paragraph(say("take_away_link_meaning"), "note")
    if len(address.get("sentence")) > address.LONGEST:
        markup.paragraph(say("take_away_link_without_text"), "note")


def link() -> str:
    """The address of this view; the sentence is always in it, so that another default changes nothing."""
    view = {name: address.get(name) for name in address.DEFAULTS}
    told = {
        name: value
        for name, value in view.items()
        if (value != address.DEFAULTS[name] or name == "sentence") and len(value) <= address.LONGEST
    }
    return f"{(st.context.url or '').rstrip('/')}/?{urlencode(told)}"
