"""The view *heatmap*: every weight of one attention map; as it is, minus a copy, by words, on a logarithmic scale."""

import re
from collections.abc import Callable
from functools import partial

import viz
from ui import wording
from ui.components import figures
from ui.look.lens import Lens
from ui.shell import address
from ui.shell.settings import Choice, Flag
from ui.views.map_cells import MapCells, cells_of
from ui.views.naming import file_name, picture_title
from ui.views.view import Values, View, declare, idea
from ui.wording import say
from viz.browser.texts import map_texts
from viz.figure import Specification
from viz.labels import visible_token

SETTINGS = (
    Choice("shown", ("weights", "difference")),  # difference: from a plain copy
    Choice("unit", ("syllable", "word")),  # of the axes
    Flag("unmarked"),  # <s> and </s> are left out
    Flag("fitted"),  # the strongest colour is the largest weight instead of 1
    Flag("logarithmic"),  # colours follow the logarithm of the weight
)
FORMULA = (
    r"\alpha_{ij} = \frac{\exp(q_i \cdot k_j / \sqrt{d})}{\sum_{m} \exp(q_i \cdot k_m / \sqrt{d})}"
    r"\qquad \Delta_{ij} = \alpha_{ij} - [\, j = \mathrm{copy}(i) \,]"
)


def draw(lens: Lens, values: Values) -> None:
    """The map as the settings say; a cell of it can be chosen."""
    cells = cells_for(lens, values)
    figures.draw(
        picture(lens, values, selected_cell(cells)),
        "heatmap",
        file_name(lens),
        partial(choose_cell, cells),
        label=f"{say(f'kind_{lens.kind}')} · {lens.place}",
        title=picture_title(lens),
    )


def cells_for(lens: Lens, values: Values) -> MapCells:
    return cells_of(
        lens,
        by_words=values["unit"] == "word",
        without_marks=values["unmarked"],
        minus_copy=values["shown"] == "difference",
    )


def picture(
    lens: Lens, values: Values, selected: tuple[int, int] | None = None, say: Callable[..., str] = say
) -> Specification:
    """The map as Plotly's data; ``selected`` is the (row, column) of a cell.

    A file is made outside of the session, so it brings its own ``say``.
    """
    cells = cells_for(lens, values)
    minus_copy = values["shown"] == "difference"
    return viz.attention_heatmap.specification(
        cells.values,
        cells.queries,
        cells.keys,
        texts=map_texts(say, lens.kind, difference=minus_copy, by_words=values["unit"] == "word"),
        masked=cells.masked,
        padded=cells.padded,
        emphasis_rows=cells.rows_of(lens.rows),
        selected=selected,
        first=cells.first,
        extent=lens.extent if values["unit"] == "syllable" else None,
        difference=minus_copy,
        logarithmic=values["logarithmic"],
        # What is left beside a copy is small; on the scale of whole weights nobody would see it.
        colour_max=None if values["fitted"] or minus_copy else 1.0,
        theme=lens.theme,
    )


def describe(lens: Lens, values: Values) -> str:
    """The chosen cell; else where the changes look most, or where a plain copy would not look."""
    cells = cells_for(lens, values)
    minus_copy = values["shown"] == "difference"
    if selected := selected_cell(cells):
        return _told(cells, selected, minus_copy)
    if not minus_copy and values["unit"] == "syllable":
        return wording.describe_map(say, lens.trace, lens.weights, lens.kind, lens.changes, lens.place)
    row, column = cells.largest(cells.rows_of(lens.rows))
    query, key = map(_named, cells.labels_of((row, column)))
    amount = f"{cells.value_of((row, column)):.2f}"
    told = "heatmap_reading_difference" if minus_copy else "heatmap_reading_words"
    return say(told, query=query, key=key, amount=amount, place=lens.place)


def selected_cell(cells: MapCells) -> tuple[int, int] | None:
    """The row and column numbers of the cell that the setting names; None where there is none such here."""
    found = re.fullmatch(r"(\d{1,4}),(\d{1,4})", address.get("cell"), re.ASCII)
    return cells.cell_of((int(found[1]), int(found[2]))) if found else None


def choose_cell(cells: MapCells, point: dict) -> None:
    """Select the cell at a point of the figure; the one that is selected is let go."""
    cell = figures.cell_of(point)
    if cell is None or not cells.holds(cell):
        return
    query, key = cells.tokens_of(cell)
    address.put("cell", "" if selected_cell(cells) == cell else f"{query},{key}")


def _told(cells: MapCells, selected: tuple[int, int], minus_copy: bool) -> str:
    query, key = map(_named, cells.labels_of(selected))
    digits = "+.3f" if minus_copy else ".3f"
    value = f"{round(cells.value_of(selected), 3) + 0.0:{digits}}".replace("-", "−")  # never −0.000
    name = say("heatmap_hover_difference" if minus_copy else "hover_weight")
    told = "heatmap_cell_masked" if cells.is_masked(selected) else "heatmap_cell"
    return say(told, query=query, key=key, value=value, name=name)


def notes(lens: Lens, values: Values) -> list[str]:
    """What a reader should know about the figure as it is set."""
    cells = cells_for(lens, values)
    tokens = cells.key_spans[-1][1] - cells.key_spans[0][0]
    found = [
        wording.map_caption(say, lens.kind, lens.all_changes, difference=values["shown"] == "difference")
    ]
    found += [say("heatmap_words")] * (values["unit"] == "word")
    found += [say("heatmap_unmarked_note")] * (tokens < len(lens.keys))
    found += [say("heatmap_logarithmic_note", floor=viz.FAINT)] * values["logarithmic"]
    found += [say("sink_note")] * (lens.trace.sink(lens.kind) is not None)
    return [*found, say("heatmap_click")]


def _named(label: str) -> str:
    """A token or a word between quotation marks, blanks visible."""
    return say("heatmap_named", label=visible_token(label))


VIEW = declare(View("heatmap", "attention", 10, describe, draw, SETTINGS, notes, idea("heatmap", FORMULA)))
