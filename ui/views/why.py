"""The experiment *why there*: the score of one attention weight, taken apart over what its query and its key were made of."""

import re
from collections.abc import Sequence

import streamlit as st

import viz
from engine import questions as declared
from model.analysis.attention_scores import KEY, QUERY, ScoreDecomposition
from model.trace.interventions import Head, Node
from ui.asking import questions
from ui.components import figures
from ui.sentence.state import Lens
from ui.shell import address, controls, markup
from ui.shell.runs import spinner
from ui.shell.settings import Choice, Ordinal
from ui.views.circuit import node_name
from ui.views.sources import WIDTH
from ui.views.view import Values, View, declare, file_name, needs_answer
from ui.wording import say
from viz.figure import Specification
from viz.labels import probability, visible_token

PARTS, WITHOUT = "parts", "without"
AS = Choice("why_as", (PARTS, WITHOUT))
ROW, COLUMN = Ordinal("why_row", of="sentence"), Ordinal("why_column", of="sentence")
SHOWN = 7  # bars that stand for one part each; all others are one bar together


def cell_of(lens: Lens) -> tuple[int, int]:
    """The row and the column that are asked about.

    They are those chosen here, else the cell chosen on the heatmap. Else it is the row where a change begins and the column that it looks
    at most.
    """
    weights = lens.weights
    found = re.fullmatch(r"(\d{1,4}),(\d{1,4})", address.get("cell"), re.ASCII)
    cell = (int(found[1]), int(found[2])) if found else None
    if cell and (cell[0] >= weights.shape[0] or cell[1] >= weights.shape[1]):
        cell = None
    row = controls.place(ROW, weights.shape[0])
    if row is None:
        row = cell[0] if cell else next(iter(lens.rows), 0)
    column = controls.place(COLUMN, _seen(lens, row))
    if column is None:
        column = (
            cell[1] if cell and cell[0] == row and cell[1] < _seen(lens, row) else int(weights[row].argmax())
        )
    return row, column


def _seen(lens: Lens, row: int) -> int:
    return row + 1 if lens.kind == "decoder_attention" else lens.weights.shape[1]


def head_of(lens: Lens) -> Head:
    """The head that is looked at; if that is a mean, the head that looks at the cell most."""
    row, column = cell_of(lens)
    weights = lens.trace.attention(lens.kind)[:, :, row, column]
    places = [
        (layer, head)
        for layer in range(weights.shape[0])
        for head in range(weights.shape[1])
        if lens.layer in (None, layer) and lens.head in (None, head)
    ]
    return Head(lens.kind, *max(places, key=lambda place: weights[place]))


def look_of(lens: Lens) -> ScoreDecomposition:
    return questions.decompose_attention_score(lens.sentence, head_of(lens), *cell_of(lens), lens.corrector)


def draw(lens: Lens, values: Values) -> None:
    """Which row and column; then the parts of the query and of the key, or the look without each of the largest."""
    row, column = cell_of(lens)
    with st.container(key="why_choices", horizontal=True, vertical_alignment="center", gap="small"):
        controls.choose_beside(AS)
        _choose(ROW, lens.queries, row)
        _choose(COLUMN, lens.keys[: _seen(lens, row)], column)
    made = figures_of(lens, values)
    if values["why_as"] == WITHOUT:
        figure, label = made["why_without"]
        figures.draw(figure, "why_without", file_name(lens, "why-without"), label=label)
        return
    shown = zip(st.columns(2), ("kind-first", "kind-second"), ("why_query", "why_key"), strict=True)
    for place, sort, name in shown:
        figure, label = made[name]
        with place:
            markup.paragraph(label, sort)
            figures.draw(figure, name, file_name(lens, name.replace("_", "-")), label=label)


def _choose(setting: Ordinal, tokens: Sequence[str], at: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        markup.paragraph(say(f"{setting.name}_label"), "label")
        controls.pick(
            setting.name,
            [str(number + 1) for number in range(len(tokens))],
            lambda number: f"{number} · {visible_token(tokens[int(number) - 1])}",
            str(at + 1),
            label_visibility="collapsed",
            width=WIDTH,
        )


def figures_of(lens: Lens, values: Values) -> dict[str, tuple[Specification, str]]:
    """The parts of the query, those of the key, and the look without each of the largest."""
    look = look_of(lens)
    query, key = visible_token(lens.queries[look.query]), visible_token(lens.keys[look.key])
    without = viz.before_after.specification(
        [
            viz.Measured(say(f"why_without_{each.of}", part=part_name(each.part)), look.weight, each.weight)
            for each in look.ablations
        ],
        before_name=say("sources_observed"),
        after_name=say("sources_intervened"),
        value_title=say("hover_weight"),
        theme=lens.theme,
    )
    return {
        "why_query": (_bars(lens, look, QUERY), say("why_query_label", token=query)),
        "why_key": (_bars(lens, look, KEY), say("why_key_label", token=key)),
        "why_without": (without, say("why_without_label")),
    }


def _bars(lens: Lens, look: ScoreDecomposition, of: str) -> Specification:
    parts = look.of_query if of == QUERY else look.of_key
    amounts = [viz.Amount(part_name(part.part), part.nats) for part in parts[:SHOWN]]
    rest = parts[SHOWN:]
    if rest:
        amounts.append(viz.Amount(say("wrote_rest", count=len(rest)), sum(part.nats for part in rest)))
    return viz.waterfall.specification(
        amounts, total_name=say("wrote_sum"), value_title=say("why_nats"), theme=lens.theme
    )


def part_name(part: Node | str) -> str:
    return node_name(part) if isinstance(part, Node) else say(f"why_part_{part}")


def describe(lens: Lens, values: Values) -> str:
    """The part of the key, or of the query, without which the look changes most."""
    with spinner(say("working_laboratory")):
        look = look_of(lens)
    most = max(look.ablations, key=lambda each: abs(each.weight - look.weight))
    return say(
        "why_reading",
        place=say("place_head", layer=look.head.layer + 1, head=look.head.head + 1),
        query=visible_token(lens.queries[look.query]),
        key=visible_token(lens.keys[look.key]),
        weight=probability(look.weight),
        part=part_name(most.part),
        of=say(f"why_of_{most.of}"),
        after=probability(most.weight),
    )


def notes(lens: Lens, values: Values) -> list[str]:
    told = [say("why_note"), say("why_without_note")]
    if not VIEW.lacks(lens):
        look = look_of(lens)
        told.append(
            say(
                "why_held",
                held=sum(each.holds(look.weight) for each in look.ablations),
                count=len(look.ablations),
            )
        )
        told.append(say("why_exact", remainder=f"{abs(look.remainder()):.0e}"))
    return told


def explain(lens: Lens) -> None:
    st.markdown(say("why_idea"))
    st.latex(FORMULA)


FORMULA = (
    r"\frac{q_i \cdot (k_j - \bar k)}{\sqrt d} = \sum_{\mathrm{part}} \frac{q_i^{\mathrm{part}} \cdot (k_j - \bar k)}{\sqrt d}"
    r" = \sum_{\mathrm{part}} \frac{q_i \cdot (k_j^{\mathrm{part}} - \bar k^{\mathrm{part}})}{\sqrt d}"
)
VIEW = declare(
    View(
        "why",
        "laboratory",
        80,
        describe,
        draw,
        (AS, ROW, COLUMN),
        notes,
        explain,
        figures=figures_of,
        drawn=(AS,),
        intervenes=True,
        lacks=needs_answer(declared.decompose_attention_score, "lacks_residual"),
    )
)
