"""Import rules of the rooms: allowed rooms and libraries, no circles, a light start.

Read from the files themselves, folder by folder, without exceptions.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.serving import printed

ROOT = Path(__file__).parents[1]
NETWORK_LIBRARIES = {"tensorflow", "keras", "jax", "torch"}
# Which rooms a room may import besides itself. The innermost folder named here decides. ``model`` among the
# values is the face, ``from model import …``, alone; ``model/*`` means all its rooms, too.
LIGHT = {"model/text", "model/trace"}
DESCRIBED = {*LIGHT, "model/stored", "model/activations"}
SEEN_BY_PAGES = {
    *LIGHT,
    "model",
    "model/stored",
    "model/norm",
    "model/analysis",
    "model/survey",
    "model/tables",
    "engine",
    "classroom",
    "viz",
}
ROOMS = {
    "model/text": set(),
    "model/trace": set(),
    "model/norm": {"model/text"},
    "model/stored": LIGHT,
    "model/activations": {*LIGHT, "model/stored"},
    "model/adapters": {*DESCRIBED, "model/correction"},
    "model/network": DESCRIBED,
    "model/graph": DESCRIBED,
    "model/export": {*DESCRIBED, "model/graph"},
    "model/correction": {*DESCRIBED, "model/norm", "model/network", "model/graph"},
    "model/analysis": {*DESCRIBED, "model/correction", "model/norm"},
    "model/tables": {*DESCRIBED, "model/correction", "model/analysis"},
    "model/survey": {*DESCRIBED, "model/correction", "model/analysis", "model/tables"},
    "model": {"model/*"},
    "viz": set(),
    "classroom": {*LIGHT, "model/analysis"},
    "engine": {"model/*", "classroom"},
    "ui/asking": {*SEEN_BY_PAGES, "model/activations", "ui"},
    "ui": {*SEEN_BY_PAGES, "ui/asking"},
    "service": {"model/*", "viz"},
    "training": {"model/*", "viz"},  # measured texts are written as the pages write them
}
# Libraries that a room may import, other than Python's; rooms not named here may import any but networks.
LIBRARIES = {
    "model/text": {"numpy", "rapidfuzz"},
    "model/trace": {"numpy"},
    "model/norm": set(),
    "model/stored": {"numpy"},
    "model/activations": {"numpy", "threadpoolctl"},
    "model/adapters": {"numpy", "keras", "tensorflow", "jax", "torch", "transformers"},
    "model/network": {"numpy", "keras", "tensorflow"},
    "model/graph": {"numpy", "onnxruntime"},
    "model/export": {"numpy", "onnx"},
    "model/correction": {"numpy", "rapidfuzz", "kiwipiepy"},
    "model/analysis": {"numpy", "rapidfuzz"},
    "model/tables": {"openpyxl", "click", "rich"},
    "model/survey": {"numpy"},
    "viz": {"numpy", "pandas", "plotly"},
    "classroom": {"numpy"},
}
KNOW_NETWORKS = {"model/network", "model/adapters", "training"}  # who may import Keras is seen from the path


def files(room: str) -> list[Path]:
    found = sorted((ROOT / room).rglob("*.py"))
    assert found, room
    return found


def files_of(room: str) -> list[Path]:
    """Those for which no room further inside decides."""
    return [path for path in files(room) if room_of(str(path.relative_to(ROOT))) == room]


def room_of(path: str) -> str | None:
    """The innermost room of a path such as ``model/text/hangul``; None outside of our rooms."""
    return max((room for room in ROOMS if f"{path}/".startswith(f"{room}/")), key=len, default=None)


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir()


def imports(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Each import with the module it reaches: ``from model.text import hangul`` reaches
    ``model.text.hangul``.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written in full"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield node, whole if is_module(whole) else str(node.module)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            yield from ((node, arg.value) for arg in node.args if isinstance(arg, ast.Constant))


@cache  # most files are read by several tests, and reading one takes a hundredth of a second
def imported(path: Path) -> frozenset[str]:
    return frozenset(name for _, name in imports(ast.parse(path.read_text(encoding="utf-8"))))


def roots(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imported(path)}


def may_reach(room: str, other: str) -> bool:
    allowed = ROOMS[room] | {room}
    return other in allowed or (other.startswith("model") and "model/*" in allowed)


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_the_rooms_they_may(room):
    for path in files_of(room):
        reached = {room_of(name.replace(".", "/")) for name in imported(path)} - {None}
        assert {other for other in reached if not may_reach(room, other)} == set(), path


def test_no_module_needs_itself_through_others():
    names = {name_of(path): imported(path) for room in ROOMS for path in files_of(room)}
    graph = {
        name: {each for each in reached if each in names and each != name} for name, reached in names.items()
    }
    while ends := {name for name, reached in graph.items() if not reached & graph.keys()}:
        graph = {name: reached for name, reached in graph.items() if name not in ends}
    assert graph == {}, "a circle among these, or on the way to one"


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("room", LIBRARIES)
def test_rooms_import_only_the_libraries_they_may(room):
    allowed = {"assets", "model", room.partition("/")[0], *LIBRARIES[room], *sys.stdlib_module_names}
    for path in files(room):
        assert roots(path) <= allowed, path


def test_the_table_of_the_architecture_says_what_a_room_of_the_model_may_import():
    spelt = {"keras": "Keras", "tensorflow": "TensorFlow", "torch": "PyTorch", "jax": "JAX"}
    spelt |= {"kiwipiepy": "Kiwi"}
    lines = (ROOT / "docs/architecture.md").read_text("utf-8").splitlines()
    rows = [line.split("|")[1:4] for line in lines if line.startswith("| `model/")]
    found = {room.strip(" `/"): set(re.findall(r"[^\s`*,;]+", may)) for room, _, may in rows}
    assert found == {
        room: {each.removeprefix("model/") for each in others} | {spelt.get(n, n) for n in LIBRARIES[room]}
        for room, others in ROOMS.items()
        if room.startswith("model/")
    }


def test_only_the_networks_and_their_training_know_network_libraries():
    for room in set(ROOMS) - KNOW_NETWORKS:
        for path in (ROOT / "app.py", *files_of(room)):
            assert not roots(path) & NETWORK_LIBRARIES, path
    for path in files("benchmarks"):  # these two only for models to compare with
        assert not roots(path) & (NETWORK_LIBRARIES - {"torch", "tensorflow"}), path


@pytest.mark.parametrize("room", ["deploy", "examples", "benchmarks", "tests"])
def test_nobody_imports_what_stands_outside_the_product(room):
    for path in (ROOT / "app.py", *(path for top in ROOMS for path in files(top))):
        assert room not in roots(path), path


def test_pages_do_not_import_each_other():
    for path in files("ui/pages"):
        assert not {name for name in imported(path) if name.startswith("ui.pages")}, path


def modules(room: str) -> list[str]:
    """All modules of a room."""
    paths = (path.relative_to(ROOT).with_suffix("") for path in files(room))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths]


def test_importing_the_product_and_the_commands_loads_no_network_library():
    # The page paints, --help answers and background workers start without waiting for TensorFlow.
    light = [name for name in modules("model") if not name.startswith(("model.network", "model.export"))]
    commands = ["training.__main__", "training.run.stream", "training.measure.evaluate"]
    rooms = "classroom engine service ui/asking ui/classroom ui/export ui/parts ui/shell ui/views viz"
    others = [name for room in rooms.split() for name in modules(room)]
    code = f"import sys, {', '.join([*light, *others, *commands])}; "
    code += f"print(sorted({NETWORK_LIBRARIES!r} & set(sys.modules)))"
    assert printed(code) == "[]"


def test_the_first_page_draws_itself_without_pandas():
    # It takes as long to import as everything else that the page needs.
    views = [name for name in modules("ui/views") if name != "ui.views"]
    code = f"import sys, viz, {', '.join(views)}; print('pandas' in sys.modules)"
    assert printed(code) == "False"
