"""``seeing.model`` and ``seeing.viz`` work beside files that are called ``model.py`` and ``viz.py``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPENED_AND_DRAWN = """
import model
import numpy as np
from seeing.model import AttentionTrace, trace_keras
from seeing.model.trace.trace import AttentionTrace as same
from seeing.viz import attention_heatmap, explore
import seeing.model.norm.kinds as norm
import seeing.model.text.hangul

trace = AttentionTrace(source_tokens=("a",), encoder_attention=np.ones((1, 1, 1, 1)))
explore(trace)
attention_heatmap(trace.encoder_attention[0, 0], "a", "a")
assert model.OWN and AttentionTrace is same and norm.kinds() and callable(trace_keras)
print(model.__file__, seeing.model.__file__, sep="\\n")
"""


def shadowed(folder: Path) -> Path:
    """A folder with a student's own files, all of names that the library has, too."""
    folder.mkdir()
    (folder / "model.py").write_text("OWN = True\n", "utf-8")
    for name in ("viz", "assets"):
        (folder / f"{name}.py").write_text("raise ImportError('not what was meant')\n", "utf-8")
    return folder


def run(code: str, folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, check=True, encoding="utf-8"
    ).stdout


def test_files_of_the_same_names_do_not_hide_it(tmp_path):
    folder = shadowed(tmp_path / "shadowed")
    own, library = run(OPENED_AND_DRAWN, folder).splitlines()
    assert Path(own).parent == folder and Path(library) == ROOT / "model" / "__init__.py"


def test_both_names_work_in_one_program(tmp_path):
    code = "import model, seeing.viz, numpy as np; trace = model.AttentionTrace(source_tokens=['a'], encoder_attention="
    code += "np.ones((1, 1, 1, 1))); print(len(seeing.viz.explore(trace).page) > 1000)"
    assert run(code, tmp_path) == "True\n"


def test_what_is_loaded_under_the_plain_name_is_not_loaded_again(tmp_path):
    """The app has loaded ``model`` when it asks a network that was written with ``seeing.model``: a copy's classes would be strangers."""
    code = "import model.trace.trace as plain, seeing.model, seeing.model.trace.trace as found, seeing.model.adapters.own_network as lab; "
    code += "import model.adapters.own_network; print(seeing.model is model, found is plain, lab is model.adapters.own_network, "
    code += "plain.__name__, plain.__spec__.name)"
    assert run(code, tmp_path) == "True True True model.trace.trace model.trace.trace\n"


def test_importing_it_loads_no_network_library(tmp_path):
    code = "import sys, seeing.model, seeing.viz; print({'tensorflow', 'keras', 'torch', 'jax'} & set(sys.modules))"
    assert run(code, tmp_path) == "set()\n"


@pytest.mark.parametrize("name", ["ui", "tests", "training", "engine"])
def test_it_has_only_the_library(name):
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'seeing.{name}'"):
        __import__(f"seeing.{name}")
