"""View *this change*: heads that attend to the place of a change more than to such places elsewhere."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model.analysis.edits import LeadingHead, attention_of_change, focus, leading_heads
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import Selection
from ui.sentence.state import SentenceState
from ui.views.view import (
    Figures,
    Values,
    View,
    ask_without,
    idea,
    needs_changes,
    open_head,
)
from ui.wording import LONGEST_SIDE, change_in_words, percent, say
from viz.labels import visible_token

KIND = "cross_attention"
AROUND = 8  # tokens that bars show on each side of a change: as many as a phone has room for
SHARE = r"\mathrm{share}_h = \frac{1}{|R|} \sum_{t \in R} \sum_{s \in C} \alpha^h_{ts}"
USUAL = (
    r"\mathrm{usual}_h = \frac{1}{|R|\,|U|} \sum_{t \in R} \sum_{u \in U} \sum_{s \in C}"
    r" \alpha^h_{u,\, s + p(u) - p(t)}"
)


def _draw(state: SentenceState, values: Values) -> None:
    VIEW.draw_figures(state, values)
    heads = leading_heads(state.trace, state.explained, state.all_changes)
    if len(heads) > 1:
        with st.container(key="edits_heads", horizontal=True, gap="small"):
            for found in heads:
                _ask(state, found)


def _ask(state: SentenceState, found: LeadingHead) -> None:
    """The two buttons of a head, which stay side by side in a narrow window."""
    place, head = f"{found.layer}_{found.head}", Head(KIND, found.layer, found.head)
    with st.container(horizontal=True, width="content", gap="xsmall"):
        st.button(
            say("edits_open", place=_place_of(state, found)),
            key=f"edits_open_{place}",
            on_click=open_head,
            args=(state, head),
        )
        ask_without(state, head, f"edits_off_{place}")


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """A panel of bars for each of the heads."""
    change = state.explained
    heads = leading_heads(state.trace, change, state.all_changes)
    attention = attention_of_change(state.trace, change)
    outlined = (focus(state.trace, KIND, change).columns, say("edits_outlined"))
    rows = [attention[found.layer, found.head] for found in heads]
    names = [_named(state, found) for found in heads]
    return {"edits_bars": (bars(state, change, rows, names, outlined), change_in_words(change))}


def _framed(state: SentenceState) -> list[tuple[int, int]]:
    """The heads whose bars are shown."""
    if not state.changes:
        return []
    return [
        (found.layer, found.head) for found in leading_heads(state.trace, state.explained, state.all_changes)
    ]


def _describe(state: SentenceState, values: Values) -> str:
    change = state.explained
    found = leading_heads(state.trace, change, state.all_changes)[0]
    only = state.trace.shape(KIND) == (1, 1)
    more = "edits_reading" if found.share > found.usual else "edits_reading_less"
    columns = focus(state.trace, KIND, change).columns
    return say(
        "edits_reading_only" if only else more,
        change=change_in_words(change),
        token=visible_token(state.trace.target_tokens[state.asked_row]),
        columns=visible_token("".join(state.trace.source_tokens[column] for column in columns), LONGEST_SIDE),
        place=_place_of(state, found),
        share=percent(float(found.share)),
        usual=percent(float(found.usual)),
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    if not state.changes:
        return []
    start, end = window(state, state.explained)
    length = len(state.trace.source_tokens)
    return [say("edits_caption"), *([say("edits_window")] if end - start < length else [])]


def _named(state: SentenceState, found: LeadingHead) -> str:
    place, share, usual = (
        _place_of(state, found),
        percent(float(found.share)),
        percent(float(found.usual)),
    )
    return say("edits_head", place=place, share=share, usual=usual)


def _place_of(state: SentenceState, found: LeadingHead) -> str:
    return Selection(KIND, found.layer, found.head).label(say, state.trace)


def bars(
    state: SentenceState,
    change: Change,
    rows: Sequence[np.ndarray],
    names: Sequence[str],
    outlined: tuple[Sequence[int], str],
) -> go.Figure:
    """Bars of attention over the source around ``change``, a panel for each of ``rows`` (S,) with its name.

    ``outlined``: the positions to be enclosed, in order, all of which are shown; and their name.
    """
    positions, title = outlined
    start, end = window(state, change, positions)
    return viz.attention_bars(
        np.array(rows)[:, start:end],
        state.trace.source_tokens[start:end],
        names,
        outlined=[position - start for position in positions],
        outlined_title=title,
        first=start + 1,
        token_title=say(f"key_{KIND}"),
        hover=(say("hover_key"), say("hover_weight")),
        theme=state.theme,
    )


def window(state: SentenceState, change: Change, positions: Sequence[int] = ()) -> tuple[int, int]:
    """(start, end) of the source tokens that bars show: those around ``change``, and all of ``positions``."""
    columns = focus(state.trace, KIND, change).columns
    start = min(max(columns[0] - AROUND, 0), *positions, columns[0])
    end = max([columns[-1] + AROUND + 1, *(position + 1 for position in positions)])
    return start, min(end, len(state.trace.source_tokens))


VIEW = View(
    "edits",
    "attention",
    40,
    _describe,
    (),
    _notes,
    idea("edits", SHARE, USUAL),
    _draw,
    _figures_of,
    framed=_framed,
    has_map=False,
    lacks=needs_changes,
    unchanged="edits_none",
).declare()
