"""Code blocks of the documents on own networks, files and classes, run one by one."""

import ast
import re
from pathlib import Path

import pytest

from model import Corrector

DOCS = Path(__file__).parents[3] / "docs"
PAGES = (
    "researchers",
    "following-an-answer",
    "own-keras",
    "own-laboratory",
    "own-file",
    "own-class",
)  # examples/ runs own-hugging-face, and blocks with models of Hugging Face


def blocks(name: str) -> list[str]:
    found = re.findall(r"^```python\n(.*?)^```", (DOCS / name).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert len(found) == (DOCS / name).read_text("utf-8").count("```") / 2  # all blocks run
    return found


def code_of(block: str) -> str:
    """Its syntax tree: all but comments and the form of the lines."""
    return ast.dump(ast.parse(block))


@pytest.mark.parametrize("page", ["following-an-answer", "own-laboratory", "own-class"])
def test_its_code_runs(page, tmp_path, monkeypatch):
    """In one language, since the other has the same code; ``tests/test_wheel.py`` runs the other pages."""
    monkeypatch.chdir(tmp_path)  # some blocks write files
    load = Corrector.load  # the smallest of the shipped networks answers in a third of the time
    monkeypatch.setattr(Corrector, "load", lambda model="growing-up", **rest: load(model, **rest))
    known: dict = {}
    for block in blocks(f"{page}.md"):
        if "hugging_face" in block:
            continue  # examples/ runs it
        exec(compile(block.replace("see_attention.", ""), page, "exec"), known)  # noqa: S102


@pytest.mark.parametrize("page", [*PAGES, "own-hugging-face"])
def test_both_languages_have_the_same_code(page):
    korean, english = ([code_of(block) for block in blocks(f"{page}{end}.md")] for end in ("", ".en"))
    assert korean == english and korean
