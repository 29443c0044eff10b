"""The open view: its tab, which attention it shows, its options, and what is said about it."""

import streamlit as st

from model.analysis.places import by_character
from model.selection import Selection
from model.trace import AttentionTrace
from ui import controls, markup
from ui.lens import Lens
from ui.texts import say
from ui.views import VIEWS, needs, overview, take_away
from ui.views.view import View

MEAN = "mean"


def choose_view(
    trace: AttentionTrace, among: tuple[View, ...], setting: str
) -> tuple[View, Selection, tuple]:
    """The open view of those ``among`` which ``setting`` chooses, the attention it shows, and the popovers of its options and of what can be taken along."""
    with st.container(key="tabs", horizontal=True, vertical_alignment="center", gap="small"):
        views = {view.name: view for view in among}
        name = controls.choose(
            setting, list(views), lambda name: say(f"view_{name}"), label_visibility="collapsed"
        )
        options = st.popover(
            say("options"), icon=":material/settings:", key="view_options", on_change="rerun"
        )
        taking = st.popover(say("take_away"), icon=":material/download:", key="taking", on_change="rerun")
    view = views[name]
    with st.container(key="map", horizontal=True, vertical_alignment="center", gap="small"):
        selection = choose_map(trace) if view.has_map else Selection(trace.kinds[-1])
        if not view.has_map:
            markup.paragraph(say("view_of_all_heads"), "note")
    return view, selection, (options, taking)


def choose_map(trace: AttentionTrace) -> Selection:
    """Asks only where there is a choice."""
    kind, layer, head = trace.kinds[0], "1", "1"
    if len(trace.kinds) > 1:
        kind = controls.choose(
            "kind", list(trace.kinds), lambda kind: say(f"kind_{kind}"), label_visibility="collapsed"
        )
    else:
        markup.paragraph(say("one_kind" if trace.shape(kind) == (1, 1) else f"kind_{kind}"), "note")
    layers, heads = trace.shape(kind)
    if layers > 1:
        layer = _choose_number("layer", _numbers(layers), otherwise="1")
    if heads > 1:
        head = _choose_number("head", _numbers(heads))
    return Selection(kind, _number(layer), _number(head))


def _numbers(count: int) -> list[str]:
    return [MEAN, *(str(number + 1) for number in range(count))]


def _choose_number(name: str, options: list[str], otherwise: str | None = None) -> str:
    """The label stands beside its options, and both go to the next line together."""
    with st.container(
        key=f"{name}_box", horizontal=True, vertical_alignment="center", gap="xsmall", width="content"
    ):
        markup.paragraph(say(f"{name}_label"), "label")
        return controls.choose(name, options, _name, otherwise=otherwise, label_visibility="collapsed")


def _name(option: str) -> str:
    return say("head_mean") if option == MEAN else option


def _number(option: str) -> int | None:
    return None if option == MEAN else int(option) - 1


def show_view(view: View, lens: Lens, popovers: tuple) -> None:
    """One sentence, the picture, and below it everything that is one click away."""
    options, taking = popovers
    if options.open:
        with options:
            for setting in view.settings:
                if setting not in view.drawn:
                    controls.show(setting)
            if view.choose:
                view.choose(lens)
            overview.choose_order(lens)
    values = controls.values(view.settings)
    missing = view.lacks(lens)
    with st.container(key="told"):
        told = say(missing) if missing else view.describe(lens, values)
        markup.told(told, "intervened" if view.intervenes and not missing else "")
    with st.container(key="picture"):
        if not missing:
            view.draw(lens, values)
    if taking.open:
        with taking:
            take_away.show(lens, VIEWS, view)
    with st.container(key="more"):
        for note in about(lens):
            markup.paragraph(note, "note")
        if not missing:
            explain(view, lens, values)


def about(lens: Lens) -> list[str]:
    """What a reader should know about the trace of another network than ours."""
    tokens = lens.trace.source_tokens or lens.trace.target_tokens
    found = [] if by_character(tokens) else [say("tokens_are_pieces")]
    lacks = [need(lens) for need in (needs.probabilities, needs.changes)]
    return found + [say(name) for name in dict.fromkeys(filter(None, lacks))]


def explain(view: View, lens: Lens, values: dict) -> None:
    """How to read the picture, and where it comes from."""
    with st.expander(say("explanation"), key="explanation", on_change="rerun") as here:
        if here.open:
            for note in view.notes(lens, values):
                markup.paragraph(note, "note")
            if view.explain:
                view.explain(lens)
    if lens.has_several_heads:
        with st.expander(say("overview_explanation"), key="overview_explanation", on_change="rerun") as here:
            if here.open:
                overview.explain(lens)
