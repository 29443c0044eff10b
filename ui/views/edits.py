"""View *this change*: heads that attend to a change more than to other such places."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from model.analysis.edits import LeadingHead, attention_of_change, focus, leading_heads
from model.text.changes import Change
from model.trace.interventions import Head
from model.trace.trace import LayerHead
from ui.sentence.state import SentenceState
from ui.shell import controls
from ui.views.view import Figures, View, ask_without, needs_changes, open_head
from ui.wording import LONGEST_SIDE, change_in_words, percent, say
from viz.labels import visible_token

KIND = "cross_attention"
AROUND = 8  # tokens that bars show on each side of a change: as many as a phone has room for
SHARE = r"\mathrm{share}_h = \frac{1}{|R|} \sum_{t \in R} \sum_{s \in C} \alpha^h_{ts}"
USUAL = (
    r"\mathrm{usual}_h = \frac{1}{|R|\,|U|} \sum_{t \in R} \sum_{u \in U} \sum_{s \in C}"
    r" \alpha^h_{u,\, s + p(u) - p(t)}"
)


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


class Edits(View):
    """The heads that attend to the change most, each with its bars and its buttons."""

    name, page, order = "edits", "attention", 40
    formulas = (SHARE, USUAL)
    has_map = False
    lacks = staticmethod(needs_changes)
    unchanged = "edits_none"

    @cached_property
    def heads(self) -> Sequence[LeadingHead]:
        return leading_heads(self.state.trace, self.state.explained, self.state.all_changes)

    @property
    def _columns(self) -> Sequence[int]:
        return focus(self.state.trace, KIND, self.state.explained).columns

    def show(self) -> None:
        super().show()
        if len(self.heads) > 1:
            with st.container(key="edits_heads", horizontal=True, gap="small"):
                for found in self.heads:
                    self._ask(found)

    def _ask(self, found: LeadingHead) -> None:
        """The two buttons of a head, which stay side by side in a narrow window."""
        place, head = f"{found.layer}_{found.head}", Head(KIND, found.layer, found.head)
        with st.container(horizontal=True, width="content", gap="xsmall"):
            text = say("edits_open", place=self._facts(found)["place"])
            controls.button(text, f"edits_open_{place}", open_head, self.state, head)
            ask_without(self.state, head, f"edits_off_{place}")

    @cached_property
    def figures(self) -> Figures:
        """A panel of bars for each of the heads."""
        state, change = self.state, self.state.explained
        attention = attention_of_change(state.trace, change)
        rows = [attention[found.layer, found.head] for found in self.heads]
        names = [say("edits_head", **self._facts(found)) for found in self.heads]
        figure = bars(state, change, rows, names, (self._columns, say("edits_outlined")))
        return {"edits_bars": (figure, change_in_words(change))}

    def _facts(self, found: LeadingHead) -> dict[str, str]:
        shares = {"share": percent(float(found.share)), "usual": percent(float(found.usual))}
        return {"place": self.state.place_of((found.layer, found.head), KIND)} | shares

    def marked(self) -> list[LayerHead]:
        """The heads whose bars are shown."""
        return [(found.layer, found.head) for found in self.heads] if self.state.changes else []

    def reading(self) -> str:
        trace, found = self.state.trace, self.heads[0]
        more = "edits_reading" if found.share > found.usual else "edits_reading_less"
        return say(
            "edits_reading_only" if trace.shape(KIND) == (1, 1) else more,
            change=change_in_words(self.state.explained),
            token=visible_token(trace.target_tokens[self.state.asked_row]),
            columns=visible_token("".join(trace.source_tokens[n] for n in self._columns), LONGEST_SIDE),
            **self._facts(found),
        )

    def notes(self) -> list[str]:
        if not self.state.changes:
            return []
        start, end = window(self.state, self.state.explained)
        length = len(self.state.trace.source_tokens)
        return [say("edits_caption"), *([say("edits_window")] if end - start < length else [])]
