"""The open view on the page: tabs, choice of kind, layer and head, options, picture, texts."""

from dataclasses import replace

import streamlit as st

from model.analysis.edits import by_character
from model.trace.trace import AttentionTrace, Selection
from ui.components.widgets import keep_in_sight
from ui.export import take_away
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.views import VIEWS, logit_attribution, overview
from ui.views.view import (
    Tabs,
    View,
    ask_without,
    may_switch_off,
    needs_changes,
    needs_probabilities,
)
from ui.wording import say
from viz.labels import has_log_odds

MEAN, FIRST = "mean", "1"
MOST_BUTTONS = 10  # layers and heads side by side at 1366 pixels; more are chosen from lists
LIST_WIDTH = 150  # pixels


class Stage:
    """The places of the parts of the open view, one below the other. Each is filled when its turn comes."""

    def __init__(self) -> None:
        self.tabs, self.map = controls.line(key="tabs"), controls.line(key="map")
        self.told, self.picture = st.container(key="told"), st.container(key="picture")
        self.more = st.container(key="more")


def chosen_view(trace: AttentionTrace, tabs: Tabs) -> tuple[type[View], Selection]:
    """The open view of ``tabs``, and the attention that it shows."""
    views = {view.name: view for view in tabs.views}
    view = views[address.get_option(tabs.setting, list(views))]
    return view, chosen_map(trace) if view.has_map else Selection(trace.kinds[-1])


def chosen_map(trace: AttentionTrace) -> Selection:
    """The map that the address names, as far as the trace has it. Weights are (Q, K)."""
    kind = address.get_option("kind", list(trace.kinds))
    layers, heads = map(_numbers, trace.shape(kind))
    layer, head = address.get_option("layer", layers, FIRST), address.get_option("head", heads)
    return Selection(kind, _number(layer), _number(head))


def show_controls(
    stage: Stage, trace: AttentionTrace, selection: Selection, view: type[View], tabs: Tabs
) -> tuple[st.delta_generator.DeltaGenerator, st.delta_generator.DeltaGenerator]:
    """Draw the controls for ``chosen_view``; ``selection`` is the attention that it shows.

    Returns the popovers for its options and its files.
    """
    with stage.tabs:
        controls.choose(
            tabs.setting,
            [each.name for each in tabs.views],
            lambda name: say(f"view_{name}"),
            label_visibility="collapsed",
        )
        options = st.popover(
            say("options"), icon=":material/settings:", key="view_options", on_change="rerun"
        )
        taking = st.popover(say("take_away"), icon=":material/download:", key="taking", on_change="rerun")
        keep_in_sight(view.name)
    with stage.map:
        if view.has_map:
            only = selection if view.one_head else None
            if len(trace.kinds) == 1 and trace.shape(selection.kind) == (1, 1):
                _show_map_controls(trace, only)
            else:
                layer, place = selection.layer, selection.label(say, trace)
                if view.draws_all and layer is not None and selection.head is None:
                    place = say("place_every", layer=layer + 1)
                shown = f"{say(f'kind_{selection.kind}')} · {place}"
                with st.popover(shown, icon=":material/grid_view:", key="map_choice"):
                    _show_map_controls(trace, only, view.draws_all)
        else:
            markup.paragraph(say("view_of_all_heads"), "note")
    return options, taking


def _show_map_controls(trace: AttentionTrace, only: Selection | None = None, draws_all: bool = False) -> None:
    """The controls for ``chosen_map``. Shown only with several options.

    ``only``: the one head that is shown; then no mean can be chosen. ``draws_all``: the view draws all heads
    instead of their mean, so the option says "all".
    """
    selection = only or chosen_map(trace)
    if len(trace.kinds) > 1:
        controls.choose(
            "kind", list(trace.kinds), lambda kind: say(f"kind_{kind}"), label_visibility="collapsed"
        )
    else:
        single = trace.shape(selection.kind) == (1, 1)
        markup.paragraph(say("one_kind" if single else f"kind_{selection.kind}"), "note")
    from_list = trace.num_layers + trace.num_heads > MOST_BUTTONS
    for name, count in zip(("layer", "head"), trace.shape(selection.kind), strict=True):
        options, otherwise = _numbers(count), FIRST if name == "layer" else None
        if only is not None:
            options, otherwise = (
                [option for option in options if option != MEAN],
                str(getattr(only, name) + 1),
            )
        if count > 1:
            _choose_number(name, options, otherwise, "head_all" if draws_all else "head_mean", from_list)


