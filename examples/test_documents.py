"""Code blocks of the documents on Hugging Face models, run with the installed package.

They run in an empty folder.

Run by `pytest examples`; see requirements-examples.txt.
"""

import subprocess
import sys

import pytest

from tests.model.adapters.test_documents import blocks


@pytest.mark.parametrize("name", ["own-hugging-face.en.md", "researchers.en.md"])
def test_its_code_runs(name, tmp_path):
    """In one language, since the other has the same code.

    ``conftest.installed`` puts the package on the path, as a wheel would.
    """
    command = [sys.executable, "-c", "\n".join(blocks(name))]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
