"""Page of the attention calculation: small numbers by hand, then one head of the sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

import viz
from model.analysis.building_blocks import DotProduct, dot_product_attention
from ui import wording
from ui.asking import models
from ui.components import figures
from ui.parts import number_table
from ui.parts.number_table import LARGEST, MOST_COLUMNS, MOST_ROWS, NumberTable, Problem
from ui.sentence import decisions
from ui.sentence.stage import choose_head
from ui.sentence.state import SentenceState
from ui.shell import address, controls, header, markup
from ui.shell.settings import defaults
from ui.views import numbers
from ui.wording import say
from viz.labels import visible_token

TABLES = ("q", "k", "v")
QUERIES = {
    "second": "0,10,0",
    "twins": "0,0,10",
    "two": "10,10,0",
    "all": "0,10,0;0,0,10;10,10,0",
    "soft": "0.1,0.2,0.3",
}
ALIKE = 1e-3  # weights that differ by less are called equal
FORMULA = r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V"


def main() -> None:
    header.show("calculation")
    _show_classroom()
    st.header(say("calculation_sentence_heading"))
    _show_sentence()


def _show_classroom() -> None:
    """Every step of the attention computed from three tables, above the tables, which can be edited."""
    _choose_query()
    pictures = st.container()
    unscaled = _type_tables()
    tables = [NumberTable.parse(address.get(name)) for name in TABLES]
    if problems := _find_problems(tables):
        for problem in problems:
            pictures.warning(problem)
        return
    steps, other = (
        dot_product_attention(*(table.numbers() for table in tables), scaling=scaling)
        for scaling in (not unscaled, unscaled)
    )
    shown = _list_steps(steps, unscaled)
    with pictures:
        _show_pictures(shown)
        markup.paragraph(" ".join(_describe(steps, row) for row in range(len(steps.query))), "reading")
    _show_formulas(shown)
    scaled, plain = (other, steps) if unscaled else (steps, other)
    sizes = {"scaled": scaled.weights.max(), "plain": plain.weights.max(), "width": steps.key.shape[1]}
    markup.paragraph(
        say("calculation_scaling", **{k: viz.number_text(v, 3) for k, v in sizes.items()}), "note"
    )
    controls.explain("calculation_idea", FORMULA)


def _type_tables() -> bool:
    """The three tables, and whether their products are left undivided."""
    for place, name in zip(st.columns(3, gap="medium"), TABLES, strict=True):
        with place:
            markup.paragraph(say(f"calculation_{name}"), "note")
            number_table.cells(name)
    unscaled = controls.switch("unscaled")
    with st.expander(say("calculation_as_text")):
        markup.paragraph(say("calculation_as_text_note"), "note")
        for name in TABLES:
            number_table.line(name, say(f"calculation_{name}"))
    return unscaled


def _choose_query() -> None:
    """The queries whose results every course knows, one button each, and the way back to the first tables."""
    here = address.get("q")
    key, start = controls.seed(
        "control_known_query", next((name for name, text in QUERIES.items() if text == here), None)
    )
    st.pills(
        say("calculation_queries"),
        list(QUERIES),
        default=start,
        format_func=lambda name: say(f"calculation_query_{name}"),
        key=key,
        on_change=lambda: _keep_query(st.session_state[key]),
    )
    if any(address.get(name) != defaults()[name] for name in ("k", "v")):
        st.button(say("calculation_reset"), key="calculation_reset", on_click=address.reset, args=(TABLES,))


def _keep_query(name: str | None) -> None:
    if name is not None:
        address.put("q", QUERIES[name])


def _find_problems(tables: Sequence[NumberTable]) -> list[str]:
    """Why these tables cannot be computed with, in words that Streamlit may read as Markdown."""
    found = [
        _problem_text(name, problem)
        for name, table in zip(TABLES, tables, strict=True)
        if (problem := table.problem())
    ]
    if found:
        return found
    query, key, value = tables
    if query.width != key.width:
        found.append(say("calculation_problem_widths", query=query.width, key=key.width))
    if len(key.cells) != len(value.cells):
        found.append(say("calculation_problem_rows", keys=len(key.cells), values=len(value.cells)))
    return found


def _problem_text(name: str, problem: Problem) -> str:
    return say(
        f"calculation_problem_{problem.kind}",
        table=name.upper(),
        row=problem.row,
        column=problem.column,
        found=wording.plain_markdown(visible_token(problem.found, 20)),
        rows=MOST_ROWS,
        columns=MOST_COLUMNS,
        largest=f"{LARGEST:,}",
    )


def _describe(steps: DotProduct, row: int) -> str:
    weights = steps.weights[row]
    best = np.flatnonzero(weights > weights.max() - ALIKE)
    share = weights[best].sum()
    kind = "most" if share < 1 - ALIKE else "one" if len(best) == 1 else "equal"
    return say(
        f"calculation_reading_{kind}",
        query=row + 1,
        keys=", ".join(str(key + 1) for key in best),
        product=viz.number_text(steps.products[row, best[0]]),
        weight=viz.number_text(weights[best[0]]),
        output=", ".join(viz.number_text(number) for number in steps.output[row]),
    )


@dataclass(frozen=True)
class CalculationStep:
    """One step of the calculation: its formulas, the last one with numbers, and its result."""

    name: str  # ends the keys of its texts
    formulas: tuple[str, str]
    table: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    scale: str = viz.SIGNED


def _list_steps(steps: DotProduct, unscaled: bool) -> list[CalculationStep]:
    """The steps in their order; the line worked out is of the first query's best key."""
    best = int(steps.weights[0].argmax())
    product, score = (wording.tex_alone(table[0, best]) for table in (steps.products, steps.scaled))
    weight = wording.tex_alone(steps.weights[0, best], 3)
    queries, keys = _named("q", len(steps.query)), _named("k", len(steps.key))
    terms = wording.tex_dot(steps.query[0], steps.key[best], MOST_COLUMNS, together=2)
    worked = wording.tex_aligned(rf"q_1 \cdot k_{best + 1}", [*terms, f"= {product}"])
    shown = [CalculationStep("product", (r"QK^\top", worked), steps.products, queries, keys)]
    if not unscaled:
        worked = rf"\frac{{{product}}}{{\sqrt{{{steps.key.shape[1]}}}}} = {score}"
        shown.append(
            CalculationStep(
                "scaled", (r"S = \frac{QK^\top}{\sqrt{d_k}}", worked), steps.scaled, queries, keys
            )
        )
    worked = f"{wording.tex_softmax(steps.scaled[0, best])} = {weight}"
    softmax = r"\mathrm{softmax}(QK^\top)" if unscaled else r"\mathrm{softmax}(S)"
    shown.append(
        CalculationStep("softmax", (rf"A = {softmax}", worked), steps.weights, queries, keys, viz.WEIGHT)
    )
    terms = wording.tex_weighted_sum(steps.weights[0], steps.value, most=MOST_ROWS)
    worked = wording.tex_aligned("o_1", [*terms, f"= {wording.tex_vector(steps.output[0])}"])
    cells = _named("", steps.value.shape[1])
    return [*shown, CalculationStep("output", ("O = AV", worked), steps.output, queries, cells)]


