"""The notebook that follows an answer is executed from its first cell to its last, with the shipped model.

Run by `pytest examples`; see requirements-examples.txt.
"""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
PICTURES, TABLES = 4, 4


@pytest.fixture(scope="module")
def outputs() -> list[dict]:
    """What the cells put out: by its type, such as "text/html"."""
    notebook = nbformat.read(ROOT / "examples" / "following_an_answer.ipynb", as_version=4)
    first = nbformat.v4.new_code_cell(f"import sys; sys.path.insert(0, {str(ROOT)!r})")
    notebook.cells.insert(0, first)
    NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return [
        output.get("data", {"text/plain": output.get("text", "")})
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]


def test_every_step_shows_its_picture_or_its_table(outputs):
    assert sum("application/vnd.plotly.v1+json" in each for each in outputs) == PICTURES
    assert sum("<table" in "".join(each.get("text/html", "")) for each in outputs) == TABLES


def test_the_notebook_holds_no_outputs():
    notebook = nbformat.read(ROOT / "examples" / "following_an_answer.ipynb", as_version=4)
    assert not [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
