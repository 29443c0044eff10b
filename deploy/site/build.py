"""Puts everything together: a folder for any static host, or one file."""

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import assets
from deploy.site import bundle, packed, rules, stored
from deploy.site.figures import template
from deploy.site.page import PackedPart, page
from model.stored.folder import DEFAULT_MODEL, find_model_folder
from viz.browser.document import FONT, PLOTLY
from viz.browser.texts import FIRST, LANGUAGES, table
from viz.theme import THEMES

HERE = Path(__file__).parent
PARTS_FOLDER = "parts"
COLOURS = {"background_color": "#ffffff", "theme_color": "#0b57b0"}


class Site(NamedTuple):
    """Everything that a page is made of."""

    parts: dict[str, PackedPart]  # packed, by name
    content: dict[str, Any]  # what the page starts with


def make(model: str = DEFAULT_MODEL) -> Site:
    """Gather what a model's page is made of, which takes some seconds.

    Raises ModelFolderError, ValueError (``stored.light_corrector``) and ``bundle.PackagesMissing``.
    """
    found, known = packed.parts_of(find_model_folder(model))
    found |= {
        "library": bundle.parsed_at_once(PLOTLY.read_text("utf-8")).encode(),
        "font": FONT.read_bytes(),
        "runtime": bundle.runtime_program(),
        "worker": bundle.bundled("worker.js").encode(),
        "known": json.dumps(known | {"rules": rules.rules()}).encode(),
    }
    return Site({name: _part(name, content) for name, content in found.items()}, _content(model, known))


def write_folder(site: Site, out: Path) -> None:
    """Write the folder; files that it holds from before are replaced."""
    parts, content = site
    (out / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
    for old in (out / PARTS_FOLDER).glob("*.bin"):
        old.unlink()
    for part in parts.values():
        (out / part.file).write_bytes(part.packed)
    files = {
        "index.html": page(content, parts, alone=False),
        "manifest.webmanifest": _manifest(content["texts"]["ko"]["product"]),
        "icon.svg": (HERE / "icon.svg").read_bytes(),
    }
    listed = ["./", *files, *(part.file for part in parts.values())]
    version = hashlib.sha256(b"".join(files.values())).hexdigest()[:12]
    known = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(listed)};\n"
    files["service.js"] = (known + (bundle.SCRIPTS / "service.js").read_text("utf-8")).encode()
    files[".nojekyll"] = b""  # GitHub serves the files as they are
    for name, text in files.items():
        (out / name).write_bytes(text)


def one_file(site: Site) -> bytes:
    """The whole site as one HTML file."""
    return page(site.content, site.parts, alone=True)


def _part(name: str, content: bytes) -> PackedPart:
    short = zlib.compress(content, 9)
    mark = hashlib.sha256(short).hexdigest()[:10]  # another content is another address, which no cache knows
    return PackedPart(name, short, f"{PARTS_FOLDER}/{name}-{mark}.bin")


def _content(model: str, known: dict[str, Any]) -> dict[str, Any]:
    """What the page starts with."""
    examples = json.loads((assets.FOLDER / "examples.json").read_text("utf-8"))
    corrector = stored.light_corrector(model)
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
        "stored": [stored.stored_answer(corrector, examples[0]["text"])],
    }


def _say(language: str):
    return lambda key, /, **values: table(language)[key].format(**values)


def texts_of(examples: list[str]) -> dict[str, dict[str, str]]:
    """Language -> key -> text, of all that the page says. ``examples``: the names of the sentences that it offers."""
    named = (HERE / "texts.txt").read_text("utf-8").split()
    own = [key for key in table(FIRST) if key.startswith("site_")]
    keys = [*named, *own, *(f"example_{each}" for each in examples)]
    return {language: {key: table(language)[key] for key in keys} for language in LANGUAGES}


def _manifest(name: str) -> bytes:
    icon = {"src": "icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}
    content = {
        "name": name,
        "short_name": name,
        "start_url": "./",
        "display": "standalone",
        "icons": [icon],
        **COLOURS,
    }
    return json.dumps(content, ensure_ascii=False).encode()
