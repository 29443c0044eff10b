"""The heatmap view: every weight of one attention map, in several lights."""

import re

import streamlit as st

import viz
from ui import address, controls, markup, reading
from ui.figures import MOST_COLUMNS_ON_A_PHONE
from ui.lens import Lens
from ui.texts import say
from ui.views import clicks
from ui.views.map_cells import MapCells, cells_of
from viz.labels import visible_token

UNITS = ["syllable", "word"]
SHOWN = ["weights", "difference"]
FORMULA = (
    r"\alpha_{ij} = \frac{\exp(q_i \cdot k_j / \sqrt{d})}{\sum_{m} \exp(q_i \cdot k_m / \sqrt{d})}"
    r"\qquad \Delta_{ij} = \alpha_{ij} - [\, j = \mathrm{copy}(i) \,]"
)


def show(lens: Lens) -> None:
    """One map as the settings say, what to look for in it, and the cell that is selected."""
    with st.container(key="options", horizontal=True, gap="medium", vertical_alignment="bottom"):
        minus_copy = controls.choose("shown", SHOWN, lambda shown: say(f"heatmap_{shown}")) == "difference"
        by_words = controls.choose("unit", UNITS, lambda unit: say(f"heatmap_{unit}")) == "word"
        without_marks = controls.switch("unmarked")
        fitted = controls.switch("fitted")
        logarithmic = controls.switch("logarithmic")
    cells = cells_of(lens, by_words=by_words, without_marks=without_marks, minus_copy=minus_copy)
    markup.paragraph(describe(lens, cells, minus_copy), "reading")
    selected = selected_cell(cells)
    if selected:
        show_selected(cells, selected, minus_copy)
    # On a phone, many columns scroll inside their box instead of melting into one another.
    with st.container(key="wide_figure" if len(cells.keys) > MOST_COLUMNS_ON_A_PHONE else "figure"):
        clicks.draw(
            figure(lens, cells, selected, minus_copy=minus_copy, fitted=fitted, logarithmic=logarithmic),
            "heatmap",
            "attention",
            lambda point: choose_cell(cells, (int(point["y"]), int(point["x"]))),
        )
    for note in notes(lens, cells, by_words, minus_copy, logarithmic):
        markup.paragraph(note, "note")
    with st.expander(say("heatmap_more")):
        st.markdown(say("heatmap_idea"))
        st.latex(FORMULA)
        st.markdown(say("heatmap_formula"))


def figure(
    lens: Lens, cells: MapCells, selected, *, minus_copy: bool, fitted: bool, logarithmic: bool, say=say
):
    """``cells`` as a Plotly figure; ``selected`` is a cell's (row, column) numbers or None.

    A file is made outside of the session and brings a ``say`` of its own.
    """
    value = say("heatmap_hover_difference") if minus_copy else say("hover_weight")
    return viz.attention_heatmap(
        cells.values,
        cells.queries,
        cells.keys,
        query_title=say(f"query_{lens.kind}"),
        key_title=say(f"key_{lens.kind}"),
        hover=(say("hover_query"), say("hover_key"), value),
        masked=cells.masked,
        masked_title=say("masked"),
        faint_title=say("heatmap_faint_difference" if minus_copy else "heatmap_faint", floor=viz.FAINT),
        selected_title=say("heatmap_selected"),
        emphasis_rows=cells.rows_of(lens.rows),
        selected=selected,
        first=cells.first,
        difference=minus_copy,
        logarithmic=logarithmic,
        colour_max=None if fitted else 1.0,
        theme=lens.theme,
    )


def describe(lens: Lens, cells: MapCells, minus_copy: bool) -> str:
    """Where the chosen changes look most; or, against a plain copy, where a row looks that a copy would not."""
    if not minus_copy:
        return reading.describe(say, lens.trace, lens.weights, lens.kind, lens.changes, lens.place)
    row, column = cells.largest(cells.rows_of(lens.rows))
    query, key = map(_named, cells.labels_of((row, column)))
    amount = f"{cells.value_of((row, column)):.2f}"
    return say("heatmap_reading_difference", query=query, key=key, amount=amount, place=lens.place)


def selected_cell(cells: MapCells) -> tuple[int, int] | None:
    """The row and column numbers of the cell that the setting names; None where there is none such here."""
    found = re.fullmatch(r"(\d{1,4}),(\d{1,4})", address.get("cell"), re.ASCII)
    return cells.cell_of((int(found[1]), int(found[2]))) if found else None


def choose_cell(cells: MapCells, cell: tuple[int, int]) -> None:
    """Select a cell given by its numbers; the one that is selected is let go."""
    query, key = cells.tokens_of(cell)
    address.put("cell", "" if selected_cell(cells) == cell else f"{query},{key}")


def show_selected(cells: MapCells, selected: tuple[int, int], minus_copy: bool) -> None:
    """What is selected, in words, and a button that lets it go."""
    query, key = map(_named, cells.labels_of(selected))
    digits = "+.3f" if minus_copy else ".3f"
    value = f"{round(cells.value_of(selected), 3) + 0.0:{digits}}".replace("-", "−")  # never −0.000
    name = say("heatmap_hover_difference" if minus_copy else "hover_weight")
    told = "heatmap_cell_masked" if cells.is_masked(selected) else "heatmap_cell"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        markup.paragraph(say(told, query=query, key=key, value=value, name=name), "lead")
        st.button(
            say("heatmap_let_go"),
            key="heatmap_let_go",
            icon=":material/close:",
            on_click=address.put,
            args=("cell", ""),
        )


def notes(lens: Lens, cells: MapCells, by_words: bool, minus_copy: bool, logarithmic: bool) -> list[str]:
    """What a reader should know about the figure as it is set."""
    tokens = cells.key_spans[-1][1] - cells.key_spans[0][0]
    found = [say(f"heatmap_difference_{lens.kind}" if minus_copy else f"caption_{lens.kind}")]
    found += [say("heatmap_words")] * by_words
    found += [say("heatmap_unmarked_note")] * (tokens < len(lens.keys))
    found += [say("heatmap_logarithmic_note", floor=viz.FAINT)] * logarithmic
    clickable = cells.values.size <= viz.MOST_CELLS_TO_CLICK
    return [*found, say("heatmap_click" if clickable else "heatmap_too_many")]


def _named(label: str) -> str:
    """A token or a word between quotation marks, blanks visible."""
    return say("heatmap_named", label=visible_token(label))
