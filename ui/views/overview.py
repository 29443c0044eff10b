"""The overview: all heads of all layers in one small picture, from which one can be opened."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

import viz
from model.analysis import heads
from model.analysis.edits import attention_to_edit, row_positions
from model.changes import Change
from ui import address, controls, markup, reading
from ui.lens import Lens
from ui.texts import say
from ui.views import clicks
from ui.views.edits import in_words

FORMULAS = (
    r"H_h = -\frac{1}{Q} \sum_{i} \sum_{j} \alpha^h_{ij} \log_2 \alpha^h_{ij}",
    r"D_h = \frac{1}{Q} \sum_{i} \sum_{j} \alpha^h_{ij} \,\lvert j - p(i) \rvert",
)

Head = tuple[int, int]  # layer and head from 0


def show(lens: Lens) -> None:
    """Every head as a tile, a sentence that compares them, and the way to open one."""
    ranking = choose_ranking(lens)
    markup.paragraph(describe(lens, ranking), "reading")
    clicks.draw(figure(lens, ranking), "overview", "overview", lambda point: open_head(*point["customdata"]))
    for note in notes(lens, ranking):
        markup.paragraph(note, "note")
    with st.expander(say("overview_more")):
        st.markdown(say("overview_idea"))
        for formula in FORMULAS:
            st.latex(formula)
        st.markdown(say("overview_formula"))


@dataclass(frozen=True)
class Ranking:
    """What the heads are compared by; by ``place`` they stand at their layer and head."""

    name: str  # place, entropy, distance or edit
    values: np.ndarray  # (L, H) float32; of ``place`` the entropy
    heads: tuple[Head, ...]  # best first: most focused, furthest, most beyond the usual

    def label(self, head: Head) -> str:
        """A head's numbers, counted from 1, and its value."""
        digits = {"distance": ".1f", "edit": "+.2f"}.get(self.name, ".2f")
        value = f"{self.values[head]:{digits}}".replace("-", "−")
        return f"{head[0] + 1}·{head[1] + 1} {value}"


def choose_ranking(lens: Lens) -> Ranking:
    """Asks only where there are several heads, and for the change only where there is one."""
    orders = ["place", "entropy", "distance", *(["edit"] if lens.changes else [])]
    order = orders[0]
    if lens.trace.num_layers * lens.trace.num_heads > 1:
        order = controls.choose("order", orders, lambda order: say(f"overview_{order}"))
    return rank(lens, order)


def rank(lens: Lens, order: str) -> Ranking:
    """The heads of the lens's kind: the most focused, the furthest-looking or the most attentive one first."""
    weights = lens.trace.attention(lens.kind)
    if order == "distance":
        values = heads.distance(weights, row_positions(lens.trace, lens.kind, lens.sentence.changes))
    elif order == "edit":
        values = attention_to_edit(lens.trace, lens.kind, change_of(lens), lens.sentence.changes).beyond_usual
    else:
        values = heads.entropy(weights)
    ranked = np.argsort(values if order in ("place", "entropy") else -values, axis=None, kind="stable")
    places = zip(*np.unravel_index(ranked, values.shape), strict=True)
    return Ranking(order, values, tuple((int(layer), int(head)) for layer, head in places))


def change_of(lens: Lens) -> Change:
    """The chosen change, or the first."""
    return lens.changes[0]


def figure(lens: Lens, ranking: Ranking):
    """The tiles as a Plotly figure, the open ones framed."""
    by_place = ranking.name == "place"
    return viz.head_grid(
        lens.trace.attention(lens.kind),
        layer_title=say("layer_label"),
        head_title=say("head_label"),
        weight_title=say("hover_weight"),
        masked=lens.masked,
        order=None if by_place else ranking.heads,
        labels=() if by_place else [ranking.label(head) for head in ranking.heads],
        chosen=open_heads(lens),
        theme=lens.theme,
    )


def open_heads(lens: Lens) -> list[Head]:
    """The tiles that the chosen layer and head stand for; none where they stand for all of them."""
    if lens.layer is None and lens.head is None:
        return []
    layers = range(lens.trace.num_layers) if lens.layer is None else [lens.layer]
    numbers = range(lens.trace.num_heads) if lens.head is None else [lens.head]
    return [(layer, head) for layer in layers for head in numbers]


def open_head(layer: int, head: int) -> None:
    """Make one head, counted from 0, the one that the page looks at."""
    address.put("layer", str(int(layer) + 1))
    address.put("head", str(int(head) + 1))


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
        change = change_of(lens)
        attention = attention_to_edit(lens.trace, lens.kind, change, lens.sentence.changes)
        return say(
            "overview_reading_edit" if high > 0 else "overview_reading_edit_none",
            change=in_words(change),
            best=places["best"],
            share=f"{attention.share[best]:.0%}",
            usual=f"{attention.usual[best]:.0%}",
        )
    return say(
        "overview_reading_entropy",
        **places,
        sharp=f"{2**high:.1f}",
        wide=f"{2**low:.1f}",
    )


def notes(lens: Lens, ranking: Ranking) -> list[str]:
    """Which tile is open, what the numbers are, and how a long sentence was made to fit."""
    found = [say("overview_open", place=_capital(lens.place))]
    if ranking.name != "place":
        found.append(say(f"overview_note_{ranking.name}"))
    if (joined := viz.cells_joined(len(lens.queries), len(lens.keys))) > 1:
        found.append(say("overview_joined", count=joined))
    return found


def _place(lens: Lens, head: Head) -> str:
    return reading.place(say, lens.trace, *head)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
