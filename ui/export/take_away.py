"""Download menu of a view: the page as HTML, numbers, the page with its network, the link.

Numbers come as CSV, JSON and NPZ, every float32 exactly. The page with its network is the one file of
``deploy/site`` with the sentence of the view in it. ``python -m deploy.site static/see-attention.html
--one-file`` makes that file once. Where it lies there, the app offers it.
"""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import streamlit as st

import assets
from model.tables.rows import without_formula
from model.trace.strict_npz import packed
from ui.components.widgets import copy_button
from ui.export import page
from ui.export.page import Choices, Experiment
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.views import heatmap, lines, steps
from ui.views.view import View
from ui.wording import language, say, spoken
from viz.labels import capital

SCHEMA_VERSION = 1
SHEET_ROWS = 1_048_575  # rows of Excel and LibreOffice below a header; a text file of it has about 60 MB
MEAN = "mean"
COLUMNS = (
    "kind",
    "layer",
    "head",
    "query_position",
    "query_token",
    "key_position",
    "key_token",
    "weight",
)


def part_that_fits(state: SentenceState) -> str:
    """How much of the attention CSV and JSON hold: ``"all"``, the shown ``"kind"``, or the ``"shown"`` map.

    It is the largest that a spreadsheet can show. NPZ always holds all.
    """
    sizes = {kind: state.trace.attention(kind).size for kind in state.trace.kinds}
    if sum(sizes.values()) <= SHEET_ROWS:
        return "all"
    return "kind" if sizes[state.kind] <= SHEET_ROWS else "shown"


def count(state: SentenceState, part: str) -> int:
    """How many weights ``part`` of the attention has, masked ones included; a kind has (L, H, Q, K)."""
    return sum(weights.size for *_, weights in _maps(state, part))


def to_csv(state: SentenceState) -> bytes:
    """A long table, one weight a row, in UTF-8 with the mark by which Excel knows it.

    Layers, heads and positions count from 1; ``mean`` is the mean over layers or heads. A token that a
    spreadsheet would take for a formula gets an apostrophe before it; its position still says which token it
    is.

    Returns bytes.
    """
    # here, because it would be a third of the first page's imports, and that page does not need it
    import pandas as pd

    lines = [",".join(COLUMNS) + "\r\n"]
    for kind, layer, head, weights in _maps(state, part_that_fits(state)):
        # As objects: NumPy's own texts lose a NUL at their end.
        queries, keys = (np.array(list(map(harmless, axis)), object) for axis in state.trace.axes(kind))
        rows, columns = np.indices(weights.shape).reshape(2, -1)
        values = (kind, layer, head, rows + 1, queries[rows], columns + 1, keys[columns], weights.ravel())
        table = pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
        lines.append(table.to_csv(header=False, index=False, lineterminator="\r\n"))
    return _encoded("\ufeff" + "".join(lines))


def harmless(token: str) -> str:
    """``token`` with an apostrophe before it where a spreadsheet would read it as a formula.

    >>> harmless("=1+1"), harmless("가")
    ("'=1+1", '가')
    """
    return without_formula(_encoded(token).decode())


def _maps(state: SentenceState, part: str) -> Iterator[tuple[str, int | str, int | str, np.ndarray]]:
    """(kind, layer, head, weights (Q, K)) of ``part`` of the attention."""
    if part == "shown":
        yield state.kind, _counted(state.layer), _counted(state.head), state.weights
        return
    for kind in state.trace.kinds if part == "all" else (state.kind,):
        for layer, heads in enumerate(state.trace.attention(kind), start=1):
            for head, weights in enumerate(heads, start=1):
                yield kind, layer, head, weights


def _counted(index: int | None) -> int | str:
    return MEAN if index is None else index + 1


