"""Build hook of the wheel: all rooms of the repository in one package, ``see_attention``.

A checkout runs as it is, with ``model``, ``viz`` and the others at its top. In a wheel these names would lie
in everybody's site-packages and be hidden by a student's own ``model.py``. So the build writes ``from model.x
import y`` as ``from see_attention.model.x import y``: in code, in the examples of docstrings, and where a
string names a module. Imports stay plain for a reader, a type checker sees real modules in both places, and
nothing happens at run time. ``tests/test_wheel.py`` installs the result and imports all of it.
"""

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
PACKAGE, BASE = "see_attention", "package"  # in a wheel, and the folder with its version and its command
WHOLE_ROOMS = ("assets", "classroom", "engine", "model", "service", "training", "ui", "viz")
ROOMS = (*WHOLE_ROOMS, "deploy", "examples")
PARTS = (  # of the repository; what else it holds stays there
    *("app.py", ".streamlit", "static", BASE, *WHOLE_ROOMS, "deploy/site"),
    *(f"examples/{name}.py" for name in ("__init__", "keras_networks", "hugging_face_networks")),
)
# The script that made the font; a page made here.
LEFT_OUT = ("__pycache__", "assets/fonts", "static/see-attention.html")

_ROOM = rf"(?:{'|'.join(ROOMS)})"
_PROMPT = r"^[ \t]*(?:(?:>>>|\.\.\.) )?"
_IMPORTS = (
    (rf"({_PROMPT}from )(?={_ROOM}(?:\.\w+)* import )", rf"\1{PACKAGE}."),
    (rf"({_PROMPT}import )(?={_ROOM}(?:\.\w+)* as \w+$)", rf"\1{PACKAGE}."),
    (rf"({_PROMPT}from ){BASE}(?= import )", rf"\1{PACKAGE}"),
    (rf"({_PROMPT})import ({_ROOM})$", rf"\1from {PACKAGE} import \2"),
)
_RUN = re.compile(rf"""(["']-m["'],\s*["'])(?={_ROOM}["'.])""")  # [sys.executable, "-m", "training", …]
_NAMED = re.compile(rf"""(f?["'])({_ROOM}(?:\.\w+)+)(?=\1|["':]|\.\{{)""")


class WheelHook(BuildHookInterface):
    """Gives hatchling the package's files in place of the repository's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises ValueError for an editable installation: a checkout is run from its own folder."""
        if version == "editable":
            raise ValueError("a checkout needs no installation: run its commands in its own folder")
        self._folder = Path(tempfile.mkdtemp())
        write_package(self._folder / PACKAGE)
        build_data["force_include"][str(self._folder / PACKAGE)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder)


def write_package(folder: Path) -> None:
    """Write the package as a wheel holds it.

    Raises ValueError, with file and line, for an import that it cannot rewrite.
    """
    for path in (path for part in PARTS for path in ((ROOT / part), *sorted((ROOT / part).rglob("*")))):
        place = path.relative_to(ROOT)
        if not path.is_file() or any(f"/{part}/" in f"/{place.as_posix()}/" for part in LEFT_OUT):
            continue
        target = folder / (place.relative_to(BASE) if place.parts[0] == BASE else place)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            target.write_text(inside_package(path.read_text("utf-8"), str(place)), "utf-8")
        else:
            shutil.copyfile(path, target)


def inside_package(source: str, name: str = "") -> str:
    """The source of a module with the imports that it has inside the package.

    >>> inside_package("from model.text import jamo")
    'from see_attention.model.text import jamo'

    Raises ValueError, with ``name`` and line, for an import that is left.
    """
    for pattern, replacement in _IMPORTS:
        source = re.sub(pattern, replacement, source, flags=re.MULTILINE)
    source = _RUN.sub(rf"\1{PACKAGE}.", source)
    source = _NAMED.sub(lambda match: match[1] + _full_name(match[2]), source)
    for node in ast.walk(ast.parse(source)):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        if any(each.partition(".")[0] in ROOMS for each in names):
            raise ValueError(f"{name}, line {node.lineno}: write 'from room.module import name'")
    return source


def _full_name(dotted: str) -> str:
    """The name inside the package of a module that exists; other words with dots stay."""
    path = ROOT / dotted.replace(".", "/")
    return f"{PACKAGE}.{dotted}" if path.is_dir() or path.with_suffix(".py").is_file() else dotted
