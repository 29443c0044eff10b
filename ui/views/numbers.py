"""The view *calculation*: one query of one head in numbers, from its vector to the sum of the weighted values."""

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
from ui.asking import questions
from ui.components import figures
from ui.sentence.state import Lens
from ui.shell import address, controls, markup
from ui.shell.settings import is_number
from ui.views.view import Values, View, declare, file_name, idea, needs_answer, picture_title
from ui.wording import say
from viz.labels import visible_token

MOST_KEYS = 40  # keys that are shown; of a longer sentence, those with the largest weights


@dataclass(frozen=True)
class Panel:
    """One part of the calculation: its formulas, the last ones with numbers, and its picture. ``name`` ends the keys of its texts."""

    name: str
    formulas: tuple[str, ...]
    figure: go.Figure


def draw(lens: Lens, values: Values) -> None:
    """The calculation of one query token; where the page shows a mean, of the first layer or head."""
    choose_query(lens, chosen_query(lens))
    for panel in panels(lens):
        _side_by_side(lens, panel)
    for line in paragraphs_of(lens, values):
        markup.paragraph(line, "note")


def panels(lens: Lens) -> tuple[Panel, Panel, Panel]:
    """The vectors, the scores that follow from them, and the sum of the values."""
    row = chosen_query(lens)
    steps = calculate(lens, *place_of(lens), row)
    shown = shown_keys(steps.weights[0])
    return _vectors(lens, steps, row, shown), _scores(lens, steps, shown), _sum(lens, steps, shown)


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[go.Figure, str]]:
    return {
        f"numbers_{panel.name}": (panel.figure, say(f"numbers_{panel.name}_heading"))
        for panel in panels(lens)
    }


def paragraphs_of(lens: Lens, values: Values) -> list[str]:
    """What is left out of a long sentence, and by how little the calculation is off."""
    layer, head = place_of(lens)
    row = chosen_query(lens)
    weights = calculate(lens, layer, head, row).weights[0]
    difference = float(np.abs(weights - lens.trace.attention(lens.kind)[layer, head, row]).max(initial=0))
    told = [say("numbers_difference", difference=f"{difference:.1g}")]
    shown = shown_keys(weights)
    if len(shown) < len(weights):
        rest = 1 - float(weights[shown].sum())
        told.insert(0, say("numbers_rest", shown=len(shown), rest=f"{rest:.3f}"))
    return told


def one_head(lens: Lens) -> Head:
    """A mean has no query and no key, so its first head is shown."""
    return Head(lens.kind, lens.layer or 0, lens.head or 0)


def place_of(lens: Lens) -> tuple[int, int]:
    head = one_head(lens)
    return head.layer, head.head


def chosen_query(lens: Lens) -> int:
    """The row that the visitor chose here or in another view; else the first that a change concerns."""
    here = chosen_row()
    return here if here is not None and here < len(lens.queries) else next(iter(lens.rows), 0)


def choose_query(lens: Lens, row: int) -> None:
    """Another row; its cell with the largest weight becomes the chosen one."""
    layer, head = place_of(lens)
    key, start = controls.seed("control_numbers_query", row)

    def keep() -> None:
        chosen = st.session_state[key]
        column = int(lens.trace.attention(lens.kind)[layer, head, chosen].argmax())
        address.put("cell", f"{chosen},{column}")

    st.selectbox(
        say("numbers_query_label"),
        range(len(lens.queries)),
        start or 0,
        format_func=lambda number: f"{number + 1}: {visible_token(lens.queries[number])}",
        key=key,
        on_change=keep,
    )


def chosen_row() -> int | None:
    """The row of the chosen cell, "row,column" in the address; None where there is none."""
    row, _, column = address.get("cell").partition(",")
    return int(row) if is_number(row) and is_number(column) else None


def calculate(lens: Lens, layer: int, head: int, row: int) -> DotProduct:
    """Every step for one row (Q = 1) of one head, from the network's own queries, keys and values."""
    found = questions.projections(lens.sentence.source, lens.sentence.text, lens.corrector)[lens.kind]
    allowed = None if lens.masked is None else ~lens.masked[row : row + 1]
    query = found.query[layer, head, row : row + 1]
    return dot_product_attention(query, found.key[layer, head], found.value[layer, head], allowed)


def shown_keys(weights: np.ndarray) -> np.ndarray:
    """(K,) -> the positions, in order, of the keys that are shown: all, or the heaviest of many."""
    return np.sort(np.argsort(-weights, kind="stable")[:MOST_KEYS])


