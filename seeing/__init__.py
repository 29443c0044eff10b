"""The library under a name that nobody else uses: ``from seeing.model import trace_keras``, ``from seeing.viz import explore``.

``from model import …`` does the same in a folder without a ``model.py`` of its own, which students' folders have. ``seeing.model``
is the folder ``model`` beside this one, loaded under this name; what its files import as ``model`` is this one, too, and
never somebody else's. Where ``model`` itself is loaded already, as in the app, ``seeing.model`` is that one; where ``model`` is loaded
afterwards, it is another copy.
"""

import builtins
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, cast

# What the library consists of; they import nothing else of this repository.
FOLDERS = (
    "assets",
    "model",
    "viz",
)
_BESIDE = str(Path(__file__).resolve().parents[1])


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> ModuleType:
    """``import model.x`` inside one of FOLDERS: the module ``seeing.model.x``. Anything else is imported as always."""
    folder = name.partition(".")[0]
    if level or folder not in FOLDERS:
        return builtins.__import__(name, globals, locals, fromlist, level)
    found = builtins.__import__(f"seeing.{name}", globals, locals, fromlist, 0)
    return found if fromlist else sys.modules[f"seeing.{folder}"]


_BUILTINS = vars(builtins) | {"__import__": _import}


class _Loader(SourceFileLoader):
    """Runs a file with ``_import`` in place of Python's own; its bytecode is that of the plain name."""

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = _BUILTINS
        super().exec_module(module)


class _Loaded:
    """Hands out the module ``name`` itself."""

    def __init__(self, name: str):
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # Python has put the other name's there


def _is_loaded(folder: str) -> bool:
    """Whether the plain name is this library's folder, and was loaded before its second name was."""
    plain, second = sys.modules.get(folder), sys.modules.get(f"{__name__}.{folder}")
    return second in (None, plain) and getattr(plain, "__file__", None) == _file(folder)


def _file(folder: str) -> str:
    return str(Path(_BESIDE) / folder / "__init__.py")


class _Finder:
    """Finds FOLDERS, and all that is in them, under ``seeing``; no other name is its business."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, name = fullname.partition(".")
        folder = name.partition(".")[0]
        if root != __name__ or folder not in FOLDERS:
            return None
        if _is_loaded(folder):
            return ModuleSpec(fullname, cast(Any, _Loaded(name)))
        spec = PathFinder.find_spec(fullname, path if "." in name else [_BESIDE])
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, _Finder())  # no importlib.abc: that takes longer to import than all of this
