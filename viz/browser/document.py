"""Standalone HTML file: scripts, Plotly, font and data inside."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType

import assets
from viz.labels import NARROW_EM
from viz.theme import FONT_FAMILY, PNG_SCALE, TYPE_SIZE, palette

PLOTLY = next(assets.STATIC.glob("plotly-*.js"))
FONT = assets.STATIC / "NotoSansKR-subset.woff2"
FOLDER = Path(__file__).parent
_EXPORT = re.compile(r"^export default ", re.MULTILINE)
_NAMED_EXPORT = re.compile(r"^export (?=function|const)", re.MULTILINE)


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
        """The place that the script draws in."""
        return f'<div class="{self.name}"></div>'

    def handed_to(self, receiver: str) -> str:
        """The script for a page that cannot import it from a file: at its end it calls ``receiver`` with its
        export.

        Raises:
            ValueError: it does not export exactly one function by default.
        """
        text, exports = with_named_export(self.js)
        if exports != 1:
            raise ValueError(
                f"the component {self.name!r} should export one function by default, exports {exports}"
            )
        return f"{text}\n{receiver}(exportedByDefault);\n"


def with_named_export(js: str) -> tuple[str, int]:
    """The script with its default export as the constant ``exportedByDefault``, and how many it had.

    Example:
        >>> with_named_export("export default (given) => given;")
        ('const exportedByDefault = (given) => given;', 1)
    """
    return _EXPORT.subn("const exportedByDefault = ", js)


def read_script(
    name: str,
    *files: str,
    folder: Path = FOLDER,
    isolated: bool = True,
    constants: Mapping[str, object] = MappingProxyType({}),
) -> Script:
    """The module joined from ``files``, with the style of its name. It begins with ``constants``.

    Args:
        files: names in ``folder``, or of scripts in this folder that others share. Their named exports, which
            only a bundler reads, are taken away.

    Raises:
        FileNotFoundError: a script or a style that does not exist.
    """
    paths = (
        next((at / file for at in (folder, FOLDER) if (at / file).exists()), FOLDER / file) for file in files
    )
    sources = (_NAMED_EXPORT.sub("", path.read_text("utf-8")) for path in paths)
    style = (folder / f"{name}.css").read_text("utf-8")
    return Script(name, "\n".join([declared(constants), *sources]), style, isolated)


def declared(constants: Mapping[str, object]) -> str:
    """Constants that Python and a script share, as JavaScript.

    Example:
        >>> declared({"MOST_HEADS": 8})
        'const MOST_HEADS = 8;'
    """
    return "\n".join(f"const {name} = {json.dumps(value)};" for name, value in constants.items())


def served(file: Path) -> str:
    """Where a browser finds a shipped file: beside the app, as .streamlit/config.toml serves it.

    Example:
        >>> served(Path("static/font.woff2"))
        'app/static/font.woff2'
    """
    return f"app/static/{file.name}"


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

    ``title`` and ``no_script`` (shown if scripts are switched off) are plain text. ``used`` are scripts
    without a place of their own, which a component starts. Without ``font`` the reader's own fonts are used.

    Raises:
        ValueError: a script that does not export exactly one function by default.
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
            f'<!DOCTYPE html>\n<html lang="{language}" data-theme="{theme}">\n<head>\n',
            '<meta charset="utf-8">\n',
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

    Example:
        >>> whole("a\\r\\nb", "</style")
        'a\\nb'
    """
    if end in text.lower():
        raise ValueError(f"{text[:40]!r}… holds {end!r}, which would end it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def digest(text: str) -> str:
    """Of a script, as a content security policy names it.

    Example:
        >>> digest("")
        '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


@cache
def _library() -> str:
    """Plotly, which ``parts.js`` runs as a separate script."""
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


# Constants of save.js and type.js, declared before the scripts of drawings.
SAVING = {"PNG_SCALE": PNG_SCALE}
TYPE = {"USUAL_TYPE": TYPE_SIZE, "NARROW_EM": NARROW_EM}


def appearance(theme: str, file: str, *colours: str) -> dict:
    """``colours`` of the theme by their names, and the picture that is saved as ``file``, without ending.

    Example:
        >>> sorted(appearance("light", "steps", "text", "grid")["colours"])
        ['grid', 'text']
    """
    of_theme = palette(theme)
    return {
        "colours": {name: getattr(of_theme, name) for name in colours},
        "picture": {
            "name": file,
            "ground": of_theme.sequential[0],
            "font": FONT_FAMILY,
            "font_file": served(FONT),
        },
    }


def without_font_file(data: dict) -> dict:
    """For a file, which fetches nothing: the pictures that it saves are drawn with the fonts of the system.

    Example:
        >>> without_font_file({"picture": {"font_file": "a.woff2"}})
        {'picture': {'font_file': None}}
    """
    return data | {"picture": data["picture"] | {"font_file": None}}
