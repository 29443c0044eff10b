"""Joins the modules in ``js/`` into one script each for the worker and for the page.

The modules import one another by name and export functions, classes and constants, one name each; so all names of one script are
different, and joining is putting one file behind those that it imports.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parent / "js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([\w/]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:const|class|function)\b)", re.MULTILINE)
_AGAIN = re.compile(r"^export \{[^}]*\};\n", re.MULTILINE)


def joined(entry: str) -> str:
    """The script that ``entry`` and all that it imports make.

    >>> "export" in joined("levenshtein.js")
    False

    Raises ValueError where an import or export is of another form.
    """
    order: list[str] = []
    _visit(entry, order)
    return "\n".join(map(_plain, order))


def _visit(name: str, order: list[str]) -> None:
    for imported in _IMPORT.findall(_read(name)):
        if imported not in order:
            _visit(imported, order)
    if name not in order:
        order.append(name)


def _plain(name: str) -> str:
    text = _AGAIN.sub("", _EXPORT.sub("", _IMPORT.sub("", _read(name))))
    if left := re.findall(r"^(?:import|export)\b.*$", text, re.MULTILINE):
        raise ValueError(f"{name} should import and export as the others do, received {left}")
    return text


def _read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")
