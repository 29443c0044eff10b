"""The networks of a course learn what they should, and both open offline in the executed notebook.

Needs Keras.

Run by `pytest examples`; see requirements-examples.txt.
"""

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect, sync_playwright

from examples.test_notebook import ROOT
from tests.browser.chromium import launched

SOURCE, TARGET = 9, 8  # tokens of the sentence that is opened, padding counted


def test_both_networks_are_trained_and_open_offline(tmp_path):
    notebook = nbformat.read(ROOT / "examples" / "keras_course_networks.ipynb", as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": ROOT / "examples"}}).execute()
    results = [float(text) for text in map(shown, notebook.cells) if text.startswith(("0.", "1.0"))]
    assert (
        len(results) == 2 and min(results) > 0.9
    )  # of the sentences are written backwards without a mistake
    path = tmp_path / "notebook.html"
    path.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    with sync_playwright() as playwright:
        context = launched(playwright).new_context()
        context.set_offline(True)
        page = context.new_page()
        page.goto(path.as_uri())
        expect(page.locator("iframe")).to_have_count(2)
        for place, kinds in enumerate((3, 1)):
            page.locator("iframe").nth(
                place
            ).scroll_into_view_if_needed()  # what is out of sight draws nothing
            frame = page.frame_locator("iframe").nth(place)
            frame.locator(".heatmap .plot[data-drawn]").wait_for(timeout=120_000)
            assert frame.get_by_label("Kind of attention").locator("option").count() == (
                kinds if kinds > 1 else 0
            )
            frame.get_by_role("button", name="Step by step").click()
            expect(frame.locator(".of-source .strip")).to_be_visible()
        weights = frame.locator(".heatmap .js-plotly-plot").evaluate(
            "plot => plot._fullData[0].z.map(row => row.length)"
        )
        assert weights == [SOURCE] * TARGET


def shown(cell) -> str:
    """The text of what a cell's last line is."""
    results = [each for each in cell.get("outputs", ()) if each["output_type"] == "execute_result"]
    return results[0]["data"].get("text/plain", "") if results else ""
