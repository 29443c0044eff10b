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
# A library for all module systems: the function that makes it is handed to one that knows the system.
_MADE_BY = re.compile(r", \(\) => \{\n(.*)\n\}\)\);?\s*\Z", re.DOTALL)


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


def read_at_once(library: str) -> str:
    """A library whose making function stands in parentheses. Without them a browser first skims the function, to find its
    end, and reads it again when it is called; of a large library that takes a fifth of the time it needs to start.

    >>> read_at_once("(function(root, make) {make()}(this, () => {\\nlet a;\\n}));")
    '(function(root, make) {make()}(this, (() => {\\nlet a;\\n})));\\n'

    Raises ValueError for a library of another form.
    """
    found, times = _MADE_BY.subn(lambda made: f", (() => {{\n{made[1]}\n}})));\n", library)
    if times != 1:
        raise ValueError(f"a library should end with the function that makes it, ends with {library[-40:]!r}")
    return found
