"""Who may import whom, read from the files themselves."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("model", "engine", "viz", "ui", "training")
NETWORK_LIBRARIES = {"tensorflow", "keras", "jax", "torch"}
# Of the model's modules, what data flows in; anyone may read it, and none of them loads a network.
LIGHT = {
    "model.changes",
    "model.config",
    "model.hangul",
    "model.head_survey",
    "model.interventions",
    "model.norm",
    "model.projections",
    "model.selection",
    "model.sentences",
    "model.survey",
    "model.survey_files",
    "model.tables",
    "model.tables.writing",
    "model.taps",
}
LIGHT |= {
    "model.trace",
    "model.analysis",
    *(f"model.analysis.{path.stem}" for path in (ROOT / "model/analysis").glob("[a-z]*.py")),
}


def files(room: str) -> list[Path]:
    found = sorted((ROOT / room).rglob("*.py"))
    assert found, room
    return found


def imported(path: Path) -> set[str]:
    """Dotted names: ``from model import Corrector`` gives ``model.Corrector`` and ``model``."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written in full"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            names |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    return names


def roots(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


@pytest.mark.parametrize(
    ("room", "others"),
    [
        ("model", set()),
        ("engine", {"model"}),
        ("viz", set()),
        ("training", {"model"}),
        ("ui", {"model", "engine", "viz"}),
    ],
)
def test_rooms_import_only_the_rooms_they_may(room, others):
    for path in files(room):
        assert roots(path) & set(ROOMS) <= {room} | others, path


def test_figures_need_nothing_but_numpy_pandas_and_plotly():
    allowed = {"viz", "assets", "numpy", "pandas", "plotly", *sys.stdlib_module_names}
    for path in files("viz"):
        assert roots(path) <= allowed, path


def test_only_the_networks_and_their_training_know_tensorflow():
    for path in (ROOT / "app.py", *files("engine"), *files("ui"), *files("viz")):
        assert not roots(path) & NETWORK_LIBRARIES, path
    for path in files("benchmarks"):  # torch only as what is compared with
        assert not roots(path) & (NETWORK_LIBRARIES - {"torch"}), path


def test_pages_reach_the_model_through_the_cached_loaders_alone():
    for path in {ROOT / "app.py", *files("ui")} - {ROOT / "ui" / "loaders.py"}:
        reached = {name for name in imported(path) if name.startswith("model.")}
        classes = {name for name in reached if name.rpartition(".")[0] in LIGHT}
        assert reached - classes <= LIGHT | {"model.ModelFolderError"}, path


def test_pages_do_not_import_each_other():
    for path in files("ui/pages"):
        assert not {name for name in imported(path) if name.startswith("ui.pages")}, path


def test_importing_the_library_and_the_commands_loads_no_network_library():
    # The page paints, --help answers and background workers start without waiting for TensorFlow.
    modules = [
        "model.__main__",
        "model.tables",
        "engine",
        "engine.worker",
        "ui.loaders",
        "training.__main__",
        "training.stream",
        "training.evaluate",
        "viz",
    ]
    code = f"import sys, {', '.join([*modules, *sorted(LIGHT)])}; print(sorted({NETWORK_LIBRARIES!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


def test_the_first_page_draws_itself_without_pandas():
    # It takes as long to import as everything else that the page needs.
    modules = [f"ui.views.{path.stem}" for path in files("ui/views") if path.stem != "__init__"]
    code = f"import sys, viz, {', '.join(modules)}; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("False", 0), done.stderr