def choose_map(trace: AttentionTrace) -> Selection:
    _show_map_controls(trace)
    return chosen_map(trace)


def choose_head(trace: AttentionTrace) -> Selection:
    """One head, for a view that cannot show a mean. If the address names a mean, the first layer or head
    replaces it."""
    chosen = chosen_map(trace)
    only = Selection(chosen.kind, chosen.layer or 0, chosen.head or 0)
    _show_map_controls(trace, only)
    return only


def of_one_head(view: type[View], state: SentenceState) -> SentenceState:
    """``state`` with the head that ``view`` shows, if that is one head and a mean is selected."""
    if view.one_head is None or state.single_head is not None:
        return state
    head = view.one_head(state)
    return replace(state, selection=Selection(head.kind, head.layer, head.head))


def _numbers(count: int) -> list[str]:
    numbers = [str(number + 1) for number in range(count)]
    return [MEAN, *numbers] if count > 1 else numbers


def _choose_number(name: str, options: list[str], otherwise: str | None, mean: str, from_list: bool) -> None:
    """The label is beside its options; in a narrow window both move to the next line. ``from_list``: whether
    they are too many to be side by side."""
    with controls.line(key=f"{name}_box", gap="xsmall", width="content"):
        markup.paragraph(say(f"{name}_label"), "label")
        label_of = lambda option: say(mean) if option == MEAN else option
        if from_list:
            start = options[0] if otherwise is None else otherwise
            controls.pick(name, options, label_of, start, width=LIST_WIDTH)
        else:
            controls.choose(name, options, label_of, otherwise=otherwise, label_visibility="collapsed")


def _number(option: str) -> int | None:
    return None if option == MEAN else int(option) - 1


def show_view(stage: Stage, view: View) -> None:
    """One sentence and the picture. Raises EngineError."""
    with stage.told:
        intervened = view.intervenes and view.message is None
        markup.told(view.describe(), "intervened" if intervened else "")
    with stage.picture:
        view.draw()
        if view.message is None and any(map(has_log_odds, view.probabilities())):
            markup.paragraph(say("steps_odds"), "note")


def show_more(stage: Stage, view: View, popovers: tuple) -> bool:
    """Everything that takes one more click to see. Returns whether something of it is open."""
    state, (options, taking) = view.state, popovers
    if options.open:
        with options:
            if other := logit_attribution.other_look(state, view.name):
                text = say(f"switch_to_{other}")
                st.button(text, key="other_look", on_click=logit_attribution.switch_look, args=(other,))
            for setting in view.options:
                controls.show(setting)
            view.choose()
            overview.choose_order(state)
    if taking.open:
        with taking:
            take_away.show(VIEWS, view)
    with stage.more:
        if (off := state.single_head) is not None and asks_without(view, state):
            ask_without(state, off, "head_off", "head_off_question")
        for note in trace_remarks(state):
            markup.paragraph(note, "note")
        explained = not view.lacks(state) and _explain(view)
    return bool(options.open or taking.open or explained)


def asks_without(view: View | type[View], state: SentenceState) -> bool:
    """Whether the button that switches the shown head off is below the picture. The mean of several heads has
    none."""
    shows_a_head = view.has_map and not view.intervenes and state.single_head is not None
    return shows_a_head and may_switch_off(state)


def trace_remarks(state: SentenceState) -> list[str]:
    """Remarks about the trace of another network: its tokens, and parts that it lacks."""
    tokens = state.trace.source_tokens or state.trace.target_tokens
    found = [] if by_character(tokens) else [say("tokens_are_pieces")]
    lacks = [need(state) for need in (needs_probabilities, needs_changes)]
    return found + [say(name) for name in dict.fromkeys(filter(None, lacks))]


def _explain(view: View) -> bool:
    """How to read the picture, and where it comes from. Returns whether something of it is open."""
    with st.expander(say("explanation"), key="explanation", on_change="rerun") as picture:
        if picture.open:
            for note in view.notes():
                markup.paragraph(note, "note")
            view.explain()
            for unit in ("log_odds_note", "nat_note"):
                markup.paragraph(say(unit), "note")
    if not view.state.has_several_heads:
        return bool(picture.open)
    with st.expander(say("overview_explanation"), key="overview_explanation", on_change="rerun") as heads:
        if heads.open:
            overview.explain(view.state)
    return bool(picture.open or heads.open)
