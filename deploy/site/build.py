"""Build of the static site: its page, scripts and parts as a folder or one HTML file."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, NamedTuple

import assets
from deploy.site import bundle, packed, rules
from deploy.site.bundle import bundled
from deploy.site.figures import template
from model.stored.folder import DEFAULT_MODEL, find_model_folder
from viz.browser.document import FOLDER as BROWSER
from viz.browser.document import FONT, PLOTLY, Script, declared, digest, read_script, whole
from viz.browser.explore import EXPLORE
from viz.browser.lines import LINES
from viz.browser.plot import PLOT
from viz.browser.steps import STEPS
from viz.browser.texts import FIRST, LANGUAGES, table
from viz.theme import THEMES

ESCAPE, SHIFT = 0x7E, 64
_SPECIAL = re.compile(rb"[\x00\r<~]")
ENCODING = "windows-1252"


def high() -> str:
    """The characters that a browser reads for the bytes from 128 on (WHATWG, Encoding).

    Five bytes have no character; they stay controls.

    Example:
        >>> high()[0]
        '€'
    """
    read = bytes(range(128, 256)).decode("cp1252", "surrogateescape")
    return "".join(chr(ord(each) & 0xFF) if each >= "\udc80" else each for each in read)


def written(content: bytes) -> bytes:
    """``content`` as bytes of the page.

    Example:
        >>> written(b"a<b")
        b'a~|b'
    """
    return _SPECIAL.sub(lambda found: bytes([ESCAPE, found[0][0] + SHIFT]), content)


def ascii_script(text: str) -> str:
    """A script or JSON in ASCII: other characters become escapes of their UTF-16 units.

    Example:
        >>> ascii_script('"가"')
        '"\\\\uac00"'
    """
    return "".join(each if each.isascii() else json.dumps(each).strip('"') for each in text)


HERE = Path(__file__).parent
COMPONENTS = HERE.parents[1] / "ui" / "components"
DRAWING = (PLOT, LINES, STEPS, EXPLORE)
# The parts that one worker opens the network with, and those that another one prepares for it, in this order.
OPENED_WITH = ("runtime", "known", "encode", "decode", "trees")
PREPARED = ("known", "weights", "ngrams", "words")
# Requests to the page's own folder, and modules that the page makes itself.
FOLDER_POLICY = "connect-src 'self'; manifest-src 'self'; worker-src 'self' blob:; img-src 'self' data: blob:"
FILE_POLICY = "worker-src blob:; img-src data: blob:"
POLICY = (
    "default-src 'none'; script-src {hashes} blob: 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
    "font-src data: blob:; {more}; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class PackedPart:
    """A file with which the page computes or draws, packed by zlib; ``file`` is its place in a folder."""

    name: str
    packed: bytes
    file: str = ""


# Components of the app.
WRITING = (
    read_script("live_text", "live_text.js", folder=COMPONENTS),
    read_script("correction", "dom.js", "copying.js", "correction.js", folder=COMPONENTS),
)


def page(content: Mapping[str, Any], parts: Mapping[str, PackedPart], *, alone: bool) -> bytes:
    """The HTML. ``content``: for ``js/page.js``; ``alone``: whether the page holds the parts.

    The part named library, which draws, is always there.
    """
    scripts = scripts_of(parts, DRAWING, "page.js", alone=alone)
    texts = [(each.kind, whole(ascii_script(each.text), "</script")) for each in scripts]
    library = zlib.decompress(parts["library"].packed).decode()
    hashes = [f"'sha256-{digest(text)}'" for text in (library, *(text for _, text in texts))]
    policy = POLICY.format(hashes=" ".join(hashes), more=FILE_POLICY if alone else FOLDER_POLICY)
    links = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n{"" if alone else LINKS}'
    pieces = [html(content, body(content["texts"]["ko"]), links, ENCODING if alone else "utf-8")]
    if alone:
        for part in parts.values():
            start = f'<script type="text/plain" id="part-{part.name}">'.encode()
            pieces.append(start + written(part.packed) + b"</script>\n")
    pieces += [f"<script{kind}>{text}</script>\n".encode("ascii") for kind, text in texts]
    return b"".join([*pieces, END])


class PageScript(NamedTuple):
    """A script of a page, with the attributes of its element."""

    name: str
    kind: str
    text: str


def scripts_of(
    parts: Mapping[str, PackedPart],
    drawing: Sequence[Script],
    entry: str,
    *,
    alone: bool = False,
    files: Mapping[str, str] = MappingProxyType({}),
) -> list[PageScript]:
    """The scripts of a page in their order.

    Args:
        drawing: scripts beside those of the components, as ``viz`` has them.
        entry: of ``js/``; its ``begin`` starts the page.
        files: of the scripts that the page makes no element for: the file of each by its part's name.
    """
    module = ' type="module"'
    components = [
        PageScript(each.name, module, each.handed_to(f'window.register("{each.name}")'))
        for each in (*WRITING, *drawing)
    ]
    start = f"{bundled(entry, 'page')}page.begin({str(not (alone or files)).lower()});\n"
    begun = PageScript(entry.partition(".")[0], module, start)
    return [PageScript("shell", "", _shell(parts, files, alone)), *components, begun]


def html(content: Mapping[str, Any], inside: str, links: str, charset: str = "utf-8") -> bytes:
    """A page up to its scripts; ``inside`` its body."""
    styles = [(BROWSER / "page.css").read_text("utf-8"), *(script.css for script in DRAWING)]
    text = filled(
        "page",
        charset=charset,
        fingerprint=escape(content["fingerprint"]),
        links=links,
        product=escape(content["texts"]["ko"]["product"]),
        styles=_style("\n".join([*styles, (HERE / "site.css").read_text("utf-8")])),
        inside=inside,
        content=base64.b64encode(zlib.compress(json.dumps(content).encode(), 9)).decode(),
    )
    return text.encode("ascii", "xmlcharrefreplace")


def filled(name: str, **values: str) -> str:
    """A template of this folder with its values, which are HTML."""
    return Template((HERE / f"{name}.html").read_text("utf-8")).substitute(values)


def _shell(parts: Mapping[str, PackedPart], files: Mapping[str, str], alone: bool) -> str:
    """The first script, with where the parts are."""
    is_here = alone or bool(files)  # nothing is fetched from a host
    listed = {
        part.name: {"file": part.file, "size": 0 if is_here else len(part.packed)} for part in parts.values()
    }
    spelling = {"high": high(), "escape": ESCAPE, "shift": SHIFT}
    known = {
        "PARTS": listed,
        "SCRIPTS": dict(files),
        "SPELLING": spelling,
        "OPENED_WITH": OPENED_WITH,
        "PREPARED": PREPARED,
        "COMPUTED_WITH": list(dict.fromkeys((*OPENED_WITH, *PREPARED))),
    }
    return f"{declared(known)}\n{bundled('shell.js')}"


LINKS = '<link rel="manifest" href="manifest.webmanifest">\n<link rel="icon" href="icon.svg">\n'
END = b"</body>\n</html>\n"


def _style(text: str) -> str:
    """A style in ASCII: other characters become escapes."""
    return whole("".join(each if each.isascii() else rf"\{ord(each):x} " for each in text), "</style")


def body(texts: Mapping[str, str]) -> str:
    """The places of the site's own page."""
    known = {"product": escape(texts["product"]), "no_script": escape(texts["take_away_no_script"])}
    return filled("main", writing=writing(), explorer=EXPLORE.html, **known)