def to_json(state: SentenceState) -> bytes:
    """The typed and the corrected text with probabilities, and the trace under the names of its fields.

    ``attention_part`` says how much of the attention is in it (``part_that_fits``); ``shown`` holds the map
    of the view. Numbers have the fewest digits that give the same float32 again.

    Returns bytes of UTF-8.
    """
    part = part_that_fits(state)
    left_out = {kind for kind in state.trace.kinds if part != "all" and (part, kind) != ("kind", state.kind)}
    content = {
        "schema_version": SCHEMA_VERSION,
        **_facts(state),
        "changes": [
            asdict(change) | {"confidence": change.confidence if change.is_weighed else None}
            for change in state.sentence.changes
        ],
        "attention_part": part,
        **{name: _plain(value) for name, value in _trace(state).items() if name not in left_out},
        "shown": {
            "kind": state.kind,
            "layer": _counted(state.layer),
            "head": _counted(state.head),
            "weights": _plain(state.weights),
        },
    }
    return _encoded(json.dumps(content, ensure_ascii=False, allow_nan=False))


def to_npz(state: SentenceState) -> bytes:
    """The trace as arrays under the names of its fields, tokens as texts; ``allow_pickle`` is not needed.

    ``change_spans`` (N, 4) holds start and end of each change in the source and in the corrected text,
    ``change_confidence`` (N,) NaN for a change that was not weighed.
    NumPy's texts lose a NUL at their end; ``to_trace`` and ``to_json`` keep it. ``AttentionTrace.load`` can
    read this file, too.
    """
    changes = state.sentence.changes
    spans = [(c.source_start, c.source_end, c.target_start, c.target_end) for c in changes]
    arrays = {
        "schema_version": np.array(SCHEMA_VERSION),
        **{name: np.array(value) for name, value in _facts(state).items()},
        "change_spans": np.array(spans, np.int64).reshape(-1, 4),
        "change_wrong": np.array([c.wrong for c in changes], str),
        "change_right": np.array([c.right for c in changes], str),
        "change_fix_probability": np.array([c.fix_probability for c in changes], np.float64),
        "change_keep_probability": np.array([c.keep_probability for c in changes], np.float64),
        "change_confidence": np.array(
            [c.confidence if c.is_weighed else np.nan for c in changes], np.float64
        ),
        **{name: np.asarray(value) for name, value in _trace(state).items()},
        **packed(*state.trace.contents()),
    }
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def to_trace(state: SentenceState) -> bytes:
    """The trace as ``model.AttentionTrace.load`` reads it. Returns bytes of NPZ."""
    file = io.BytesIO()
    state.trace.save(file)
    return file.getvalue()


def _facts(state: SentenceState) -> dict[str, str | float]:
    return {
        "model": state.corrector.name,
        "fingerprint": state.corrector.fingerprint,
        "source": state.sentence.source,
        "text": state.sentence.text,
        "minimum_confidence": state.sentence.minimum_confidence,
    }


def _trace(state: SentenceState) -> dict[str, object]:
    """Every field that this trace has, by its name."""
    values = {field.name: getattr(state.trace, field.name) for field in fields(state.trace)}
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: object) -> object:
    """Nested lists. Each float32 becomes the float that JSON writes with the same few digits."""
    if not isinstance(value, np.ndarray):
        return value
    return np.array([float(text) for text in value.ravel().astype(str)]).reshape(value.shape).tolist()


def _encoded(text: str) -> bytes:
    # A command line may hand over half a surrogate pair, which UTF-8 cannot hold. It is written as \udXXX,
    # which JSON reads again.
    return text.encode("utf-8", "backslashreplace")


class DataFile(NamedTuple):
    """A data format of the download menu."""

    to_bytes: Callable[[SentenceState], bytes]
    mime: str
    ending: str


# By name, in the order of their buttons; the label is the text ``take_away_<name>``.
FILES = {
    "csv": DataFile(to_csv, "text/csv", "csv"),
    "json": DataFile(to_json, "application/json", "json"),
    "npz": DataFile(to_npz, "application/octet-stream", "npz"),
    "trace": DataFile(to_trace, "application/octet-stream", "trace.npz"),
}


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


