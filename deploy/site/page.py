"""The page itself: HTML, styles and scripts, for a folder or as the one file."""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from deploy.site import one_file
from deploy.site.bundle import bundled
from viz.browser.document import FOLDER as BROWSER
from viz.browser.document import Script, declared, digest, whole
from viz.browser.explore import EXPLORE
from viz.browser.lines import LINES
from viz.browser.plot import PLOT
from viz.browser.steps import STEPS

HERE = Path(__file__).parent
COMPONENTS = HERE.parents[1] / "ui" / "components"
DRAWING = (PLOT, LINES, STEPS, EXPLORE)
# The parts that one worker opens the network with, and those that another one prepares for it, in this order.
OPENED_WITH = ("runtime", "known", "encode", "decode", "trees")
PREPARED = ("known", "weights", "ngrams", "words")
# Requests to the page's own folder, and modules that the page makes itself.
FOLDER_POLICY = {
    "connect-src": "'self'",
    "manifest-src": "'self'",
    "worker-src": "'self' blob:",
    "img-src": "'self' data: blob:",
}
FILE_POLICY = {"worker-src": "blob:", "img-src": "data: blob:"}


@dataclass(frozen=True)
class PackedPart:
    """Something that the page computes or draws with, packed by zlib; ``file`` is where it lies in a folder."""

    name: str
    packed: bytes
    file: str = ""


def _component(name: str, *before: str) -> Script:
    """A component of the app; the scripts ``before`` stand before its own."""
    js = "".join((COMPONENTS / f"{each}.js").read_text("utf-8") for each in (*before, name))
    return Script(name, js, (COMPONENTS / f"{name}.css").read_text("utf-8"))


WRITING = (_component("live_text"), _component("correction", "copying"))


def page(content: Mapping[str, Any], parts: Mapping[str, PackedPart], *, alone: bool) -> bytes:
    """The HTML. ``content`` is what ``js/page.js`` starts with; ``alone``: whether the parts stand in the page. The part that is
    named library, the one that draws, is always there."""
    modules = [
        (' type="module"', each.handed_to(f'window.register("{each.name}")')) for each in (*WRITING, *DRAWING)
    ]
    texts = [
        ("", _shell(parts, alone)),
        *modules,
        (' type="module"', f"{bundled('page.js', 'page')}page.begin({str(not alone).lower()});\n"),
    ]
    texts = [(kind, whole(one_file.ascii_script(text), "</script")) for kind, text in texts]
    library = zlib.decompress(parts["library"].packed).decode()
    hashes = [f"'sha256-{digest(text)}'" for text in (library, *(text for _, text in texts))]
    described = base64.b64encode(zlib.compress(json.dumps(content).encode(), 9)).decode()
    charset = one_file.ENCODING if alone else "utf-8"
    head = f"""<!DOCTYPE html>
<html lang="ko">
<head>
<meta charset="{charset}">
<meta name="network" content="{escape(content["fingerprint"])}">
<script type="text/plain" id="beginning"></script>
<meta http-equiv="Content-Security-Policy" content="{_policy(hashes, FILE_POLICY if alone else FOLDER_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
{"" if alone else _links()}<title>{escape(content["texts"]["ko"]["product"])}</title>
<style>{_styles()}</style>
</head>
<body>
"""
    body = _body(content["texts"]["ko"]) + f'<script type="text/plain" id="content">{described}</script>\n'
    pieces = [one_file.ascii_html(head + body)]
    if alone:
        pieces += [_held(part) for part in parts.values()]
    pieces += [f"<script{kind}>{text}</script>\n".encode("ascii") for kind, text in texts]
    return b"".join([*pieces, b"</body>\n</html>\n"])


def _held(part: PackedPart) -> bytes:
    return (
        f'<script type="text/plain" id="part-{part.name}">'.encode()
        + one_file.written(part.packed)
        + b"</script>\n"
    )


def _shell(parts: Mapping[str, PackedPart], alone: bool) -> str:
    """The first script, with where the parts are."""
    listed = {
        part.name: {"file": part.file, "size": 0 if alone else len(part.packed)} for part in parts.values()
    }
    spelling = {"high": one_file.high(), "escape": one_file.ESCAPE, "shift": one_file.SHIFT}
    known = {
        "PARTS": listed,
        "SPELLING": spelling,
        "OPENED_WITH": OPENED_WITH,
        "PREPARED": PREPARED,
        "COMPUTED_WITH": list(dict.fromkeys((*OPENED_WITH, *PREPARED))),
    }
    return f"{declared(known)}\n{bundled('shell.js')}"


def _policy(hashes: list[str], more: Mapping[str, str]) -> str:
    rules = {
        "default-src": "'none'",
        "script-src": f"{' '.join(hashes)} blob: 'wasm-unsafe-eval'",
        "style-src": "'unsafe-inline'",
        "font-src": "data: blob:",
        **more,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _links() -> str:
    return '<link rel="manifest" href="manifest.webmanifest">\n<link rel="icon" href="icon.svg">\n'


def _styles() -> str:
    texts = [(BROWSER / "page.css").read_text("utf-8"), *(script.css for script in DRAWING)]
    text = "\n".join([*texts, (HERE / "site.css").read_text("utf-8")])
    return whole(_ascii_style(text), "</style")


def _ascii_style(text: str) -> str:
    """A style, in which what is not ASCII is spelled by its number."""
    return "".join(each if each.isascii() else rf"\{ord(each):x} " for each in text)


def _body(texts: Mapping[str, str]) -> str:
    area = (
        '<label for="text"></label>'
        '<textarea id="text" spellcheck="false" autocomplete="off" lang="ko"></textarea><p role="status"></p>'
    )
    live, correction = WRITING
    return f"""<main>
<header><h1 data-text="product">{escape(texts["product"])}</h1>
<select id="example"></select>
<button type="button" id="lecture"></button>
<button type="button" id="theme"></button>
<select id="language"></select></header>
{_closed("live", live, area)}
{_closed("correction", correction, correction.html)}
<p id="status" role="status" data-open="no"></p>
<div id="explorer" hidden>{EXPLORE.html}</div>
<p class="note" data-text="site_private"></p>
<p class="note" data-text="site_left_out"></p>
<noscript><p class="note">{escape(texts["take_away_no_script"])}</p></noscript>
</main>
"""


def _closed(name: str, script: Script, html: str) -> str:
    """The place of a component that has its style to itself."""
    style = f"<style>{whole(_ascii_style(script.css), '</style')}</style>"
    return f'<div id="{name}"><template shadowrootmode="open">{style}{html}</template></div>'
