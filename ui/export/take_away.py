"""Download menu of a view: numbers, pictures, the page with its network, and the link.

The page with its network is the one file of ``deploy/site`` with the sentence of the view in it. ``python -m
deploy.site static/see-attention.html --one-file`` makes that file once. Where it lies there, the app offers
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit as st

import assets
from ui import wording
from ui.components.widgets import copy_button
from ui.export import data, page
from ui.export.page import Choices, Experiment
from ui.shell import address, controls, markup
from ui.views import heatmap, lines, steps
from ui.wording import say

ALIVE_FILE = assets.STATIC / "see-attention.html"
ALIVE_MEGABYTES = 22  # its largest size
_HEAD = 2000  # bytes at the file's beginning, among them _NETWORK
_NETWORK = '<meta name="network" content="{fingerprint}">'
_BEGINNING = b'<script type="text/plain" id="beginning"></script>'


def holds(fingerprint: str, file: Path = ALIVE_FILE) -> bool:
    """Whether the file is there and has the network with this fingerprint::

    holds(corrector.fingerprint)

    Reads 2,000 bytes.
    """
    if not file.is_file():
        return False
    with file.open("rb") as page:
        return _NETWORK.format(fingerprint=fingerprint).encode() in page.read(_HEAD)


def to_alive(settings: Mapping[str, str], file: Path = ALIVE_FILE) -> bytes:
    """The file that begins with ``settings``, as in the site's address behind ``#``::

    to_alive({"text": "밥을 머거요.", "lang": "ko"})

    Returns bytes. Raises OSError without the file.
    """
    # A command line may hand over half a surrogate pair, which no address can hold.
    told = urlencode(settings, errors="replace").encode()
    opening, closing = _BEGINNING.split(b"><")
    return file.read_bytes().replace(_BEGINNING, opening + b">" + told + b"<" + closing, 1)


if TYPE_CHECKING:
    from ui.sentence.state import SentenceState
    from ui.views.view import View

PAGE_MEGABYTES = 1  # of an empty page: Plotly, and the font
_NAME_LENGTH = 20
LONGEST_QR = 1200  # characters of a link; more would be too fine for the camera of a phone


def show(state: SentenceState, views: Iterable[View], opened: View) -> None:
    """Buttons for the files, and the link. A file is made when it is asked for and never written to a disk.
    The page contains the pictures of ``views`` show, and the experiment that is ``opened``, if it has
    figures."""
    trace = state.trace
    markup.paragraph(
        say(
            "take_away_reading",
            kinds=len(trace.kinds),
            layers=trace.num_layers,
            heads=trace.num_heads,
            count=f"{data.count(state, 'all'):,}",
            changes=len(state.sentence.changes),
        ),
        "reading",
    )
    _show_files(state, views, opened)
    if not state.from_file:
        _show_link()
    st.markdown(say("take_away_idea"))


def _show_files(state: SentenceState, views: Iterable[View], opened: View) -> None:
    part = data.part_that_fits(state)
    with st.container(horizontal=True, gap="small"):
        _offer("html", "text/html", page_maker(state, views, opened), state)
        if is_alive := holds(state.corrector.fingerprint):
            _offer("alive", "text/html", _alive_maker(state), state, "live.html")
        for name, file in data.FILES.items():
            _offer(name, file.mime, partial(file.to_bytes, state), state, file.ending)
    markup.paragraph(say(f"take_away_part_{part}", rows=f"{data.count(state, part):,}"), "note")
    markup.paragraph(say("take_away_html_meaning", megabytes=PAGE_MEGABYTES), "note")
    if is_alive:
        markup.paragraph(say("take_away_alive_meaning", megabytes=ALIVE_MEGABYTES), "note")
    markup.paragraph(say("take_away_figures"), "note")


def _offer(what: str, mime: str, make: Callable[[], bytes], state: SentenceState, ending: str = "") -> None:
    st.download_button(
        say(f"take_away_{what}"),
        make,
        file_name=file_name(state.sentence.text, ending or what),
        mime=mime,
        key=f"take_away_{what}",
        on_click="ignore",
    )


def file_name(text: str, ending: str) -> str:
    """A name that every system takes and that says which sentence it is about, Hangul included.

    >>> file_name("손님이 왔다.", "csv")
    'attention-손님이-왔다.csv'
    """
    words = "".join(character if character.isalnum() else " " for character in text[:_NAME_LENGTH]).split()
    return "-".join(["attention", *words]) + f".{ending}"


def page_maker(state: SentenceState, views: Iterable[View], opened: View) -> Callable[[], bytes]:
    """A function that makes the HTML later, outside of the session. Values of the session are read now. The
    function returns bytes."""
    values = {view.name: controls.values(view.settings) for view in views}
    choices = Choices(
        language=wording.language(),
        address="" if state.from_file else _link(),
        values=values,
        selected=heatmap.selected_cell(heatmap.cells_for(state, values["heatmap"])),
        heads=tuple(lines.heads_to_draw(state)),
        step=steps.first_step(state),
        experiment=experiment(state, opened),
    )
    return partial(page.to_html, state, partial(say_in, choices.language), choices)


def _alive_maker(state: SentenceState) -> Callable[[], bytes]:
    """A function that makes the page with its network later, outside of the session."""
    text = address.get("sentence") or state.sentence.source
    return partial(to_alive, {"text": text, "lang": wording.language(), "theme": state.theme})


def experiment(state: SentenceState, opened: View) -> Experiment | None:
    """The figures and texts of the open view; None if it has no figures or lacks what they need."""
    values = controls.values(opened.settings)
    made = opened.figures(state, values) if opened.figures and opened.message(state) is None else {}
    if not made:
        return None
    told = opened.describe(state, values), *opened.paragraphs(state, values), *opened.notes(state, values)
    return Experiment(say(f"view_{opened.name}"), told, made, opened.intervenes)


def say_in(language: str, key: str, /, **values: object) -> str:
    """The text ``key`` in ``language``; unlike ``say`` it needs no session. Raises KeyError for an unknown
    key.

    >>> say_in("en", "layer_label")
    'Layer'
    """
    return wording.table(language)[key].format(**values)


def _show_link() -> None:
    markup.paragraph(say("take_away_link_label"), "lead")
    markup.link(
        _link()
    )  # not st.code: its colours for programs are 1.5 MB that the first page would wait for
    copy_button(_link(), say("copy_link"), "copy_link")
    markup.paragraph(say("take_away_link_meaning"), "note")
    if len(_link()) <= LONGEST_QR:
        markup.qr_code(_link(), say("qr_code"))
    if len(address.get("sentence")) > address.LONGEST:
        markup.paragraph(say("take_away_link_without_text"), "note")


def _link() -> str:
    """The address of this view. The sentence is always in it, so that another default sentence changes
    nothing."""
    return f"{(st.context.url or '').rstrip('/')}/?{urlencode(address.told('sentence'))}"