def writing() -> str:
    """The places of the text, of its correction and of the network's state.

    The first two have their style to themselves.
    """
    live, correction = WRITING
    styles = {"live_style": _style(live.css), "correction_style": _style(correction.css)}
    return filled("writing", correction=correction.html, **styles)


PARTS_FOLDER = "parts"


class Site(NamedTuple):
    """The parts and the content of a page."""

    parts: dict[str, PackedPart]  # packed, by name
    content: dict[str, Any]  # for js/page.js


def make(model: str = DEFAULT_MODEL) -> Site:
    """Gather the parts of a model's page, which takes some seconds.

    Raises ModelFolderError, ValueError (``packed.light_corrector``) and ``bundle.PackagesMissing``.
    """
    found, known = packed.parts_of(find_model_folder(model))
    found |= {
        "library": bundle.parsed_at_once(PLOTLY.read_text("utf-8")).encode(),
        "font": FONT.read_bytes(),
        "runtime": bundle.runtime_program(),
        "worker": bundle.bundled("worker.js").encode(),
        "known": json.dumps(known | {"rules": rules.rules()}, ensure_ascii=False).encode(),
    }
    return Site({name: _part(name, content) for name, content in found.items()}, _content(model, known))


def write_folder(site: Site, out: Path) -> None:
    """Write the folder; files that it holds from before are replaced."""
    parts, content = site
    for old in (out / PARTS_FOLDER).glob("*.bin"):
        old.unlink()
    name = content["texts"]["ko"]["product"]
    manifest = {"name": name, "short_name": name}
    manifest |= json.loads((HERE / "manifest.json").read_text("utf-8"))
    files = {
        "index.html": page(content, parts, alone=False),
        "manifest.webmanifest": json.dumps(manifest, ensure_ascii=False).encode(),
        "icon.svg": (HERE / "icon.svg").read_bytes(),
    }
    listed = ["./", *files, *(part.file for part in parts.values())]
    version = hashlib.sha256(b"".join(files.values())).hexdigest()[:12]
    known = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(listed)};\n"
    files["service.js"] = (known + (bundle.SCRIPTS / "service.js").read_text("utf-8")).encode()
    files[".nojekyll"] = b""  # GitHub serves the files as they are
    write_files(files | {part.file: part.packed for part in parts.values()}, out)


