"""The view *this change*: the heads that looked at one change more than they usually look at such a place."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model.analysis.edits import LeadingHead, attention_of_change, focus, leading_heads
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import Selection
from ui.components import figures
from ui.sentence.state import Lens
from ui.views.view import (
    Values,
    View,
    ask_without,
    declare,
    file_name,
    idea,
    needs_changes,
    open_head,
    picture_title,
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


def draw(lens: Lens, values: Values) -> None:
    """Bars of the heads that looked at the change more than they usually look at such a place; one opens each."""
    if not lens.changes:
        return
    ((figure, label),) = figures_of(lens, values).values()
    figures.draw(figure, "edits_bars", file_name(lens, "edits"), label=label, title=picture_title(lens))
    heads = leading_heads(lens.trace, shown_change(lens), lens.all_changes)
    if len(heads) > 1:
        with st.container(key="edits_heads", horizontal=True, gap="small"):
            for found in heads:
                _ask(lens, found)


def _ask(lens: Lens, found: LeadingHead) -> None:
    """The two buttons of a head, which stay side by side in a narrow window."""
    place, head = f"{found.layer}_{found.head}", Head(KIND, found.layer, found.head)
    with st.container(horizontal=True, width="content", gap="xsmall"):
        st.button(
            say("edits_open", place=place_of(lens, found)),
            key=f"edits_open_{place}",
            on_click=open_head,
            args=(lens, head),
        )
        ask_without(lens, head, f"edits_off_{place}")


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure, str]]:
    """A panel of bars for each of the heads; none where nothing was changed."""
    if not lens.changes:
        return {}
    change = shown_change(lens)
    heads = leading_heads(lens.trace, change, lens.all_changes)
    attention = attention_of_change(lens.trace, change)
    outlined = (focus(lens.trace, KIND, change).columns, say("edits_outlined"))
    rows = [attention[found.layer, found.head] for found in heads]
    names = [named(lens, found) for found in heads]
    return {"edits": (bars(lens, change, rows, names, outlined), change_in_words(change))}


def framed(lens: Lens) -> list[tuple[int, int]]:
    """The heads whose bars are shown."""
    if not lens.changes:
        return []
    return [
        (found.layer, found.head) for found in leading_heads(lens.trace, shown_change(lens), lens.all_changes)
    ]


def shown_change(lens: Lens) -> Change:
    """The change in focus; without one, the change of which the network was least sure, or the first if it does not say."""
    return lens.focus or min(
        lens.all_changes, key=lambda change: change.confidence if change.is_weighed else 1.0
    )


def describe(lens: Lens, values: Values) -> str:
    """What the leading head did with the change."""
    if not lens.changes:
        return say("edits_none")
    change = shown_change(lens)
    found = leading_heads(lens.trace, change, lens.all_changes)[0]
    only = lens.trace.shape(KIND) == (1, 1)
    more = "edits_reading" if found.share > found.usual else "edits_reading_less"
    columns = focus(lens.trace, KIND, change).columns
    return say(
        "edits_reading_only" if only else more,
        change=change_in_words(change),
        columns=visible_token("".join(lens.trace.source_tokens[column] for column in columns), LONGEST_SIDE),
        place=place_of(lens, found),
        share=percent(say, float(found.share)),
        usual=percent(say, float(found.usual)),
    )


def notes(lens: Lens, values: Values) -> list[str]:
    if not lens.changes:
        return []
    start, end = window(lens, shown_change(lens))
    length = len(lens.trace.source_tokens)
    return [say("edits_caption"), *([say("edits_window")] if end - start < length else [])]


def named(lens: Lens, found: LeadingHead) -> str:
    """A head, how much it looked at the chosen change, and how much it looks at such a place usually."""
    place, share, usual = (
        place_of(lens, found),
        percent(say, float(found.share)),
        percent(say, float(found.usual)),
    )
    return say("edits_head", place=place, share=share, usual=usual)


def place_of(lens: Lens, found: LeadingHead) -> str:
    return Selection(KIND, found.layer, found.head).label(say, lens.trace)


def bars(
    lens: Lens,
    change: Change,
    rows: Sequence[np.ndarray],
    names: Sequence[str],
    outlined: tuple[Sequence[int], str],
) -> go.Figure:
    """Bars of attention over the source around ``change``, a panel for each of ``rows`` (S,) with its name.

    ``outlined``: the positions to be enclosed, in order, all of which are shown; and what they are.
    """
    positions, title = outlined
    start, end = window(lens, change, positions)
    return viz.attention_bars(
        np.array(rows)[:, start:end],
        lens.trace.source_tokens[start:end],
        names,
        outlined=[position - start for position in positions],
        outlined_title=title,
        first=start + 1,
        token_title=say(f"key_{KIND}"),
        hover=(say("hover_key"), say("hover_weight")),
        theme=lens.theme,
    )


def window(lens: Lens, change: Change, positions: Sequence[int] = ()) -> tuple[int, int]:
    """(start, end) of the source tokens that bars show: those around ``change``, and all of ``positions``."""
    columns = focus(lens.trace, KIND, change).columns
    start = min(max(columns[0] - AROUND, 0), *positions, columns[0])
    end = max([columns[-1] + AROUND + 1, *(position + 1 for position in positions)])
    return start, min(end, len(lens.trace.source_tokens))


VIEW = declare(
    View(
        "edits",
        "attention",
        40,
        describe,
        draw,
        notes=notes,
        explain=idea("edits", SHARE, USUAL),
        framed=framed,
        has_map=False,
        figures=figures_of,
        lacks=needs_changes,
    )
)
