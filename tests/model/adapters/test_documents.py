"""The page about a laboratory of one's own: its code runs as it stands."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", ["own-laboratory.en.md", "own-laboratory.md"])
def test_its_code_runs(name):
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / name).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    known: dict = {}
    for block in blocks:
        exec(compile(block, name, "exec"), known)  # noqa: S102