def write_files(files: Mapping[str, bytes], out: Path) -> None:
    """Write files by their places in a folder."""
    for name, content in files.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(content)


def _part(name: str, content: bytes) -> PackedPart:
    short = zlib.compress(content, 9)
    mark = hashlib.sha256(short).hexdigest()[:10]  # another content is another address, which no cache knows
    return PackedPart(name, short, f"{PARTS_FOLDER}/{name}-{mark}.bin")


def _content(model: str, known: dict[str, Any]) -> dict[str, Any]:
    """The content that js/page.js starts with."""
    examples = json.loads((assets.FOLDER / "examples.json").read_text("utf-8"))
    corrector = packed.light_corrector(model)
    trace = corrector.correct(examples[0]["text"]).trace
    return {
        "fingerprint": corrector.fingerprint,
        "texts": texts_of([each["id"] for each in examples]),
        "figures": {
            language: {
                theme: template(_say(language), trace, theme, corrector.config.d_model) for theme in THEMES
            }
            for language in LANGUAGES
        },
        # explore.js counts layers and heads from 0
        "first": {name: int(each) - 1 if each.isdigit() else each for name, each in assets.FIRST_MAP.items()},
        "width": known["config"]["d_model"],
        "examples": examples,
        "stored": [packed.stored_answer(corrector, examples[0]["text"])],
    }


def _say(language: str) -> Callable[..., str]:
    return lambda key, /, **values: table(language)[key].format(**values)


def texts_of(examples: list[str]) -> dict[str, dict[str, str]]:
    """Language -> key -> text, of all that the page says. ``examples``: the names of the sentences that it
    offers.
    """
    named = (HERE / "texts.txt").read_text("utf-8").split()
    own = [key for key in table(FIRST) if key.startswith("site_")]
    keys = [*named, *own, *(f"example_{each}" for each in examples)]
    return {language: {key: table(language)[key] for key in keys} for language in LANGUAGES}
