"""Pictures for students' phones: the teacher's sentence, correction and open view.

They are drawn from the sentence state of the teacher's settings. All who follow see the same. So it is made
once for each page process, theme and language, and sent to each phone as it is: a whole page for each of a
hundred phones would take four seconds of a core.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from threading import Lock

import streamlit as st

from classroom.classroom import Shown, State
from engine.question import AnswerCache
from model.stored.config import NetworkConfig
from model.text.changes import Change
from ui.asking import loaders, models
from ui.classroom.session import Membership
from ui.components import figures
from ui.components.diagram import diagram
from ui.parts import network_parts, page_pictures
from ui.sentence.decisions import corrected, reason_in_words, shown
from ui.sentence.stage import chosen_map, chosen_view, of_one_head
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup, runs
from ui.views import TABS
from ui.views.view import Part, View, plot_part
from ui.wording import language, say


def sentence_state() -> SentenceState | None:
    """The state that the main page would show; None without a model or a sentence, or for one that is too
    long. Raises StillLoading and EngineError."""
    corrector = _corrector_of_page()
    text = address.get("sentence")
    if corrector is None or not text.strip():
        return None
    sentence, change = shown(corrected(corrector, text))
    if sentence is None or sentence.too_long:
        return None
    trace = sentence.trace
    return SentenceState(corrector, sentence, trace, chosen_map(trace), change, controls.theme())


def _corrector_of_page() -> loaders.EngineCorrector | None:
    """The chosen model. Raises StillLoading while it is being loaded."""
    entry = models.chosen()
    return None if entry is None else loaders.load_corrector(entry.path)


def _view_of(page: str, seen: SentenceState) -> View:
    """The open view of ``page``, one of TABS."""
    view, selection = chosen_view(seen.trace, TABS[page])
    return view(of_one_head(view, replace(seen, selection=selection)))


_CACHE = AnswerCache(entries=64, room=64 * 2**20)
_LOCKS = tuple(Lock() for _ in range(16))  # one picture is made once, by the phone that comes first


@dataclass(frozen=True)
class Picture:
    """The content of a phone: a sentence with its changes, a text about it, the ``parts``, each a (component,
    its data), and paragraphs below."""

    source: str
    changes: tuple[Change, ...]
    told: str
    intervened: bool
    parts: tuple[Part, ...]
    paragraphs: tuple[str, ...] = ()
    card: str = ""  # the reason of the change in focus


def show(mine: Membership, state: State) -> None:
    """The teacher's view, and the button by which one looks around by oneself. Raises EngineError where the
    picture needs an answer."""
    if state.shown is None:
        st.info(say("class_nothing_shown"))
        return
    page = state.shown.page
    picture = _picture(state.shown) if page in (*TABS, *_OTHERS) else None
    if picture is not None:
        _draw(picture)
    elif page in TABS:
        st.info(say("class_no_picture"))
    else:
        st.info(say("class_other_page", page=_name(page)))
    if st.button(say("class_look_around"), key="class_look_around", icon=":material/explore:"):
        look_around(state.shown)


def look_around(shown: Shown) -> None:
    """Turn to the page that the teacher shows, with its settings, as one's own."""
    address.adopt(shown.settings)
    header.turn_to(shown.page)
    st.rerun()


def _name(page: str) -> str:
    return say(f"{page}_page") if page in header.PAGES else page


def _picture(shown: Shown) -> Picture | None:
    with address.settings_of(shown.settings):
        corrector = _corrector_of_page()
        if corrector is None:
            return None
        key = (corrector.fingerprint, shown, language(), controls.theme())
        found = _CACHE.known(key)
        if found is None:
            with runs.locked(_LOCKS[hash(key) % len(_LOCKS)]):
                found = _CACHE.known(key) or _kept(key, shown.page)
        return found


def _kept(key: Hashable, page: str) -> Picture | None:
    seen = sentence_state()
    if seen is None:
        return None
    picture = _make(page, seen) if page in TABS else _of_page(page, seen)
    if picture is None:
        return None
    size = sum(len(str(data)) for _, data in picture.parts)
    return _CACHE.get(key, lambda: (picture, size))


def _make(page: str, seen: SentenceState) -> Picture:
    """The picture of the open view of ``page``, from the settings at hand."""
    view = _view_of(page, seen)
    text = seen.sentence.source, tuple(seen.sentence.changes)
    if view.message:
        return Picture(*text, view.message, False, ())
    return Picture(
        *text,
        view.reading_of_class(),
        view.intervenes,
        tuple(view.parts()),
        tuple(view.paragraphs()),
        "" if seen.change is None else reason_in_words(seen.change, seen.sentence),
    )


_OTHERS = ("masks", "positions", "network")  # pages without views whose pictures a phone shows


def _of_page(page: str, seen: SentenceState) -> Picture | None:
    """The main picture of one of _OTHERS; None where the page has none for this model or batch."""
    batch = page_pictures.batch()
    if page == "network":
        if not isinstance(seen.corrector.config, NetworkConfig):
            return None
        sketch = network_parts.sketch_of(seen.corrector, seen.sentence)
        parts: tuple[Part, ...] = (("diagram", network_parts.drawing(sketch, seen.theme)),)
        return Picture(seen.sentence.source, (), network_parts.describe(sketch), False, parts)
    if page == "positions":
        told, made = page_pictures.encoding(seen.theme)
    else:
        if not batch:
            return None
        told, made = page_pictures.masks(batch, page_pictures.shortest(batch), seen.theme)
    found: list[Part] = []
    for name, (figure, label) in made.items():
        found += [("described", {"text": label, "kind": "label"}), plot_part(seen, name, figure, label)]
    return Picture(seen.sentence.source, (), told, False, tuple(found))


def _draw(picture: Picture) -> None:
    markup.corrected(picture.source, picture.changes)
    if picture.card:
        markup.paragraph(picture.card, "note")
    markup.told(picture.told, "intervened" if picture.intervened else "")
    for number, (component, data) in enumerate(picture.parts):
        key = f"class_{component}_{number}"
        match component:
            case "plot":
                figures.draw_plot(data, key)
            case "lines":
                figures.draw_lines(data, key)
            case "steps":
                figures.draw_steps(data, key, lambda step: None, lambda step, place: None)
            case "marks":
                markup.marked(data["tokens"])
            case "formulas":
                _write(data)
            case "diagram":
                diagram(data, key, lambda part: None)
            case "described":
                markup.paragraph(data["text"], data["kind"])
    for each in picture.paragraphs:
        markup.paragraph(each, "note")


def _write(part: dict) -> None:
    st.subheader(part["heading"])
    markup.paragraph(part["words"], "note")
    for formula in part["formulas"]:
        st.latex(formula)
