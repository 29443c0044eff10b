"""An HTML file that needs nothing but itself: text, figures, components, font and the library that draws.

No request can leave it: its content security policy forbids all, and lets only those scripts run that were
written here, named by their hashes. What a person typed arrives escaped or inside blocks of JSON.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

_FOLDER = Path(__file__).parent
_PLOTLY = next((_FOLDER.parents[1] / "static").glob("plotly-*.js"))
_FONT = _FOLDER.parents[1] / "static" / "NotoSansKR-subset.woff2"
_EXPORT = re.compile(r"^export default ", re.MULTILINE)


@dataclass(frozen=True)
class Component:
    """A component of the app as its parts: what ``st.components.v2.component`` gets, and its data."""

    name: str  # ASCII, once a document
    js: str  # a module without imports that exports one function by default
    data: dict
    html: str = ""
    css: str = ""
    isolated: bool = True  # whether it has its style to itself


def component(part: Component) -> str:
    """The place of a component."""
    if not part.isolated:
        return f'<style>{_whole(part.css, "</style")}</style><div id="{part.name}">{part.html}</div>'
    return (
        f'<div id="{part.name}"><template shadowrootmode="open"><style>{_whole(part.css, "</style")}</style>'
        f"{part.html}</template></div>"
    )


def document(
    *, language: str, theme: str, title: str, body: str, no_script: str, components: Sequence[Component]
) -> bytes:
    """The file: ``body`` is HTML that holds a place for each component that shows something.

    ``title`` and ``no_script`` (said where scripts are switched off) are plain text.
    Raises ValueError for a component whose script does not export exactly one function by default.
    """
    scripts = [("", _PLOTLY.read_text("utf-8")), ("", _read("parts.js"))]
    scripts += [(' type="module"', _started(part)) for part in components]
    scripts = [(kind, _whole(text, "</script")) for kind, text in scripts]
    hashes = " ".join(f"'sha256-{_hash(text)}'" for _, text in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; font-src data:; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    text = "".join(
        [
            f'<!DOCTYPE html>\n<html lang="{language}" data-theme="{theme}">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}</title>\n",
            f"<style>{_font_face()}\n{_read('page.css')}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n",
            f'<noscript><p class="note">{escape(no_script)}</p></noscript>\n',
            *(_data_block(part.name, json.dumps(part.data)) + "\n" for part in components),
            *(f"<script{kind}>{script}</script>\n" for kind, script in scripts),
            "</body>\n</html>\n",
        ]
    )
    return text.encode("utf-8", "backslashreplace")


def _started(part: Component) -> str:
    """The component's script with a call of what it exports, once the font is there: there is no file to import it
    from, and Plotly measures the labels that it will show."""
    script, exports = _EXPORT.subn("const exportedByDefault = ", part.js)
    if exports != 1:
        raise ValueError(
            f"the component {part.name!r} should export one function by default, exports {exports}"
        )
    return f'{script}\nwindow.whenReady(() => exportedByDefault(window.componentParts("{part.name}")));\n'


def _data_block(name: str, content: str) -> str:
    # "<" would let a typed "</script>" end the block; inside JSON it can be spelled otherwise.
    return (
        f'<script type="application/json" id="{name}-data">{content.replace("<", chr(92) + "u003c")}</script>'
    )


def _whole(text: str, end: str) -> str:
    """``text`` as a browser reads it; raises ValueError where it would end its element before its end."""
    if end in text.lower():
        raise ValueError(f"{text[:40]!r}… holds {end!r}, which would end it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (_FOLDER / name).read_text("utf-8")


@cache
def _font_face() -> str:
    """The Hangul font of the app, all of it: any syllable may be in the sentence."""
    font = base64.b64encode(_FONT.read_bytes()).decode()
    return (
        "@font-face { font-family: 'Noto Sans KR'; "
        f"src: url(data:font/woff2;base64,{font}) format('woff2'); }}"
    )
