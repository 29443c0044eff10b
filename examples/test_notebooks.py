"""Example notebooks: execution of every cell, and the saved output in a browser offline.

Run by `pytest examples`; see requirements-examples.txt.
"""

from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect, sync_playwright

from tests.browser.chromium import launched
from tests.browser.site_pages import visiting

ROOT = Path(__file__).parents[1]
SOURCE, TARGET = 9, 8  # tokens of the sentence that the course's networks open, padding counted
SHOWN = {"laboratory": (6, 3), "following_an_answer": (7, 4)}  # by notebook: pictures and tables


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)


def executed(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with the outputs of its cells; they may import the checkout's rooms."""
    first = nbformat.v4.new_code_cell(f"import sys; sys.path.insert(0, {str(ROOT)!r})")
    notebook.cells.insert(0, first)
    resources = {"metadata": {"path": ROOT / "examples"}}
    return NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()


def test_the_notebook_of_each_adapter_ends_with_the_lens():
    """One process reads the libraries once for all; between two notebooks it forgets all names."""
    names = ["encoder_decoder", "encoder", "decoder", *["keras_hub"] * (find_spec("keras_hub") is not None)]
    sources: list[str] = []
    for name in names:
        sources += [*(cell.source for cell in read(name).cells if cell.cell_type == "code"), "%reset -f"]
    cells = list(map(nbformat.v4.new_code_cell, sources))
    ran = executed(nbformat.v4.new_notebook(cells=cells)).cells
    lenses = [
        before.outputs[0]["data"]["text/html"] for before, cell in pairwise(ran) if "%reset" in cell.source
    ]
    assert len(lenses) == len(names) and all("<iframe" in each for each in lenses)


@pytest.mark.parametrize("name", SHOWN)
def test_every_step_shows_its_picture_or_its_table(name):
    notebook = read(name)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # none are committed
    outputs = [output for cell in executed(notebook).cells for output in cell.get("outputs", ())]
    shown = [output.get("data", {}) for output in outputs]
    pictures = sum("application/vnd.plotly.v1+json" in each for each in shown)
    assert (pictures, sum("<table" in "".join(each.get("text/html", "")) for each in shown)) == SHOWN[name]


def test_the_networks_of_a_course_are_trained_and_open_offline(tmp_path):
    notebook = executed(read("keras_course_networks"))
    texts = [
        output["data"].get("text/plain", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "execute_result"
    ]
    results = [float(text) for text in texts if text.startswith(("0.", "1.0"))]
    # Of the sentences so many are written backwards without a mistake.
    assert len(results) == 2 and min(results) > 0.9
    path = tmp_path / "notebook.html"
    path.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    with (
        sync_playwright() as playwright,
        visiting(launched(playwright), path.as_uri(), offline=True, locale="en-US") as page,
    ):
        expect(page.locator("iframe")).to_have_count(2)
        for place, kinds in enumerate((3, 1)):
            page.locator("iframe").nth(place).scroll_into_view_if_needed()  # out of sight nothing is drawn
            frame = page.frame_locator("iframe").nth(place)
            frame.locator(".heatmap .plot[data-drawn]").wait_for(timeout=120_000)
            options = frame.get_by_label("Kind of attention").locator("option")
            assert options.count() == (kinds if kinds > 1 else 0)
            frame.get_by_role("button", name="Step by step").click()
            expect(frame.locator(".of-source .strip")).to_be_visible()
        plot = frame.locator(".heatmap .js-plotly-plot")
        weights = plot.evaluate("plot => plot._fullData[0].z.map(row => row.length)")
        assert weights == [SOURCE] * TARGET
