"""Attention with numbers small enough to follow by hand, then one head and one token of the typed sentence."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

import viz
from model.analysis.dot_product import DotProduct, dot_product_attention
from ui import (
    address,
    controls,
    figures,
    formulas,
    header,
    markdown,
    markup,
    models,
    notices,
    number_editor,
)
from ui.lens import Lens
from ui.number_table import LARGEST, MOST_COLUMNS, MOST_ROWS, NumberTable, Problem
from ui.sentence import MAX_CHARACTERS, chosen
from ui.stage import choose_map
from ui.texts import say
from ui.views import numbers
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
    st.title(say("calculation_title"))
    markup.paragraph(say("calculation_lead"), "lead")
    show_classroom()
    st.header(say("calculation_sentence_heading"))
    markup.paragraph(say("calculation_sentence_lead"), "lead")
    show_sentence()


def show_classroom() -> None:
    """Three tables to change, and every step of the attention that follows from them."""
    st.latex(FORMULA)
    choose_query()
    for place, name in zip(st.columns(3, gap="medium"), TABLES, strict=True):
        with place:
            markup.paragraph(say(f"calculation_{name}"), "note")
            number_editor.cells(name)
    with st.expander(say("calculation_as_text")):
        markup.paragraph(say("calculation_as_text_note"), "note")
        for name in TABLES:
            number_editor.line(name, say(f"calculation_{name}"))
    tables = [NumberTable.parse(address.get(name)) for name in TABLES]
    if problems := find_problems(tables):
        for problem in problems:
            st.warning(problem)
        return
    unscaled = controls.switch("unscaled")
    steps, other = (
        dot_product_attention(*(table.numbers() for table in tables), scaling=scaling)
        for scaling in (not unscaled, unscaled)
    )
    markup.paragraph(" ".join(describe(steps, row) for row in range(len(steps.query))), "reading")
    show_steps(steps, unscaled)
    scaled, plain = (other, steps) if unscaled else (steps, other)
    sizes = {"scaled": scaled.weights.max(), "plain": plain.weights.max(), "width": steps.key.shape[1]}
    markup.paragraph(
        say("calculation_scaling", **{k: viz.number_text(v, 3) for k, v in sizes.items()}), "note"
    )
    with st.expander(say("calculation_idea_heading")):
        st.markdown(say("calculation_idea"))


def choose_query() -> None:
    """The queries whose results every course knows, one button each, and the way back to the first tables."""
    key, here = "control_known_query", address.get("q")
    st.session_state[key] = next((name for name, text in QUERIES.items() if text == here), None)
    st.pills(
        say("calculation_queries"),
        list(QUERIES),
        format_func=lambda name: say(f"calculation_query_{name}"),
        key=key,
        on_change=lambda: keep_query(st.session_state[key]),
    )
    if any(address.get(name) != address.DEFAULTS[name] for name in ("k", "v")):
        st.button(say("calculation_reset"), key="calculation_reset", on_click=reset)


def keep_query(name: str | None) -> None:
    if name is not None:
        address.put("q", QUERIES[name])


def reset() -> None:
    for name in TABLES:
        address.put(name, address.DEFAULTS[name])


def find_problems(tables: Sequence[NumberTable]) -> list[str]:
    """What keeps the tables from being computed with, in words that Streamlit may read as Markdown."""
    found = [
        problem_text(name, problem)
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


def problem_text(name: str, problem: Problem) -> str:
    return say(
        f"calculation_problem_{problem.kind}",
        table=name.upper(),
        row=problem.row,
        column=problem.column,
        found=markdown.plain(visible_token(problem.found, 20)),
        rows=MOST_ROWS,
        columns=MOST_COLUMNS,
        largest=f"{LARGEST:,}",
    )


def describe(steps: DotProduct, row: int) -> str:
    """Which keys one query meets best, and what becomes of their values."""
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


def show_steps(steps: DotProduct, unscaled: bool) -> None:
    """Formula and numbers of each step, side by side; the line worked out is of the first query's best key."""
    st.header(say("calculation_steps_heading"))
    best = int(steps.weights[0].argmax())
    product, score, weight = (
        formulas.tex(table[0, best]) for table in (steps.products, steps.scaled, steps.weights)
    )
    queries, keys = named("q", len(steps.query)), named("k", len(steps.key))
    terms = formulas.dot(steps.query[0], steps.key[best], MOST_COLUMNS, together=2)
    worked = formulas.lines(rf"q_1 \cdot k_{best + 1}", [*terms, f"= {product}"])
    show_step("product", [r"QK^\top", worked], steps.products, queries, keys)
    if not unscaled:
        worked = rf"\frac{{{product}}}{{\sqrt{{{steps.key.shape[1]}}}}} = {score}"
        show_step("scaled", [r"S = \frac{QK^\top}{\sqrt{d_k}}", worked], steps.scaled, queries, keys)
    worked = f"{formulas.softmax_of(steps.scaled[0, best])} = {weight}"
    softmax = r"\mathrm{softmax}(QK^\top)" if unscaled else r"\mathrm{softmax}(S)"
    show_step("softmax", [rf"A = {softmax}", worked], steps.weights, queries, keys, viz.WEIGHT)
    terms = formulas.weighted_sum(steps.weights[0], steps.value, most=MOST_ROWS)
    worked = formulas.lines("o_1", [*terms, f"= {formulas.vector(steps.output[0])}"])
    show_step("output", ["O = AV", worked], steps.output, queries, named("", steps.value.shape[1]))


def named(side: str, count: int) -> list[str]:
    return [f"{side}{number + 1}" for number in range(count)]


def show_step(
    name: str,
    formula: Sequence[str],
    table: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    scale: str = viz.SIGNED,
) -> None:
    """One step: what it does, as a formula and with numbers, beside its result."""
    st.subheader(say(f"calculation_step_{name}"))
    words, picture = st.columns(2, gap="medium", vertical_alignment="center")
    with words:
        markup.paragraph(say(f"calculation_words_{name}"), "note")
        for line in formula:
            st.latex(line)
    with picture:
        hover = (say("hover_query"), say(f"calculation_column_{name}"), say("value_axis"))
        figure = viz.number_heatmap(
            table,
            rows,
            columns,
            scale=scale,
            numbers=True,
            titles=("", hover[1]),
            hover=hover,
            theme=controls.theme(),
        )
        figures.draw(figure, f"step_{name}", f"attention-{name}")


def show_sentence() -> None:
    """The same steps inside the network, for the sentence of this session."""
    entry = models.choose()
    corrector = notices.load_corrector(entry)
    text = address.get("sentence")
    if corrector is None:
        return
    if not text.strip():
        st.info(say("empty"))
        return
    if len(text) > MAX_CHARACTERS:
        st.warning(say("too_many_characters", length=f"{len(text):,}", limit=f"{MAX_CHARACTERS:,}"))
        return
    sentence = chosen(text, corrector)
    if sentence is None or sentence.too_long:
        st.info(say("too_long_to_show", limit=corrector.config.max_length))
        return
    markup.paragraph(say("sentence_about", sentence=sentence.text), "lead")
    with st.container(key="map", horizontal=True, vertical_alignment="center", gap="small"):
        selection = choose_map(sentence.trace)
    lens = Lens(corrector, sentence, sentence.trace, selection, None, controls.theme())
    markup.paragraph(numbers.VIEW.describe(lens, {}), "reading")
    numbers.VIEW.draw(lens, {})
    for note in numbers.VIEW.notes(lens, {}):
        markup.paragraph(note, "note")


main()
