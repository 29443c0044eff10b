"""The parts of a JavaScript component: its HTML, style and script, for Streamlit or for a page without Streamlit."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import assets

PLOTLY = next(assets.STATIC.glob("plotly-*.js"))
FONT = assets.STATIC / "NotoSansKR-subset.woff2"
FOLDER = Path(__file__).parent
_EXPORT = re.compile(r"^export default ", re.MULTILINE)


@dataclass(frozen=True)
class Script:
    """A JavaScript module without imports that exports one function by default, and its style.

    The function takes ``data``, the ``parentElement`` to draw in, and the functions by which it answers
    (``setTriggerValue``, ``setStateValue``).
    """

    name: str  # ASCII; also the class of its place
    js: str
    css: str = ""
    isolated: bool = True  # whether its style applies to it alone

    @property
    def html(self) -> str:
        return f'<div class="{self.name}"></div>'

    def handed_to(self, receiver: str) -> str:
        """The script for a page that cannot import it from a file: at its end it calls ``receiver`` with what it exports.

        Raises ValueError where it does not export exactly one function by default.
        """
        text, exports = _EXPORT.subn("const exportedByDefault = ", self.js)
        if exports != 1:
            raise ValueError(
                f"the component {self.name!r} should export one function by default, exports {exports}"
            )
        return f"{text}\n{receiver}(exportedByDefault);\n"


def read_script(
    name: str, *files: str, isolated: bool = True, constants: Mapping[str, object] = MappingProxyType({})
) -> Script:
    """The module joined from ``files`` of this folder, with the style of its name. It begins with ``constants``."""
    js = "\n".join([declared(constants), *((FOLDER / file).read_text("utf-8") for file in files)])
    return Script(name, js, (FOLDER / f"{name}.css").read_text("utf-8"), isolated)


def declared(constants: Mapping[str, object]) -> str:
    """What Python and a script both know, in the script's words, so that it is decided in one place.

    >>> declared({"MOST_HEADS": 8})
    'const MOST_HEADS = 8;'
    """
    return "\n".join(f"const {name} = {json.dumps(value)};" for name, value in constants.items())


def served(file: Path) -> str:
    """Where a browser finds a shipped file: beside the app, as .streamlit/config.toml serves it."""
    return f"app/static/{file.name}"