def describe(lens: Lens, values: Values) -> str:
    """Which key the query meets best, and how much of the output comes from it."""
    layer, head = place_of(lens)
    row = chosen_query(lens)
    steps = calculate(lens, layer, head, row)
    weights = steps.weights[0]
    best = int(weights.argmax())
    return say(
        "numbers_reading",
        query=visible_token(lens.queries[row]),
        key=visible_token(lens.keys[best]),
        position=best + 1,
        product=viz.number_text(steps.products[0, best]),
        score=viz.number_text(steps.scaled[0, best]),
        weight=f"{weights[best]:.2f}",
        hidden=int(np.isneginf(steps.logits).sum()),
        place=Selection(lens.kind, layer, head).label(say, lens.trace),
    )


def _vectors(lens: Lens, steps: DotProduct, row: int, shown: np.ndarray) -> Panel:
    """The query as a strip above the keys as a matrix (K, d), in the same colours."""
    table = np.vstack([steps.query, np.full_like(steps.query, np.nan), steps.key[shown]])
    rows = [lens.queries[row], "", *(lens.keys[key] for key in shown)]
    formula = (
        r"q_t = x_t W^Q \qquad k_s = y_s W^K",
        rf"d = {steps.key.shape[1]}, \qquad t = {row + 1}",
    )
    titles = (say("numbers_vectors_rows"), say("dimension_axis"))
    return Panel("vectors", formula, _matrix(lens, table, rows, titles))


def _scores(lens: Lens, steps: DotProduct, shown: np.ndarray) -> Panel:
    """Product, scaling, mask and softmax: a row of numbers for each key."""
    best = int(steps.weights[0].argmax())
    product, score, weight = (wording.tex(t[0, best]) for t in (steps.products, steps.scaled, steps.weights))
    worked = wording.tex_dot(steps.query[0], steps.key[best], most=4)
    formula = (
        wording.tex_aligned(rf"q_t \cdot k_{{{best + 1}}}", [*worked, f"= {product}"]),
        rf"\frac{{{product}}}{{\sqrt{{{steps.key.shape[1]}}}}} = {score}",
        rf"\alpha_{{t,{best + 1}}} = {wording.tex_softmax(steps.scaled[0, best])} = {weight}",
    )
    figure = viz.attention_steps(
        [table[0, shown] for table in (steps.products, steps.scaled, steps.logits)],
        steps.weights[0, shown],
        [lens.keys[key] for key in shown],
        ["q·k", "÷√d", say("numbers_with_mask"), "softmax"],
        masked_name=say("numbers_masked"),
        titles=(say("hover_key"), ""),
        hover=(say("hover_key"), say("numbers_step"), say("value_axis")),
        theme=lens.theme,
    )
    return Panel("scores", formula, figure)


def _sum(lens: Lens, steps: DotProduct, shown: np.ndarray) -> Panel:
    """Each value times its weight, and below them their sum, which is the output of the head."""
    weighted = steps.weighted_values(0)
    table = np.vstack([weighted[shown], np.full_like(steps.output, np.nan), steps.output])
    rows = [*(lens.keys[key] for key in shown), "", "o"]
    terms = wording.tex_weighted_sum(steps.weights[0], steps.value[:, :1], most=3)
    formula = (
        r"o_t = \sum_s \alpha_{ts}\, v_s, \qquad v_s = y_s W^V",
        wording.tex_aligned("o_{t,1}", [*terms, f"= {wording.tex(steps.output[0, 0])}"]),
    )
    titles = (say("numbers_sum_rows"), say("dimension_axis"))
    return Panel("sum", formula, _matrix(lens, table, rows, titles))


def _matrix(lens: Lens, table: np.ndarray, rows: list[str], titles: tuple[str, str]) -> go.Figure:
    return viz.number_heatmap(
        table,
        rows,
        [str(dimension + 1) for dimension in range(table.shape[1])],
        titles=titles,
        hover=(*titles, say("value_axis")),
        label_every=max(table.shape[1] // 8, 1),
        theme=lens.theme,
    )


def _side_by_side(lens: Lens, panel: Panel) -> None:
    name = panel.name
    st.subheader(say(f"numbers_{name}_heading"))
    words, picture = st.columns([2, 3], gap="medium")
    with words:
        markup.paragraph(say(f"numbers_{name}_words"), "note")
        for line in panel.formulas:
            st.latex(line)
    with picture:
        figures.draw(
            panel.figure,
            f"numbers_{name}",
            file_name(lens, name),
            label=say(f"numbers_{name}_heading"),
            title=picture_title(lens),
        )


VIEW = declare(
    View(
        "numbers",
        "attention",
        80,
        describe,
        draw,
        explain=idea("numbers"),
        one_head=one_head,
        figures=figures_of,
        paragraphs=paragraphs_of,
        lacks=needs_answer(declared.projections, "lacks_projections"),
    )
)
