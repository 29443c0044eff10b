"""Experiment *why there*: decomposition of one attention score over query and key."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
import streamlit as st

import viz
from engine import questions as declared
from model.analysis.attention_scores import KEY, QUERY, AttentionCell, ScoreAblation, ScoreDecomposition
from model.trace.interventions import Head, Node
from ui.sentence.state import SentenceState
from ui.shell import controls
from ui.shell.settings import Choice, Ordinal
from ui.views.circuit import node_name
from ui.views.drawings import before_after, sum_of_parts
from ui.views.heatmap import cell_in_address
from ui.views.view import Figures, View, needs_answer
from ui.wording import say
from viz.figure import Specification
from viz.labels import visible_token, weight

PARTS, WITHOUT = "parts", "without"
AS = Choice("why_as", (PARTS, WITHOUT))
ROW, COLUMN = Ordinal("why_row", of="sentence"), Ordinal("why_column", of="sentence")
SHOWN = 7  # bars of one part each; all others are one bar together


def _seen(state: SentenceState, row: int) -> int:
    return row + 1 if state.kind == "decoder_attention" else state.weights.shape[1]


def _cell_of(state: SentenceState) -> tuple[int, int]:
    """The row and the column in question.

    They are those chosen here, else the cell chosen on the heatmap. Else it is the row of the character in
    question and the column that it looks at most.
    """
    rows, columns = state.weights.shape
    cell = cell_in_address()
    if cell and (cell[0] >= rows or cell[1] >= columns):
        cell = None
    row = controls.place(ROW, rows)
    if row is None:
        row = cell[0] if cell else state.asked_query
    column = controls.place(COLUMN, _seen(state, row))
    if column is not None:
        return row, column
    is_here = cell is not None and cell[0] == row and cell[1] < _seen(state, row)
    return row, cell[1] if cell and is_here else int(state.weights[row].argmax())


def _head_of(state: SentenceState) -> Head:
    row, column = _cell_of(state)
    weights = state.trace.attention(state.kind)[:, :, row, column]
    places = [
        (layer, head)
        for layer, head in np.ndindex(weights.shape)
        if state.layer in (None, layer) and state.head in (None, head)
    ]
    return Head(state.kind, *max(places, key=lambda place: weights[place]))


def part_name(part: Node | str, is_read: bool = False) -> str:
    """The name of a part; ``is_read``: of a row of the decoder, which has read the character before it."""
    if isinstance(part, Node):
        return node_name(part)
    return say("wrote_embedding" if is_read and part == "embedding" else f"why_part_{part}")


class AttentionScore(View):
    """The row and the column; then the parts of the query and of the key, or the attention weight without
    each of the largest."""

    name, page, order = "why", "laboratory", 80
    settings = (AS, ROW, COLUMN)
    drawn = (AS,)
    beside: ClassVar = {"why_query": "kind-first", "why_key": "kind-second"}
    one_head = staticmethod(_head_of)
    intervenes = True
    lacks = staticmethod(needs_answer(declared.decompose_attention_score, "lacks_residual"))

    @cached_property
    def look(self) -> ScoreDecomposition:
        """The score of the chosen cell, by parts of its query and its key. Raises EngineError without an
        answer."""
        cell = AttentionCell(_head_of(self.state), *_cell_of(self.state))
        return self.state.ask(declared.decompose_attention_score, *self.state.texts, cell)

    def choices(self) -> list[Choice | Callable[[], object]]:
        state, (row, column) = self.state, _cell_of(self.state)
        return [
            AS,
            partial(_choose, ROW, state.queries, row),
            partial(_choose, COLUMN, state.keys[: _seen(state, row)], column),
        ]

    @property
    def opened(self) -> tuple[str, ...]:
        return ("why_without",) if self.values[AS.name] == WITHOUT else ("why_query", "why_key")

    @cached_property
    def figures(self) -> Figures:
        """The parts of the query, those of the key, and the weight without each of the largest."""
        look = self.look
        query, key = self._tokens()
        rows = [
            viz.Measured(say(f"why_without_{each.of}", part=self._part_of(each)), look.weight, each.weight)
            for each in look.ablations
        ]
        without = before_after(self.state, rows, say("hover_weight"))
        return {
            "why_query": (self._bars(QUERY), say("why_query_label", token=query)),
            "why_key": (self._bars(KEY), say("why_key_label", token=key)),
            "why_without": (without, say("why_without_label")),
        }

    def _tokens(self) -> tuple[str, str]:
        """The query and the key."""
        state, look = self.state, self.look
        return visible_token(state.queries[look.query]), visible_token(state.keys[look.key])

    def _bars(self, of: str) -> Specification:
        parts = self.look.of_query if of == QUERY else self.look.of_key
        amounts = [viz.Amount(part_name(part.part, self._is_read(of)), part.nats) for part in parts[:SHOWN]]
        rest = [part.nats for part in parts[SHOWN:]]
        return sum_of_parts(self.state, amounts, rest, say("why_nats"), (say("why_more"), say("why_less")))

    def _is_read(self, of: str) -> bool:
        return of == QUERY and self.look.head.kind != "encoder_attention"

    def _part_of(self, ablated: ScoreAblation) -> str:
        return part_name(ablated.part, self._is_read(ablated.of))

    def reading(self) -> str:
        """The part of the key, or of the query, without which the look changes most."""
        look, (query, key) = self.look, self._tokens()
        most = max(look.ablations, key=lambda each: abs(each.weight - look.weight))
        return say(
            "why_reading",
            place=say("place_head", layer=look.head.layer + 1, head=look.head.head + 1),
            query=query,
            key=key,
            weight=weight(look.weight),
            part=self._part_of(most),
            of=say(f"why_of_{most.of}"),
            after=weight(most.weight),
        )

    def notes(self) -> list[str]:
        told = [say("why_note"), say("why_without_note")]
        if not self.message:
            look = self.look
            held = sum(each.holds(look.weight) for each in look.ablations)
            told.append(say("why_held", held=held, count=len(look.ablations)))
            told.append(say("why_exact", remainder=f"{abs(look.remainder()):.0e}"))
        return told

    def explain(self) -> None:
        st.markdown(say("why_idea"))
        st.latex(FORMULA)


def _choose(setting: Ordinal, tokens: Sequence[str], at: int) -> None:
    named = lambda place: f"{place + 1} · {visible_token(tokens[place])}"
    controls.pick_place(setting, len(tokens), at, named)


FORMULA = (
    r"\frac{q_i \cdot (k_j - \bar k)}{\sqrt d} = \sum_{\mathrm{part}} "
    r"\frac{q_i^{\mathrm{part}} \cdot (k_j - \bar k)}{\sqrt d}"
    r" = \sum_{\mathrm{part}} \frac{q_i \cdot (k_j^{\mathrm{part}} - \bar k^{\mathrm{part}})}{\sqrt d}"
)
