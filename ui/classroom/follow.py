"""Pictures for students' phones: the teacher's sentence, correction and open view.

They are drawn from the sentence state of the teacher's settings. All who follow see the same. So it is made
once for each page process, theme and language, and sent to each phone as it is: a whole page for each of a
hundred phones would take four seconds of a core.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from threading import Lock

import plotly.graph_objects as go
import streamlit as st

from classroom.classroom import Shown, State
from engine.question import AnswerCache
from model.stored.config import NetworkConfig
from ui.asking import loaders, models
from ui.classroom.session import Membership
from ui.components import figures
from ui.components.diagram import diagram
from ui.parts import network_parts, page_pictures
from ui.sentence.decisions import corrected, reason_in_words, shown
from ui.sentence.stage import chosen_map, chosen_view, of_one_head
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup, runs
from ui.views import TABS, heatmap, numbers, overview, predict
from ui.views import lines as lines_view
from ui.views import steps as steps_view
from ui.views.view import View, file_name, picture_title
from ui.wording import change_in_words, language, say
from viz.browser.plot import plot_data
from viz.figure import Specification
from viz.labels import visible_token


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


def _view_of(page: str, seen: SentenceState) -> tuple[View, SentenceState]:
    """The open view of ``page``, one of TABS, and its sentence state."""
    view, selection = chosen_view(seen.trace, TABS[page])
    return view, of_one_head(view, replace(seen, selection=selection))


ShownPart = tuple[str, dict]
_CACHE = AnswerCache(entries=64, room=64 * 2**20)
_LOCKS = tuple(Lock() for _ in range(16))  # one picture is made once, by the phone that comes first


@dataclass(frozen=True)
class Picture:
    """The content of a phone: a sentence with its changes, a text about it, the ``parts``, each a (component,
    its data), and paragraphs below."""

    source: str
    changes: tuple[tuple[int, int, str], ...]
    told: str
    intervened: bool
    parts: tuple[ShownPart, ...]
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
    view, seen = _view_of(page, seen)
    values = controls.values(view.settings)
    changes = tuple((each.source_start, each.source_end, each.right) for each in seen.sentence.changes)
    if message := view.message(seen):
        return Picture(seen.sentence.source, changes, message, False, ())
    return Picture(
        seen.sentence.source,
        changes,
        _told(view, seen, values),
        view.intervenes,
        _parts(view, seen, values),
        tuple(view.paragraphs(seen, values)),
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
        parts: tuple[ShownPart, ...] = (("diagram", network_parts.drawing(sketch, seen.theme)),)
        return Picture(seen.sentence.source, (), network_parts.describe(sketch), False, parts)
    if page == "positions":
        told, made = page_pictures.encoding(seen.theme)
    else:
        if not batch:
            return None
        told, made = page_pictures.masks(batch, page_pictures.shortest(batch), seen.theme)
    found: list[ShownPart] = []
    for name, (figure, label) in made.items():
        found += [("described", {"text": label, "kind": "label"}), _plot(seen, name, figure, label)]
    return Picture(seen.sentence.source, (), told, False, tuple(found))


def _told(view: View, seen: SentenceState, values: dict) -> str:
    """The sentence above the picture; a phone marks nothing, so it is not asked to."""
    if view.name != "predict" or predict.is_revealed(seen):
        return view.describe(seen, values)
    token = visible_token(seen.trace.target_tokens[seen.asked_row])
    return say("class_predict", change=change_in_words(seen.explained), token=token)


def _parts(view: View, seen: SentenceState, values: dict) -> tuple[ShownPart, ...]:
    match view.name:
        case "lines":
            return (("lines", lines_view.data_of(seen, lines_view.heads_to_draw(seen), values["mass"])),)
        case "steps":
            return (("steps", _steps(seen)),)
        case "numbers":
            return tuple(part for panel in numbers.panels(seen) for part in _calculated(seen, panel))
    made_of = heatmap.figures_of if view.name == "heatmap" else view.figures
    assert made_of is not None, "every other view has figures of its own"
    view.complete(seen, values)  # nothing draws a phone's picture a second time
    made = made_of(seen, values)
    names = made if view.opened is None else [name for name in view.opened(seen, values) if name in made]
    parts = list(_marks(view, seen))
    if view.name == "heatmap" and overview.is_ranked(seen):
        parts.append(("described", {"text": overview.ranking_in_words(seen), "kind": "note"}))
        parts.append(_plot(seen, "overview", overview.picture(seen), say("overview_label")))
    for name in names:
        figure, label = made[name]
        if name in view.beside:
            parts.append(("described", {"text": label, "kind": view.beside[name]}))
        parts.append(_plot(seen, name, figure, label))
    return tuple(parts)


def _steps(seen: SentenceState) -> dict:
    """The player at the teacher's step. Only another revision moves a player, so here the step is part of
    it."""
    data = steps_view.data_of(seen, steps_view.first_step(seen))
    return data | {"revision": f"{data['revision']} {data['step']}"}


def _plot(seen: SentenceState, name: str, figure: go.Figure | Specification, label: str) -> ShownPart:
    told = {"label": label, "file": file_name(seen, name), "title": picture_title(seen), "theme": seen.theme}
    return "plot", plot_data(say, figure, **told)


def _calculated(seen: SentenceState, panel: numbers.Panel) -> tuple[ShownPart, ShownPart]:
    """A part of the calculation: its heading, words and formulas, then its picture."""
    words = say(f"numbers_{panel.name}_words")
    told = {"heading": panel.heading, "words": words, "formulas": list(panel.formulas)}
    return ("formulas", told), _plot(seen, panel.name, panel.figure, panel.heading)


def _marks(view: View, seen: SentenceState) -> tuple[ShownPart, ...]:
    if view.name != "predict" or not seen.all_changes or predict.is_revealed(seen):
        return ()
    offered, marked = predict.offered(seen, seen.changes[0]), predict.marks(seen)
    tokens = [(visible_token(seen.trace.source_tokens[place]), place in marked) for place in offered]
    return (("marks", {"tokens": tokens}),)


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
