"""Experiment *why there*: decomposition of one attention score over query and key."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

import viz
from engine import questions as declared
from model.analysis.attention_scores import KEY, QUERY, AttentionCell, ScoreAblation, ScoreDecomposition
from model.trace.interventions import Head, Node
from ui.sentence.state import SentenceState
from ui.shell import controls, markup
from ui.shell.settings import Choice, Ordinal
from ui.views.circuit import node_name
from ui.views.drawings import before_after, sum_of_parts
from ui.views.heatmap import cell_in_address
from ui.views.sources import WIDTH
from ui.views.view import Figures, Values, View, needs_answer
from ui.wording import say
from viz.figure import Specification
from viz.labels import visible_token, weight

PARTS, WITHOUT = "parts", "without"
AS = Choice("why_as", (PARTS, WITHOUT))
ROW, COLUMN = Ordinal("why_row", of="sentence"), Ordinal("why_column", of="sentence")
SHOWN = 7  # bars of one part each; all others are one bar together


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


def _seen(state: SentenceState, row: int) -> int:
    return row + 1 if state.kind == "decoder_attention" else state.weights.shape[1]


def _head_of(state: SentenceState) -> Head:
    row, column = _cell_of(state)
    weights = state.trace.attention(state.kind)[:, :, row, column]
    places = [
        (layer, head)
        for layer in range(weights.shape[0])
        for head in range(weights.shape[1])
        if state.layer in (None, layer) and state.head in (None, head)
    ]
    return Head(state.kind, *max(places, key=lambda place: weights[place]))


def _decomposition(state: SentenceState) -> ScoreDecomposition:
    cell = AttentionCell(_head_of(state), *_cell_of(state))
    return state.ask(declared.decompose_attention_score, *state.texts, cell)


def _draw(state: SentenceState, values: Values) -> None:
    """The row and the column; then the parts of the query and of the key, or the attention weight without
    each of the largest."""
    row, column = _cell_of(state)
    VIEW.draw_choices(
        AS,
        partial(_choose, ROW, state.queries, row),
        partial(_choose, COLUMN, state.keys[: _seen(state, row)], column),
    )
    if values[AS.name] == WITHOUT:
        VIEW.draw_figures(state, values, *_opened(state, values))
    else:
        VIEW.draw_beside(state, values)


def _opened(state: SentenceState, values: Values) -> tuple[str, ...]:
    return ("why_without",) if values[AS.name] == WITHOUT else ("why_query", "why_key")


def _choose(setting: Ordinal, tokens: Sequence[str], at: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        markup.paragraph(say(f"{setting.name}_label"), "label")
        controls.pick(
            setting.name,
            [str(number + 1) for number in range(len(tokens))],
            lambda number: f"{number} · {visible_token(tokens[int(number) - 1])}",
            str(at + 1),
            width=WIDTH,
        )


def _figures_of(state: SentenceState, values: Values) -> Figures:
    """The parts of the query, those of the key, and the weight without each of the largest."""
    look = _decomposition(state)
    query, key = visible_token(state.queries[look.query]), visible_token(state.keys[look.key])
    rows = [
        viz.Measured(say(f"why_without_{each.of}", part=_part_of(look, each)), look.weight, each.weight)
        for each in look.ablations
    ]
    return {
        "why_query": (_bars(state, look, QUERY), say("why_query_label", token=query)),
        "why_key": (_bars(state, look, KEY), say("why_key_label", token=key)),
        "why_without": (before_after(state, rows, say("hover_weight")), say("why_without_label")),
    }


def _bars(state: SentenceState, look: ScoreDecomposition, of: str) -> Specification:
    parts = look.of_query if of == QUERY else look.of_key
    is_read = _is_read(look, of)
    amounts = [viz.Amount(part_name(part.part, is_read), part.nats) for part in parts[:SHOWN]]
    rest = [part.nats for part in parts[SHOWN:]]
    return sum_of_parts(state, amounts, rest, say("why_nats"), (say("why_more"), say("why_less")))


def part_name(part: Node | str, is_read: bool = False) -> str:
    """The name of a part; ``is_read``: of a row of the decoder, which has read the character before it."""
    if isinstance(part, Node):
        return node_name(part)
    return say("wrote_embedding" if is_read and part == "embedding" else f"why_part_{part}")


def _part_of(look: ScoreDecomposition, ablated: ScoreAblation) -> str:
    return part_name(ablated.part, _is_read(look, ablated.of))


def _is_read(look: ScoreDecomposition, of: str) -> bool:
    return of == QUERY and look.head.kind != "encoder_attention"


def _describe(state: SentenceState, values: Values) -> str:
    """The part of the key, or of the query, without which the look changes most."""
    look = _decomposition(state)
    most = max(look.ablations, key=lambda each: abs(each.weight - look.weight))
    return say(
        "why_reading",
        place=say("place_head", layer=look.head.layer + 1, head=look.head.head + 1),
        query=visible_token(state.queries[look.query]),
        key=visible_token(state.keys[look.key]),
        weight=weight(look.weight),
        part=_part_of(look, most),
        of=say(f"why_of_{most.of}"),
        after=weight(most.weight),
    )


def _notes(state: SentenceState, values: Values) -> list[str]:
    told = [say("why_note"), say("why_without_note")]
    if not VIEW.message(state):
        look = _decomposition(state)
        told.append(
            say(
                "why_held",
                held=sum(each.holds(look.weight) for each in look.ablations),
                count=len(look.ablations),
            )
        )
        told.append(say("why_exact", remainder=f"{abs(look.remainder()):.0e}"))
    return told


def _explain(state: SentenceState) -> None:
    st.markdown(say("why_idea"))
    st.latex(FORMULA)


FORMULA = (
    r"\frac{q_i \cdot (k_j - \bar k)}{\sqrt d} = \sum_{\mathrm{part}} "
    r"\frac{q_i^{\mathrm{part}} \cdot (k_j - \bar k)}{\sqrt d}"
    r" = \sum_{\mathrm{part}} \frac{q_i \cdot (k_j^{\mathrm{part}} - \bar k^{\mathrm{part}})}{\sqrt d}"
)
VIEW = View(
    "why",
    "laboratory",
    80,
    _describe,
    (AS, ROW, COLUMN),
    _notes,
    _explain,
    _draw,
    _figures_of,
    drawn=(AS,),
    opened=_opened,
    beside={"why_query": "kind-first", "why_key": "kind-second"},
    one_head=_head_of,
    intervenes=True,
    lacks=needs_answer(declared.decompose_attention_score, "lacks_residual"),
).declare()
