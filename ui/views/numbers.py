"""View *calculation*: attention of one query in numbers, from its vector to its output.

The output of a head is the sum of the weighted values.
"""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.building_blocks import DotProduct, dot_product_attention
from model.trace.interventions import Head
from model.trace.trace import Selection
from ui import wording
from ui.components import figures
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.views.heatmap import cell_in_address
from ui.views.view import Figures, Values, View, file_name, idea, needs_answer, picture_title
from ui.wording import say
from viz.labels import visible_token, weight

MOST_KEYS = 40  # keys that are shown; of a longer sentence, those with the largest weights


@dataclass(frozen=True)
class Panel:
    """One part of the calculation: its formulas, the last ones with numbers, and its picture. ``name`` ends
    the keys of its texts."""

    name: str
    formulas: tuple[str, ...]
    figure: go.Figure

    @property
    def heading(self) -> str:
        return say(f"numbers_{self.name}_heading")


def _draw(state: SentenceState, values: Values) -> None:
    """The calculation of one query token; where the page shows a mean, of the first layer or head."""
    _choose_query(state, _chosen_query(state))
    for panel in panels(state):
        _side_by_side(state, panel)
    for line in _paragraphs_of(state, values):
        markup.paragraph(line, "note")


def panels(state: SentenceState) -> tuple[Panel, Panel, Panel]:
    """The vectors, the scores that follow from them, and the sum of the values. Vectors (1, d) and (K, d),
    scores (K,), weighted values (K, d)."""
    row = _chosen_query(state)
    steps = _calculate(state, *_place_of(state), row)
    shown = _shown_keys(steps.weights[0])
    return _vectors(state, steps, row, shown), _scores(state, steps, shown), _sum(state, steps, shown)


def _figures_of(state: SentenceState, values: Values) -> Figures:
    return {f"numbers_{panel.name}": (panel.figure, panel.heading) for panel in panels(state)}


def _paragraphs_of(state: SentenceState, values: Values) -> list[str]:
    layer, head = _place_of(state)
    row = _chosen_query(state)
    weights = _calculate(state, layer, head, row).weights[0]
    difference = float(np.abs(weights - state.trace.attention(state.kind)[layer, head, row]).max(initial=0))
    told = [say("numbers_difference", difference=f"{difference:.1g}")]
    shown = _shown_keys(weights)
    if len(shown) < len(weights):
        rest = 1 - float(weights[shown].sum())
        told.insert(0, say("numbers_rest", shown=len(shown), rest=f"{rest:.3f}"))
    return told


def _one_head(state: SentenceState) -> Head:
    """A mean has no query and no key, so its first head is shown."""
    return Head(state.kind, state.layer or 0, state.head or 0)


def _place_of(state: SentenceState) -> tuple[int, int]:
    head = _one_head(state)
    return head.layer, head.head


def _chosen_query(state: SentenceState) -> int:
    """The row that the visitor chose here or in another view; else the first that a change concerns."""
    cell = cell_in_address()
    return cell[0] if cell is not None and cell[0] < len(state.queries) else state.asked_query


def _choose_query(state: SentenceState, row: int) -> None:
    """Another row; its cell with the largest weight becomes the chosen one."""
    layer, head = _place_of(state)
    key, start = controls.seed("control_numbers_query", row)

    def keep() -> None:
        chosen = st.session_state[key]
        column = int(state.trace.attention(state.kind)[layer, head, chosen].argmax())
        address.put("cell", f"{chosen},{column}")

    st.selectbox(
        say("numbers_query_label"),
        range(len(state.queries)),
        start or 0,
        format_func=lambda number: f"{number + 1}: {visible_token(state.queries[number])}",
        key=key,
        on_change=keep,
    )


def _calculate(state: SentenceState, layer: int, head: int, row: int) -> DotProduct:
    """Every step for one row (Q = 1) of one head, from the network's own queries, keys and values."""
    found = state.ask(declared.projections, *state.texts)[state.kind]
    allowed = None if state.masked is None else ~state.masked[row : row + 1]
    query = found.query[layer, head, row : row + 1]
    return dot_product_attention(query, found.key[layer, head], found.value[layer, head], allowed)


def _shown_keys(weights: np.ndarray) -> np.ndarray:
    """(K,) -> the positions, in order, of the keys that are shown: all, or the heaviest of many."""
    return np.sort(np.argsort(-weights, kind="stable")[:MOST_KEYS])