def _named(side: str, count: int) -> list[str]:
    return [f"{side}{number + 1}" for number in range(count)]


def _show_pictures(steps: Sequence[CalculationStep]) -> None:
    """The results of all steps side by side."""
    for place, step in zip(st.columns(len(steps), gap="medium"), steps, strict=True):
        with place:
            st.subheader(say(f"calculation_step_{step.name}"))
            hover = (say("hover_query"), say(f"calculation_column_{step.name}"), say("value_axis"))
            figure = viz.number_heatmap(
                step.table,
                step.rows,
                step.columns,
                scale=step.scale,
                numbers=True,
                titles=("", hover[1]),
                hover=hover,
                theme=controls.theme(),
            )
            figures.draw(figure, f"step_{step.name}", f"calculation-{step.name}")


def _show_formulas(steps: Sequence[CalculationStep]) -> None:
    st.header(say("calculation_steps_heading"))
    # Two beside each other leave room for long sums.
    places = [place for _ in range(0, len(steps), 2) for place in st.columns(2, gap="medium")]
    for place, step in zip(places, steps, strict=False):
        with place:
            st.subheader(say(f"calculation_step_{step.name}"))
            markup.paragraph(say(f"calculation_words_{step.name}"), "note")
            for line in step.formulas:
                st.latex(line)


def _show_sentence() -> None:
    """The same steps inside the network, for the sentence of this session."""
    corrector, found = decisions.open_sentence(models.choose())
    if corrector is None or found is None:
        return
    if found.too_long:
        st.info(say("too_long_to_show", limit=corrector.config.max_length))
        return
    with controls.line(key="map"):
        selection = choose_head(found.trace)
    state = SentenceState(corrector, found, found.trace, selection, None, controls.theme())
    view = numbers.Numbers(state)
    markup.paragraph(view.describe(), "reading")
    view.draw()


main()
