"""View *lines*: attention of several heads as lines from query to key."""

import re
from functools import cached_property

import numpy as np
import streamlit as st

from model.analysis.edits import row_positions
from model.text.changes import Change
from model.trace.trace import LayerHead, LayerHeads, Selection
from ui.components.figures import draw_lines
from ui.sentence.state import SentenceState
from ui.shell import address, controls
from ui.shell.settings import Number, Text
from ui.views.view import Part, View, file_name
from ui.wording import say
from viz.browser.lines import MASSES, MOST_HEADS, USUAL_MASS, lines_data
from viz.browser.texts import visible, what_happened

# Percent of each row's weight that its lines carry together.
MASS = Number("mass", MASSES[0], MASSES[-1], USUAL_MASS, MASSES.step)
HEADS = Text("heads")  # which are drawn, such as 1.2,3.4 (layer.head); empty: those of layer and head
# Two short formulas: a long one would have to scroll on a phone.
FORMULAS = (
    r"\alpha_{ij} = \operatorname{softmax}_j\left(\frac{q_i \cdot k_j}{\sqrt{d}}\right)",
    r"\sum_{j \in E_i} \alpha_{ij} \ge m",
)


def heads_to_draw(state: SentenceState) -> list[LayerHeads]:
    """The heads that were chosen for this view; none chosen means those of the layer and head of the page."""
    return [*chosen_heads(address.get(HEADS.name), *state.trace.shape(state.kind))] or heads_of(state)


def chosen_heads(text: str, layers: int, heads: int) -> list[LayerHead]:
    """The heads of an address such as "1.2,3.4", which counts from 1. Heads that this network does not have
    are left out.

    >>> chosen_heads("1.2,9.9", 4, 4)
    [(0, 1)]
    """
    found = [
        (int(layer) - 1, int(head) - 1)
        for layer, head in re.findall(r"\b([1-9]\d?)\.([1-9]\d?)\b", text, re.ASCII)
    ]
    return [head for head in dict.fromkeys(found) if head[0] < layers and head[1] < heads][:MOST_HEADS]


def heads_of(state: SentenceState) -> list[LayerHeads]:
    """The heads of the page's selection: a mean over heads, or over layers, is drawn as its parts."""
    layers, heads = map(range, state.trace.shape(state.kind))
    found: list[LayerHeads] = [(state.layer, state.head)]
    if state.head is None and state.layer is not None:
        found = [(state.layer, head) for head in heads]
    elif state.layer is None and state.head is not None:
        found = [(layer, state.head) for layer in layers]
    return found[:MOST_HEADS]


def data_of(state: SentenceState, heads: list[LayerHeads], mass: int) -> dict:
    """The data of ``draw_lines`` for ``heads``; ``mass`` in percent. Weights are (Q, K)."""
    named = [(state.place_of(head), _weights(state, head)) for head in heads]
    label = (
        f"{say(f'kind_{state.kind}')} · "
        f"{named[0][0] if len(named) == 1 else say('lines_count', count=len(named))}"
    )
    return lines_data(
        say,
        state.trace,
        state.kind,
        named,
        mass=mass / 100,
        label=label,
        changed=(state.rows, state.changed_columns),
        isolated=state.rows if state.focus else (),
        file=file_name(state, "lines"),
        theme=state.theme,
    )


class Lines(View):
    """The chosen heads as lines."""

    name, page, order = "lines", "attention", 20
    settings = (MASS, HEADS)
    formulas = FORMULAS
    draws_all = True

    @cached_property
    def heads(self) -> list[LayerHeads]:
        return heads_to_draw(self.state)

    @property
    def _data(self) -> dict:
        return data_of(self.state, self.heads, self.values[MASS.name])

    def show(self) -> None:
        draw_lines(self._data, key="lines")

    def parts(self) -> list[Part]:
        return [("lines", self._data)]

    def notes(self) -> list[str]:
        bold = [say("lines_bold")] if self.state.all_changes else []
        return [" ".join([say("lines_caption", mass=self.values[MASS.name]), *bold])]

    def choose(self) -> None:
        """Which heads to draw beside one another."""
        layers, heads = self.state.trace.shape(self.state.kind)
        if layers * heads == 1:
            return
        chosen = chosen_heads(address.get(HEADS.name), layers, heads)
        key, start = controls.seed("control_heads", [_short(head) for head in chosen])
        st.multiselect(
            say("lines_heads"),
            [_short(place) for place in np.ndindex(layers, heads)],
            start,
            format_func=lambda name: say(
                "place_head", **dict(zip(("layer", "head"), name.split("."), strict=True))
            ),
            key=key,
            on_change=lambda: address.put(HEADS.name, ",".join(st.session_state[key])),
            placeholder=say("lines_follow", place=self.state.place),
            max_selections=MOST_HEADS,
        )

    def reading(self) -> str:
        """Where the strongest lines lead: of the chosen change, of one head, or of several compared."""
        state, heads = self.state, self.heads
        if state.focus:
            return _of_change(state, state.focus, heads)
        standing = np.where(
            state.read_rows, row_positions(state.trace, state.kind, state.all_changes), -1
        )  # (Q,)
        strongest = [_weights(state, head).argmax(axis=1) for head in heads]  # (Q,) of each head
        straight = [int((keys == standing).sum()) for keys in strongest]
        values = {"home": say(f"lines_home_{state.kind}"), "total": int((standing >= 0).sum())}
        if len(heads) > 1:
            best, worst = int(np.argmax(straight)), int(np.argmin(straight))
            return say(
                "lines_reading_several" if straight[best] > straight[worst] else "lines_reading_alike",
                best=state.place_of(heads[best]),
                most=straight[best],
                worst=state.place_of(heads[worst]),
                fewest=straight[worst],
                **values,
            )
        distance = np.where(standing >= 0, np.abs(strongest[0] - standing), 0)
        row = (
            int(distance.argmax())
            if distance.any()
            else int(np.where(state.read_rows, _weights(state, heads[0]).max(axis=1), 1).argmin())
        )
        return say(
            "lines_reading_one" if distance[row] else "lines_reading_straight",
            place=state.place_of(heads[0]),
            straight=straight[0],
            distance=int(distance[row]),
            **_edge(state, heads[0], row, int(strongest[0][row])),
            **values,
        )


def _of_change(state: SentenceState, change: Change, heads: list[LayerHeads]) -> str:
    weights = np.stack([_weights(state, head)[state.asked_query] for head in heads])  # (heads, K)
    head, key = np.unravel_index(weights.argmax(), weights.shape)
    happened = say(
        f"change_{what_happened(change)}",
        wrong=visible(change.wrong),
        right=visible(change.right),
    )
    edge = _edge(state, heads[head], state.asked_query, int(key))
    return say("lines_reading_change", change=happened, place=state.place_of(heads[head]), **edge)


def _edge(state: SentenceState, head: LayerHeads, row: int, key: int) -> dict[str, str]:
    """One line in words."""
    return {
        "query": _token(state.queries[row], row),
        "key": _token(state.keys[key], key),
        "weight": f"{_weights(state, head)[row, key]:.3f}",
    }


def _token(token: str, place: int) -> str:
    return say("lines_token", token=token, place=place + 1)


def _weights(state: SentenceState, head: LayerHeads) -> np.ndarray:
    return Selection(state.kind, *head).weights(state.trace) * state.read_rows[:, None]


def _short(head: LayerHead) -> str:
    return f"{head[0] + 1}.{head[1] + 1}"