def _describe(state: SentenceState, values: Values) -> str:
    """Which key the query meets best, and how much of the output comes from it."""
    layer, head = _place_of(state)
    row = _chosen_query(state)
    steps = _calculate(state, layer, head, row)
    weights = steps.weights[0]
    best = int(weights.argmax())
    return say(
        "numbers_reading",
        query=visible_token(state.queries[row]),
        key=visible_token(state.keys[best]),
        position=best + 1,
        product=viz.number_text(steps.products[0, best]),
        score=viz.number_text(steps.scaled[0, best]),
        weight=weight(weights[best]),
        hidden=int(np.isneginf(steps.logits).sum()),
        place=Selection(state.kind, layer, head).label(say, state.trace),
    )


def _vectors(state: SentenceState, steps: DotProduct, row: int, shown: np.ndarray) -> Panel:
    """The query as a strip above the keys as a matrix (K, d), in the same colours."""
    table = np.vstack([steps.query, np.full_like(steps.query, np.nan), steps.key[shown]])
    rows = [state.queries[row], "", *(state.keys[key] for key in shown)]
    formula = (
        r"q_t = x_t W^Q \qquad k_s = y_s W^K",
        rf"d = {steps.key.shape[1]}, \qquad t = {row + 1}",
    )
    titles = (say("numbers_vectors_rows"), say("dimension_axis"))
    return Panel("vectors", formula, _matrix(state, table, rows, titles))


def _scores(state: SentenceState, steps: DotProduct, shown: np.ndarray) -> Panel:
    """Product, scaling, mask and softmax: a row of numbers for each key."""
    best = int(steps.weights[0].argmax())
    product, score = (wording.tex_alone(table[0, best]) for table in (steps.products, steps.scaled))
    worked, largest = wording.tex_dot(steps.query[0], steps.key[best], most=4), weight(steps.weights[0, best])
    formula = (
        wording.tex_aligned(rf"q_t \cdot k_{{{best + 1}}}", [*worked, f"= {product}"]),
        rf"\frac{{{product}}}{{\sqrt{{{steps.key.shape[1]}}}}} = {score}",
        rf"\alpha_{{t,{best + 1}}} = {wording.tex_softmax(steps.scaled[0, best])} \approx {largest}",
    )
    figure = viz.attention_steps(
        [table[0, shown] for table in (steps.products, steps.scaled, steps.logits)],
        steps.weights[0, shown],
        [state.keys[key] for key in shown],
        ["q·k", "÷√d", say("numbers_with_mask"), "softmax"],
        captions=viz.Captions(
            titles=(say("hover_key"), ""),
            hover=(say("hover_key"), say("numbers_step"), say("value_axis")),
            names=(say("numbers_masked"),),
            theme=state.theme,
        ),
    )
    return Panel("scores", formula, figure)


def _sum(state: SentenceState, steps: DotProduct, shown: np.ndarray) -> Panel:
    """Each value times its weight, and below them their sum, which is the output of the head."""
    weighted = steps.weighted_values(0)
    table = np.vstack([weighted[shown], np.full_like(steps.output, np.nan), steps.output])
    rows = [*(state.keys[key] for key in shown), "", "o"]
    terms = wording.tex_weighted_sum(steps.weights[0], steps.value[:, :1], most=3)
    formula = (
        r"o_t = \sum_s \alpha_{ts}\, v_s",
        r"v_s = y_s W^V",
        wording.tex_aligned("o_{t,1}", [*terms, f"= {wording.tex_alone(steps.output[0, 0])}"]),
    )
    titles = (say("numbers_sum_rows"), say("dimension_axis"))
    return Panel("sum", formula, _matrix(state, table, rows, titles))


def _matrix(state: SentenceState, table: np.ndarray, rows: list[str], titles: tuple[str, str]) -> go.Figure:
    return viz.number_heatmap(
        table,
        rows,
        [str(dimension + 1) for dimension in range(table.shape[1])],
        titles=titles,
        hover=(*titles, say("value_axis")),
        label_every=max(table.shape[1] // 8, 1),
        theme=state.theme,
    )


def _side_by_side(state: SentenceState, panel: Panel) -> None:
    name = panel.name
    st.subheader(panel.heading)
    words, picture = st.columns([2, 3], gap="medium")
    with words:
        markup.paragraph(say(f"numbers_{name}_words"), "note")
        for line in panel.formulas:
            st.latex(line)
    with picture:
        title = picture_title(state)
        figures.draw(
            panel.figure, f"numbers_{name}", file_name(state, name), label=panel.heading, title=title
        )


VIEW = View(
    "numbers",
    "attention",
    80,
    _describe,
    explain=idea("numbers"),
    drawing=_draw,
    figures=_figures_of,
    one_head=_one_head,
    paragraphs=_paragraphs_of,
    lacks=needs_answer(declared.projections, "lacks_projections"),
).declare()
