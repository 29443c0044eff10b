"""The page about models of Hugging Face: its code runs as it stands.

Run by `pytest examples`; see requirements-examples.txt.
"""

import pytest

from tests.model.adapters.test_documents import blocks


@pytest.mark.parametrize("name", ["own-hugging-face.md", "own-hugging-face.en.md"])
def test_its_code_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known: dict = {}
    for block in blocks(name):
        exec(compile(block.replace("see_attention.", ""), name, "exec"), known)  # noqa: S102
