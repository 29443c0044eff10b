"""The notebooks over the shipped model are executed from their first cell to their last.

Run by `pytest examples`; see requirements-examples.txt.
"""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
SHOWN = {
    "laboratory": (6, 3),
    "following_an_answer": (7, 4),
}  # by notebook: how many pictures, how many tables


def opened(name: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)


def outputs(name: str) -> list[dict]:
    """What the cells put out: by its type, such as "text/html"."""
    notebook = opened(name)
    first = nbformat.v4.new_code_cell(f"import sys; sys.path.insert(0, {str(ROOT)!r})")
    notebook.cells.insert(0, first)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return [
        output.get("data", {"text/plain": output.get("text", "")})
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]


@pytest.mark.parametrize("name", SHOWN)
def test_every_step_shows_its_picture_or_its_table(name):
    found = outputs(name)
    pictures = sum("application/vnd.plotly.v1+json" in each for each in found)
    tables = sum("<table" in "".join(each.get("text/html", "")) for each in found)
    assert (pictures, tables) == SHOWN[name]


@pytest.mark.parametrize("name", SHOWN)
def test_the_notebook_holds_no_outputs(name):
    assert not [cell for cell in opened(name).cells if cell.cell_type == "code" and cell.outputs]
