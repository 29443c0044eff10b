"""Overview of all heads as small maps, by place or in an order; a chosen one is opened."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from types import MappingProxyType

import numpy as np
import streamlit as st

import viz
from engine import questions as declared
from model.analysis import attention_maps as heads
from model.analysis.edits import attention_to_edit, row_positions
from model.trace import interventions
from model.trace.trace import LayerHead
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup, runs
from ui.shell.settings import Choice, register
from ui.views.view import Part, file_name, may_switch_off, open_head, picture_title, plot_part
from ui.wording import change_in_words, percent, say
from viz.browser.texts import grid_words
from viz.figure import Specification
from viz.labels import capital, decimal
from viz.theme import palette

ORDER = Choice("order", ("place", "entropy", "distance", "edit"))  # of the heads
register(ORDER)
LEAST_HEIGHT = 240  # pixels of room in the window from which on the tiles stay on the first screen
FORMULAS = (
    r"H_h = -\frac{1}{Q} \sum_{i} \sum_{j} \alpha^h_{ij} \log_2 \alpha^h_{ij}",
    r"D_h = \frac{1}{Q} \sum_{i} \sum_{j} \alpha^h_{ij} \,\lvert j - p(i) \rvert",
)


def draw(
    state: SentenceState,
    framed: list[LayerHead] | None = None,
    nats: np.ndarray | None = None,
    *,
    shown_below: bool = True,
) -> None:
    """Every head as a tile; one can be opened. ``framed`` tiles are marked, by default those selected.

    ``nats``: shown instead of attention, (L, H, Q, K) values of both signs. ``shown_below``: whether the open
    view shows the head that is chosen. Otherwise a tile leads to a view that does.
    """
    framed = state.selection.heads(state.trace) if framed is None else framed
    figures.draw(
        _figure(state, rank(state, _order_of(state)), framed, nats, without_each(state)),
        "overview",
        file_name(state, "heads"),
        partial(open_tile, None if shown_below else state),
        label=say("overview_label" if nats is None else "overview_label_nats"),
        title=picture_title(state),
    )
    if is_ranked(state):
        markup.paragraph(ranking_in_words(state), "note")
    if nats is not None:
        largest = f"{float(np.abs(nats).max()) or 1.0:.2f}"
        markup.colour_key(palette(state.theme).diverging, f"−{largest}", f"+{largest} · {say('wrote_nats')}")


def is_ranked(state: SentenceState) -> bool:
    """Whether the heads are in another order than that of their places."""
    return _order_of(state) != ORDER.default


def ranking_in_words(state: SentenceState) -> str:
    """The two ends of the order, and the meaning of the numbers."""
    ranking = rank(state, _order_of(state))
    return f"{_describe(state, ranking)} {say(f'overview_note_{ranking.name}')}"


def ranking_parts(state: SentenceState) -> list[Part]:
    """For phones: the tiles in their order, those selected framed, below the meaning of the order. Nothing
    where the heads are at their places."""
    if not is_ranked(state):
        return []
    tiles = _figure(state, rank(state, _order_of(state)), state.selection.heads(state.trace))
    told = {"text": ranking_in_words(state), "kind": "note"}
    return [("described", told), plot_part(state, "overview", tiles, say("overview_label"))]


def without_each(state: SentenceState) -> Mapping[LayerHead, str | None]:
    """The text that is written without each of the heads shown where it is another one, once a change is in
    focus. Nothing until it is known; it is asked once the page is drawn. None for a text without an end.
    Raises EngineError."""
    if state.change is None or not may_switch_off(state):
        return {}
    layers, heads = state.trace.shape(state.kind)
    places = list(product(range(layers), range(heads)))
    sets = ((), *((interventions.Head(state.kind, *place),) for place in places))
    found = state.known(declared.ablate_heads, state.sentence.source, sets)
    if found is None:
        runs.ask_last(lambda: state.ask(declared.ablate_heads, state.sentence.source, sets))
        return {}
    whole, *texts = (each.text for each in found)
    return {place: text for place, text in zip(places, texts, strict=True) if text != whole}


def explain(state: SentenceState) -> None:
    """Explain the tiles and the order of the heads."""
    ranking = rank(state, _order_of(state))
    markup.paragraph(_describe(state, ranking), "reading")
    for note in notes(state, ranking):
        markup.paragraph(note, "note")
    st.markdown(say("overview_idea"))
    for formula in FORMULAS:
        st.latex(formula)
    st.markdown(say("overview_formula"))


@dataclass(frozen=True)
class Ranking:
    """The heads in an order; by ``place`` they are at their layer and head."""

    name: str  # place, entropy, distance or edit
    values: np.ndarray  # (L, H) float32; of ``place`` the entropy
    heads: tuple[LayerHead, ...]  # best first: most focused, furthest, most beyond the usual

    def label(self, head: LayerHead) -> str:
        """A head's numbers, counted from 1, and its value.

        >>> Ranking("edit", np.array([[0.25]]), ((0, 0),)).label((0, 0))
        '1·1 +0.25'
        """
        value = decimal(self.values[head], 1 if self.name == "distance" else 2, signed=self.name == "edit")
        return f"{head[0] + 1}·{head[1] + 1} {value}"


def _orders(state: SentenceState) -> list[str]:
    return [order for order in ORDER.options if order != "edit" or state.changes]


def _order_of(state: SentenceState) -> str:
    return address.get_option(ORDER.name, _orders(state)) if state.has_several_heads else ORDER.default


def choose_order(state: SentenceState) -> None:
    if state.has_several_heads:
        controls.choose(ORDER.name, _orders(state), lambda order: say(f"overview_{order}"))


def rank(state: SentenceState, order: str) -> Ranking:
    """The heads of the state's kind: the most focused, the furthest-looking or the most attentive one first.
    Numbers are (L, H)."""
    weights = state.trace.attention(state.kind)[:, :, state.read_rows]
    if order == "distance":
        positions = row_positions(state.trace, state.kind, state.all_changes)
        values = heads.distance(weights, positions[state.read_rows])
    elif order == "edit":
        values = attention_to_edit(state.trace, state.kind, state.changes[0], state.all_changes).beyond_usual
    else:
        values = heads.entropy(weights)
    ranked = np.argsort(values if order in ("place", "entropy") else -values, axis=None, kind="stable")
    places = zip(*np.unravel_index(ranked, values.shape), strict=True)
    return Ranking(order, values, tuple((int(layer), int(head)) for layer, head in places))


def _figure(
    state: SentenceState,
    ranking: Ranking,
    framed: list[LayerHead],
    nats: np.ndarray | None = None,
    without: Mapping[LayerHead, str | None] = MappingProxyType({}),
) -> Specification:
    """The tiles as Plotly's data; ``without``: the texts that are written without heads
    that change something."""
    notes = {
        head: say("overview_without_none") if text is None else say("overview_without", text=text)
        for head, text in without.items()
    }
    by_place = ranking.name == "place"
    figure = viz.head_grid.specification(
        state.trace.attention(state.kind) if nats is None else nats,
        **grid_words(say),
        signed=nats is not None,
        colour_max=1.0 if nats is None else float(np.abs(nats).max()) or 1.0,
        masked=state.hidden,
        order=None if by_place else ranking.heads,
        labels=() if by_place else [ranking.label(head) for head in ranking.heads],
        notes=notes,
        chosen=framed,
        marked=without,
        mark_title=say("overview_corner"),
        scale=False,
        theme=state.theme,
    )
    figure["layout"]["meta"] |= {"low": True, "least": LEAST_HEIGHT}
    return figure


def open_tile(elsewhere: SentenceState | None, point: dict) -> None:
    """Make the head of a chosen tile the one that the page looks at, or show the map of this head
    ``elsewhere``."""
    if elsewhere is None:
        figures.open_tile(point)
    elif head := figures.head_of(point):
        open_head(elsewhere, interventions.Head(elsewhere.kind, *head))


def _describe(state: SentenceState, ranking: Ranking) -> str:
    """The two ends of the ranking, with their numbers."""
    best, last = ranking.heads[0], ranking.heads[-1]
    high, low = float(ranking.values[best]), float(ranking.values[last])
    if len(ranking.heads) == 1:
        return say("overview_reading_only", bits=f"{high:.2f}", tokens=f"{2**high:.1f}")
    places = {"best": state.place_of(best), "last": state.place_of(last)}
    if ranking.name == "distance":
        return say("overview_reading_distance", **places, high=f"{high:.1f}", low=f"{low:.1f}")
    if ranking.name == "edit":
        change = state.changes[0]
        attention = attention_to_edit(state.trace, state.kind, change, state.all_changes)
        return say(
            "overview_reading_edit" if high > 0 else "overview_reading_edit_none",
            change=change_in_words(change),
            best=places["best"],
            share=percent(float(attention.share[best])),
            usual=percent(float(attention.usual[best])),
        )
    return say(
        "overview_reading_entropy",
        **places,
        sharp=f"{2**high:.1f}",
        wide=f"{2**low:.1f}",
    )


def notes(state: SentenceState, ranking: Ranking) -> list[str]:
    """The open tile, the meaning of the numbers, and how a long sentence was made to fit."""
    found = [say("overview_open", place=capital(state.place))]
    if ranking.name != "place":
        found.append(say(f"overview_note_{ranking.name}"))
    if (joined := viz.cells_joined(len(state.queries), len(state.keys))) > 1:
        found.append(say("overview_joined", count=joined))
    return found
