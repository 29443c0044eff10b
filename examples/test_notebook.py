"""A notebook is executed, and the lens in the output of its cell answers in a browser without a network.

Run by `pytest examples`; see requirements-examples.txt.
"""

from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import expect, sync_playwright

from model import AttentionTrace
from tests.browser.chromium import launched

ROOT = Path(__file__).parents[1]
LAYERS, HEADS, TOKENS = 3, 2, 5


@pytest.mark.parametrize("name", ["encoder_decoder", "encoder", "decoder"])
def test_the_notebook_of_each_adapter_ends_with_the_lens(name):
    ends_with_the_lens(name)


def ends_with_the_lens(name: str) -> None:
    """Execute the notebook ``name``, from its first cell to its last."""
    notebook = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": ROOT / "examples"}}).execute()
    (output,) = notebook.cells[-1].outputs
    assert "<iframe" in output["data"]["text/html"]


@pytest.fixture
def trace() -> AttentionTrace:
    weights = np.exp(np.random.default_rng(0).normal(size=(LAYERS, HEADS, TOKENS, TOKENS)))
    weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    return AttentionTrace(source_tokens=tuple("attEN"), encoder_attention=weights)


def test_the_output_of_a_cell_shows_every_head(trace, tmp_path):
    trace.save(tmp_path / "trace.npz")
    cells = [
        f"import sys; sys.path.insert(0, {str(ROOT)!r})",
        "from model import AttentionTrace\nfrom viz import explore",
        f"explore(AttentionTrace.load({str(tmp_path / 'trace.npz')!r}))",
    ]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    path = tmp_path / "notebook.html"
    path.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")
    with sync_playwright() as playwright:
        browser = launched(playwright)
        context = browser.new_context()
        context.set_offline(True)
        page = context.new_page()
        page.goto(path.as_uri())
        frame = page.frame_locator("iframe")
        plot = frame.locator(".heatmap .js-plotly-plot")
        frame.locator(".heatmap .plot[data-drawn]").wait_for(timeout=120_000)
        drawn = plot.evaluate("plot => plot._fullData[0].z.map(row => [...row])")
        np.testing.assert_allclose(drawn, trace.encoder_attention[0, 0], atol=1e-4)
        frame.get_by_label("Layer", exact=True).select_option(index=LAYERS)
        expect(plot).to_have_attribute("aria-label", f"Encoder self-attention · layer {LAYERS}, head 1")
        browser.close()