PAGE_MEGABYTES = 1  # of an empty page: Plotly, and the font
_NAME_LENGTH = 20
LONGEST_QR = 1200  # characters of a link; more would be too fine for the camera of a phone


def show(views: Iterable[type[View]], opened: View) -> None:
    """Buttons for the files, and the link. A file is made when it is asked for and never written to a disk.
    The page contains the pictures of ``views`` show, and the experiment that is ``opened``, if it has
    figures."""
    state, trace = opened.state, opened.state.trace
    markup.paragraph(
        say(
            "take_away_reading",
            kinds=len(trace.kinds),
            layers=trace.num_layers,
            heads=trace.num_heads,
            count=f"{count(state, 'all'):,}",
            changes=len(state.sentence.changes),
        ),
        "reading",
    )
    _show_files(views, opened)
    if not state.from_file:
        _show_link()
    st.markdown(say("take_away_idea"))


def _show_files(views: Iterable[type[View]], opened: View) -> None:
    state = opened.state
    part = part_that_fits(state)
    with st.container(horizontal=True, gap="small"):
        _offer("html", "text/html", page_maker(views, opened), state)
        if is_alive := holds(state.corrector.fingerprint):
            _offer("alive", "text/html", _alive_maker(state), state, "live.html")
        for name, file in FILES.items():
            _offer(name, file.mime, partial(file.to_bytes, state), state, file.ending)
    markup.paragraph(say(f"take_away_part_{part}", rows=f"{count(state, part):,}"), "note")
    markup.paragraph(say("take_away_html_meaning", megabytes=PAGE_MEGABYTES), "note")
    if is_alive:
        markup.paragraph(say("take_away_alive_meaning", megabytes=ALIVE_MEGABYTES), "note")
    markup.paragraph(say("take_away_figures"), "note")


def _offer(what: str, mime: str, make: Callable[[], bytes], state: SentenceState, ending: str = "") -> None:
    file = file_name(state.sentence.text, ending or what)
    controls.offer(say(f"take_away_{what}"), f"take_away_{what}", file, make, mime=mime)


def file_name(text: str, ending: str) -> str:
    """A name that every system takes and that says which sentence it is about, Hangul included.

    >>> file_name("손님이 왔다.", "csv")
    'attention-손님이-왔다.csv'
    """
    words = "".join(character if character.isalnum() else " " for character in text[:_NAME_LENGTH]).split()
    return "-".join(["attention", *words]) + f".{ending}"


def page_maker(views: Iterable[type[View]], opened: View) -> Callable[[], bytes]:
    """A function that makes the HTML later, outside of the session. Values of the session are read now. The
    function returns bytes."""
    state = opened.state
    values = {view.name: controls.values(view.settings) for view in views}
    choices = Choices(
        address="" if state.from_file else _link(),
        values=values,
        selected=heatmap.selected_cell(heatmap.cells_for(state, values["heatmap"])),
        heads=tuple(lines.heads_to_draw(state)),
        step=steps.first_step(state),
        experiment=experiment(opened),
    )
    return spoken(language())(partial(page.to_html, state, choices))


def _alive_maker(state: SentenceState) -> Callable[[], bytes]:
    """A function that makes the page with its network later, outside of the session."""
    text = address.get("sentence") or state.sentence.source
    return partial(to_alive, {"text": text, "lang": language(), "theme": state.theme})


def experiment(opened: View) -> Experiment | None:
    """The figures and texts of the open view; None if it has no figures or lacks what they need. Raises
    EngineError where an answer that they show does not come."""
    made = opened.exported if opened.message is None else {}
    if not made:
        return None
    told = capital(opened.describe()), *opened.paragraphs(), *opened.notes()
    return Experiment(say(f"view_{opened.name}"), told, made, opened.intervenes)


def _show_link() -> None:
    markup.paragraph(say("take_away_link_label"), "lead")
    markup.link(_link())  # not st.code: its colours for programs are 1.5 MB for the first page to wait for
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
