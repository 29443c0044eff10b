"""View *calculation*: attention of one query in numbers, from its vector to its output.

The output of a head is the sum of the weighted values.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import plotly.graph_objects as go
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.building_blocks import DotProduct, dot_product_attention
from model.trace.interventions import Head
from model.trace.trace import LayerHead
from ui import wording
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.views.heatmap import cell_in_address
from ui.views.view import Figures, Part, View, needs_answer, plot_part
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

    @property
    def words(self) -> str:
        return say(f"numbers_{self.name}_words")


def _first_head(state: SentenceState) -> Head:
    """A mean has no query and no key, so its first head is shown."""
    return Head(state.kind, state.layer or 0, state.head or 0)


class Numbers(View):
    """The calculation of one query token; where the page shows a mean, of the first layer or head."""

    name, page, order = "numbers", "attention", 80
    one_head = staticmethod(_first_head)
    saved_as: ClassVar = {f"numbers_{part}": part for part in ("vectors", "scores", "sum")}
    lacks = staticmethod(needs_answer(declared.projections, "lacks_projections"))

    @cached_property
    def place(self) -> LayerHead:
        head = _first_head(self.state)
        return head.layer, head.head

    @cached_property
    def row(self) -> int:
        """The row that the visitor chose here or in another view; else the first that a change concerns."""
        cell = cell_in_address()
        return cell[0] if cell is not None and cell[0] < len(self.state.queries) else self.state.asked_query

    @cached_property
    def steps(self) -> DotProduct:
        """Every step for one row (Q = 1) of one head, from the network's own queries, keys and values."""
        state, row, place = self.state, self.row, self.place
        found = state.ask(declared.projections, *state.texts)[state.kind]
        allowed = None if state.masked is None else ~state.masked[row : row + 1]
        query = found.query[place][row : row + 1]
        return dot_product_attention(query, found.key[place], found.value[place], allowed)

    @cached_property
    def shown(self) -> np.ndarray:
        """The positions, in order, of the keys (K,) that are shown: all, or the heaviest of many."""
        return np.sort(np.argsort(-self.steps.weights[0], kind="stable")[:MOST_KEYS])

    @cached_property
    def panels(self) -> tuple[Panel, Panel, Panel]:
        """The vectors, the scores that follow from them, and the sum of the values. Vectors (1, d) and
        (K, d), scores (K,), weighted values (K, d)."""
        return self._vectors(), self._scores(), self._sum()

    @cached_property
    def figures(self) -> Figures:
        return {f"numbers_{panel.name}": (panel.figure, panel.heading) for panel in self.panels}

    def show(self) -> None:
        self._choose_query()
        for panel in self.panels:
            st.subheader(panel.heading)
            words, picture = st.columns([2, 3], gap="medium")
            with words:
                markup.paragraph(panel.words, "note")
                for line in panel.formulas:
                    st.latex(line)
            with picture:
                self.draw_figure(f"numbers_{panel.name}")
        for line in self.paragraphs():
            markup.paragraph(line, "note")

    def parts(self) -> list[Part]:
        """Each part of the calculation: its heading, words and formulas, then its picture."""
        found: list[Part] = []
        for panel in self.panels:
            told = {"heading": panel.heading, "words": panel.words, "formulas": list(panel.formulas)}
            plot = plot_part(self.state, panel.name, panel.figure, panel.heading)
            found += [("formulas", told), plot]
        return found

    def paragraphs(self) -> list[str]:
        weights, shown = self.steps.weights[0], self.shown
        seen = self.state.trace.attention(self.state.kind)[self.place][self.row]
        difference = float(np.abs(weights - seen).max(initial=0))
        told = [say("numbers_difference", difference=f"{difference:.1g}")]
        if len(shown) < len(weights):
            rest = 1 - float(weights[shown].sum())
            told.insert(0, say("numbers_rest", shown=len(shown), rest=f"{rest:.3f}"))
        return told

    def _choose_query(self) -> None:
        """Another row; its cell with the largest weight becomes the chosen one."""
        state, place = self.state, self.place
        key, start = controls.seed("control_numbers_query", self.row)

        def keep() -> None:
            chosen = st.session_state[key]
            column = int(state.trace.attention(state.kind)[place][chosen].argmax())
            address.put("cell", f"{chosen},{column}")

        st.selectbox(
            say("numbers_query_label"),
            range(len(state.queries)),
            start or 0,
            format_func=lambda number: f"{number + 1}: {visible_token(state.queries[number])}",
            key=key,
            on_change=keep,
        )

    def reading(self) -> str:
        """Which key the query meets best, and how much of the output comes from it."""
        state, steps = self.state, self.steps
        best = int(steps.weights[0].argmax())
        return say(
            "numbers_reading",
            query=visible_token(state.queries[self.row]),
            key=visible_token(state.keys[best]),
            position=best + 1,
            product=viz.number_text(steps.products[0, best]),
            score=viz.number_text(steps.scaled[0, best]),
            weight=weight(steps.weights[0, best]),
            hidden=int(np.isneginf(steps.logits).sum()),
            place=state.place_of(self.place),
        )

    def _vectors(self) -> Panel:
        """The query as a strip above the keys as a matrix (K, d), in the same colours."""
        steps, shown, row = self.steps, self.shown, self.row
        table = np.vstack([steps.query, np.full_like(steps.query, np.nan), steps.key[shown]])
        rows = [self.state.queries[row], "", *(self.state.keys[key] for key in shown)]
        formula = (
            r"q_t = x_t W^Q \qquad k_s = y_s W^K",
            rf"d = {steps.key.shape[1]}, \qquad t = {row + 1}",
        )
        return Panel("vectors", formula, self._matrix("vectors", table, rows))

    def _scores(self) -> Panel:
        """Product, scaling, mask and softmax: a row of numbers for each key."""
        steps, shown = self.steps, self.shown
        best = int(steps.weights[0].argmax())
        product, score = (wording.tex_alone(table[0, best]) for table in (steps.products, steps.scaled))
        worked = wording.tex_dot(steps.query[0], steps.key[best], most=4)
        largest = weight(steps.weights[0, best])
        formula = (
            wording.tex_aligned(rf"q_t \cdot k_{{{best + 1}}}", [*worked, f"= {product}"]),
            rf"\frac{{{product}}}{{\sqrt{{{steps.key.shape[1]}}}}} = {score}",
            rf"\alpha_{{t,{best + 1}}} = {wording.tex_softmax(steps.scaled[0, best])} \approx {largest}",
        )
        figure = viz.attention_steps(
            [table[0, shown] for table in (steps.products, steps.scaled, steps.logits)],
            steps.weights[0, shown],
            [self.state.keys[key] for key in shown],
            ["q·k", "÷√d", say("numbers_with_mask"), "softmax"],
            captions=viz.Captions(
                titles=(say("hover_key"), ""),
                hover=(say("hover_key"), say("numbers_step"), say("value_axis")),
                names=(say("numbers_masked"),),
                theme=self.state.theme,
            ),
        )
        return Panel("scores", formula, figure)

    def _sum(self) -> Panel:
        """Each value times its weight, and below them their sum, which is the output of the head."""
        steps, shown = self.steps, self.shown
        weighted = steps.weighted_values(0)
        table = np.vstack([weighted[shown], np.full_like(steps.output, np.nan), steps.output])
        rows = [*(self.state.keys[key] for key in shown), "", "o"]
        terms = wording.tex_weighted_sum(steps.weights[0], steps.value[:, :1], most=3)
        formula = (
            r"o_t = \sum_s \alpha_{ts}\, v_s",
            r"v_s = y_s W^V",
            wording.tex_aligned("o_{t,1}", [*terms, f"= {wording.tex_alone(steps.output[0, 0])}"]),
        )
        return Panel("sum", formula, self._matrix("sum", table, rows))

    def _matrix(self, name: str, table: np.ndarray, rows: list[str]) -> go.Figure:
        titles = say(f"numbers_{name}_rows"), say("dimension_axis")
        return viz.number_heatmap(
            table,
            rows,
            [str(dimension + 1) for dimension in range(table.shape[1])],
            titles=titles,
            hover=(*titles, say("value_axis")),
            label_every=max(table.shape[1] // 8, 1),
            theme=self.state.theme,
        )
