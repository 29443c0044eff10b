"""Writes an HTML file that needs no other file: text, figures, components, font, and Plotly in packed form.

Its content security policy forbids every request, and runs only the scripts written here, which it names by their hashes. Typed text
is escaped or stands in blocks of JSON.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

from viz.browser.script import FOLDER, FONT, PLOTLY, Script


@dataclass(frozen=True)
class Component:
    """One place in which a script draws its data."""

    name: str  # ASCII, once a document
    script: Script
    data: dict


def component(part: Component) -> str:
    """The place of a component."""
    script = part.script
    style = f"<style>{whole(script.css, '</style')}</style>"
    if not script.isolated:
        return f'{style}<div id="{part.name}">{script.html}</div>'
    return f'<div id="{part.name}"><template shadowrootmode="open">{style}{script.html}</template></div>'


def document(
    *,
    language: str,
    theme: str,
    title: str,
    body: str,
    no_script: str,
    components: Sequence[Component],
    used: Sequence[Script] = (),
    font: bool = True,
) -> bytes:
    """The file: ``body`` is HTML with a place for each component that shows something.

    ``title`` and ``no_script`` (shown if scripts are switched off) are plain text. ``used`` are scripts without a place of
    their own, which a component starts. Without ``font`` the reader's own fonts are used.
    Raises ValueError for a script that does not export exactly one function by default.
    """
    modules = {script.name: script for script in (*used, *(part.script for part in components))}
    scripts = [("", _read("parts.js"))]
    scripts += [
        (' type="module"', script.handed_to(f'window.register("{script.name}")'))
        for script in modules.values()
    ]
    scripts = [(kind, whole(text, "</script")) for kind, text in scripts]
    hashes = " ".join(f"'sha256-{digest(text)}'" for text in (_library(), *(text for _, text in scripts)))
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
            f"<style>{_font_face() if font else ''}\n{_read('page.css')}",
            *(whole(script.css, "</style") for script in used),
            "</style>\n</head>\n<body>\n",
            f"<main>\n{body}\n</main>\n",
            f'<noscript><p class="note">{escape(no_script)}</p></noscript>\n',
            *(_data_block(part) + "\n" for part in components),
            f'<script type="text/plain" id="library">{_packed_library()}</script>\n',
            *(f"<script{kind}>{script}</script>\n" for kind, script in scripts),
            "</body>\n</html>\n",
        ]
    )
    return text.encode("utf-8", "backslashreplace")


def _data_block(part: Component) -> str:
    # "<" would let a typed "</script>" end the block; inside JSON it can be spelled otherwise.
    content = json.dumps(part.data).replace("<", "\\u003c")
    names = f'data-component="{part.script.name}" data-place="{part.name}"'
    return f'<script type="application/json" {names}>{content}</script>'


def whole(text: str, end: str) -> str:
    """``text`` as a browser reads it. Raises ValueError for text that would end its HTML element too early.

    >>> whole("a\\r\\nb", "</style")
    'a\\nb'
    """
    if end in text.lower():
        raise ValueError(f"{text[:40]!r}… holds {end!r}, which would end it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def digest(text: str) -> str:
    """Of a script, as a content security policy names it.

    >>> digest("")
    '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


@cache
def _library() -> str:
    """Plotly, which ``parts.js`` runs as a script of its own."""
    return PLOTLY.read_text("utf-8")


@cache
def _packed_library() -> str:
    """A third of its size, since it is most of the page."""
    return base64.b64encode(zlib.compress(_library().encode(), 9)).decode()


@cache
def _font_face() -> str:
    """The Hangul font of the app, all of it: any syllable may be in the sentence."""
    font = base64.b64encode(FONT.read_bytes()).decode()
    return (
        "@font-face { font-family: 'Noto Sans KR'; "
        f"src: url(data:font/woff2;base64,{font}) format('woff2'); }}"
    )
