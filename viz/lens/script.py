"""The parts of a JavaScript component: its HTML, style and script, for Streamlit or for a page without Streamlit."""

import re
from dataclasses import dataclass
from pathlib import Path

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
    isolated: bool = True  # whether it has its style to itself

    @property
    def html(self) -> str:
        return f'<div class="{self.name}"></div>'

    def handed_to(self, receiver: str) -> str:
        """The script where there is no file to import it from: it ends with a call of ``receiver`` with what it exports.

        Raises ValueError where it does not export exactly one function by default.
        """
        text, exports = _EXPORT.subn("const exportedByDefault = ", self.js)
        if exports != 1:
            raise ValueError(
                f"the component {self.name!r} should export one function by default, exports {exports}"
            )
        return f"{text}\n{receiver}(exportedByDefault);\n"


def read_script(name: str, *files: str, isolated: bool = True) -> Script:
    """The module joined from ``files`` of this folder, with the style of its name."""
    js = "\n".join((FOLDER / file).read_text("utf-8") for file in files)
    return Script(name, js, (FOLDER / f"{name}.css").read_text("utf-8"), isolated)
