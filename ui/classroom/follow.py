"""What a phone shows that follows: the teacher's sentence, its correction, and the picture of the open view.

All who follow see the same. So it is made once for each page process, theme and language, and sent to each phone as it is: a whole page
for each of a hundred phones would take four seconds of a core.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from threading import Lock

import streamlit as st

from classroom import Shown, State
from engine.cache import AnswerCache
from ui.classroom import scene
from ui.classroom.membership import Membership
from ui.components import lines, plot, steps
from ui.look.lens import Lens
from ui.shell import address, controls, header, markup
from ui.views import heatmap, received
from ui.views import lines as lines_view
from ui.views import steps as steps_view
from ui.views.naming import file_name, picture_title
from ui.views.view import View
from ui.wording.texts import language, say
from viz.browser.plot import plot_data

_CACHE = AnswerCache(entries=64, room=64 * 2**20)
_LOCKS = tuple(Lock() for _ in range(16))  # one picture is made once, by the phone that comes first


@dataclass(frozen=True)
class Picture:
    """What is shown: a sentence with its changes, what is told about it, and parts, each (component, its data)."""

    source: str
    changes: tuple[tuple[int, int, str], ...]
    told: str
    intervened: bool
    parts: tuple[tuple[str, dict], ...]
    note: str = ""


def show(mine: Membership, state: State) -> None:
    """The teacher's view, and the button by which one looks around by oneself."""
    if state.shown is None:
        st.info(say("class_nothing_shown"))
        return
    if state.shown.page in scene.PAGES:
        picture = _picture(state.shown)
        if picture is None:
            st.info(say("class_no_picture"))
        else:
            _draw(picture)
    else:
        st.info(say("class_other_page", page=_name(state.shown.page)))
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
    """Made once and kept. None where there is no sentence."""
    with address.looking_at(shown.settings):
        corrector = scene.corrector_of_page()
        if corrector is None:
            return None
        key = (corrector.fingerprint, shown, language(), controls.theme())
        found = _CACHE.known(key)
        if found is None:
            with _LOCKS[hash(key) % len(_LOCKS)]:
                found = _CACHE.known(key) or _kept(key, shown.page)
        return found


def _kept(key: Hashable, page: str) -> Picture | None:
    seen = scene.lens()
    if seen is None:
        return None
    picture = make(page, seen)
    size = sum(len(str(data)) for _, data in picture.parts)
    return _CACHE.get(key, lambda: (picture, size))


def make(page: str, seen: Lens) -> Picture:
    """The picture of the open view of ``page``, from the settings at hand."""
    view, seen = scene.view_of(page, seen)
    values = controls.values(view.settings)
    missing = view.lacks(seen)
    told = say(missing) if missing else view.describe(seen, values)
    parts, note = ((), "") if missing else _parts(view, seen, values)
    changes = tuple((each.source_start, each.source_end, each.right) for each in seen.sentence.changes)
    return Picture(seen.sentence.source, changes, told, view.intervenes and not missing, parts, note)


def _parts(view: View, seen: Lens, values: dict) -> tuple[tuple[tuple[str, dict], ...], str]:
    """The parts of a view, and a note where a map stands in for what cannot be sent to everybody."""
    title = picture_title(seen)
    if view.figures is not None:
        return tuple(
            (
                "plot",
                plot_data(
                    say, figure, label=label, file=file_name(seen, name), title=title, theme=seen.theme
                ),
            )
            for name, (figure, label) in view.figures(seen, values).items()
        ), ""
    if view.name == "lines":
        heads = lines_view.heads_to_draw(seen)
        return (("lines", lines_view.data_of(seen, heads, values["mass"])),), ""
    if view.name == "steps":
        return (("steps", steps_view.data_of(seen, may_part=False)),), ""
    figure, note = (received.picture(seen), "") if view.name == "received" else _map(view, seen)
    label = f"{say(f'kind_{seen.kind}')} · {seen.place}"
    return (
        ("plot", plot_data(say, figure, label=label, file=view.name, title=title, theme=seen.theme)),
    ), note


def _map(view: View, seen: Lens):
    values = controls.values(heatmap.SETTINGS)
    chosen = heatmap.selected_cell(heatmap.cells_for(seen, values))
    note = "" if view is heatmap.VIEW else say("class_map_instead", view=say(f"view_{view.name}"))
    return heatmap.picture(seen, values, chosen), note


def _draw(picture: Picture) -> None:
    markup.corrected(picture.source, picture.changes)
    markup.told(picture.told, "intervened" if picture.intervened else "")
    for number, (component, data) in enumerate(picture.parts):
        key = f"class_{component}_{number}"
        match component:
            case "plot":
                plot.plot(data, key)
            case "lines":
                lines.lines(data, key)
            case "steps":
                steps.steps(data, key, lambda step: None, lambda step, place: None)
    if picture.note:
        markup.paragraph(picture.note, "note")
