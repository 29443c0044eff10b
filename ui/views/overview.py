"""All heads of all layers as small tiles; choosing a tile opens its head."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st

import viz
from model.analysis import attention_maps as heads
from model.analysis.edits import attention_to_edit, row_positions
from model.trace import interventions
from model.trace.trace import LayerHead, Selection
from ui.components import figures
from ui.sentence.state import Lens
from ui.shell import address, controls, markup
from ui.shell.settings import Choice, register
from ui.views.view import file_name, open_head, picture_title
from ui.wording import capital, change_in_words, percent, say
from viz.figure import Specification

ORDER = Choice("order", ("place", "entropy", "distance", "edit"))  # of the heads
register(ORDER)
FORMULAS = (
    r"H_h = -\frac{1}{Q} \sum_{i} \sum_{j} \alpha^h_{ij} \log_2 \alpha^h_{ij}",
    r"D_h = \frac{1}{Q} \sum_{i} \sum_{j} \alpha^h_{ij} \,\lvert j - p(i) \rvert",
)


def draw(
    lens: Lens,
    framed: list[LayerHead] | None = None,
    nats: np.ndarray | None = None,
    *,
    shown_below: bool = True,
) -> None:
    """Every head as a tile; one can be opened. ``framed`` tiles are marked, by default those selected.

    ``nats``: what they show instead of attention, (L, H, Q, K) values of both signs. ``shown_below``: whether the open view
    shows the head that is chosen. Otherwise a tile leads to a view that does.
    """
    framed = lens.selection.heads(lens.trace) if framed is None else framed
    figures.draw(
        figure(lens, rank(lens, order_of(lens)), framed, nats),
        "overview",
        file_name(lens, "heads"),
        partial(open_tile, None if shown_below else lens),
        label=say("overview_label" if nats is None else "overview_label_nats"),
        title=picture_title(lens),
    )


def explain(lens: Lens) -> None:
    """What the tiles show, and what the heads are ordered by."""
    ranking = rank(lens, order_of(lens))
    markup.paragraph(describe(lens, ranking), "reading")
    for note in notes(lens, ranking):
        markup.paragraph(note, "note")
    st.markdown(say("overview_idea"))
    for formula in FORMULAS:
        st.latex(formula)
    st.markdown(say("overview_formula"))


@dataclass(frozen=True)
class Ranking:
    """What the heads are compared by; by ``place`` they stand at their layer and head."""

    name: str  # place, entropy, distance or edit
    values: np.ndarray  # (L, H) float32; of ``place`` the entropy
    heads: tuple[LayerHead, ...]  # best first: most focused, furthest, most beyond the usual

    def label(self, head: LayerHead) -> str:
        """A head's numbers, counted from 1, and its value."""
        digits = {"distance": ".1f", "edit": "+.2f"}.get(self.name, ".2f")
        value = f"{self.values[head]:{digits}}".replace("-", "−")
        return f"{head[0] + 1}·{head[1] + 1} {value}"


def orders(lens: Lens) -> list[str]:
    """What the heads can be ordered by; by a change only where there is one."""
    return [order for order in ORDER.options if order != "edit" or lens.changes]


def order_of(lens: Lens) -> str:
    return address.get_option(ORDER.name, orders(lens)) if lens.has_several_heads else ORDER.default


def choose_order(lens: Lens) -> None:
    if lens.has_several_heads:
        controls.choose(ORDER.name, orders(lens), lambda order: say(f"overview_{order}"))


def rank(lens: Lens, order: str) -> Ranking:
    """The heads of the lens's kind: the most focused, the furthest-looking or the most attentive one first."""
    weights = lens.trace.attention(lens.kind)[:, :, lens.read_rows]
    if order == "distance":
        positions = row_positions(lens.trace, lens.kind, lens.all_changes)
        values = heads.distance(weights, positions[lens.read_rows])
    elif order == "edit":
        values = attention_to_edit(lens.trace, lens.kind, lens.changes[0], lens.all_changes).beyond_usual
    else:
        values = heads.entropy(weights)
    ranked = np.argsort(values if order in ("place", "entropy") else -values, axis=None, kind="stable")
    places = zip(*np.unravel_index(ranked, values.shape), strict=True)
    return Ranking(order, values, tuple((int(layer), int(head)) for layer, head in places))


def figure(
    lens: Lens, ranking: Ranking, framed: list[LayerHead], nats: np.ndarray | None = None
) -> Specification:
    """The tiles as Plotly's data."""
    by_place = ranking.name == "place"
    return viz.head_grid.specification(
        lens.trace.attention(lens.kind) if nats is None else nats,
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        signed=nats is not None,
        colour_max=1.0 if nats is None else float(np.abs(nats).max()) or 1.0,
        masked=lens.hidden,
        order=None if by_place else ranking.heads,
        labels=() if by_place else [ranking.label(head) for head in ranking.heads],
        chosen=framed,
        scale=False,
        theme=lens.theme,
    )


def open_tile(elsewhere: Lens | None, point: dict) -> None:
    """Make the head of a chosen tile the one that the page looks at, or show the map of this head ``elsewhere``."""
    if elsewhere is None:
        figures.open_tile(point)
    elif head := figures.head_of(point):
        open_head(elsewhere, interventions.Head(elsewhere.kind, *head))


def describe(lens: Lens, ranking: Ranking) -> str:
    """The two ends of the ranking, with their numbers."""
    best, last = ranking.heads[0], ranking.heads[-1]
    high, low = float(ranking.values[best]), float(ranking.values[last])
    if len(ranking.heads) == 1:
        return say("overview_reading_only", bits=f"{high:.2f}", tokens=f"{2**high:.1f}")
    places = {"best": _place(lens, best), "last": _place(lens, last)}
    if ranking.name == "distance":
        return say("overview_reading_distance", **places, high=f"{high:.1f}", low=f"{low:.1f}")
    if ranking.name == "edit":
        change = lens.changes[0]
        attention = attention_to_edit(lens.trace, lens.kind, change, lens.all_changes)
        return say(
            "overview_reading_edit" if high > 0 else "overview_reading_edit_none",
            change=change_in_words(change),
            best=places["best"],
            share=percent(say, float(attention.share[best])),
            usual=percent(say, float(attention.usual[best])),
        )
    return say(
        "overview_reading_entropy",
        **places,
        sharp=f"{2**high:.1f}",
        wide=f"{2**low:.1f}",
    )


def notes(lens: Lens, ranking: Ranking) -> list[str]:
    """Which tile is open, what the numbers are, and how a long sentence was made to fit."""
    found = [say("overview_open", place=capital(lens.place))]
    if ranking.name != "place":
        found.append(say(f"overview_note_{ranking.name}"))
    if (joined := viz.cells_joined(len(lens.queries), len(lens.keys))) > 1:
        found.append(say("overview_joined", count=joined))
    return found


def _place(lens: Lens, head: LayerHead) -> str:
    return Selection(lens.kind, *head).label(say, lens.trace)
