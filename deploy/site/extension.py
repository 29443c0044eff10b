"""Browser extension (Manifest V3) of the site: a popup that corrects marked text in a tab.

Extensions may run scripts only from their own files, so the scripts of the pages and the worker's are files
here. Nothing is fetched from a host.

Reference:
    https://developer.chrome.com/docs/extensions/reference/manifest
"""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.site import build
from package import __version__
from viz.browser.texts import FIRST

SCRIPTS = {"worker": "worker.js", "library": "library.js"}  # parts that are files here
DRAWN = ("library", "font")  # parts that the popup does without


def write_extension(site: build.Site, out: Path) -> None:
    """Write the extension's folder, which Chromium loads unpacked, and Firefox as a temporary add-on."""
    texts = site.content["texts"]
    parts = {name: part for name, part in site.parts.items() if name not in SCRIPTS}
    files: dict[str, bytes] = {
        file: zlib.decompress(site.parts[name].packed) for name, file in SCRIPTS.items()
    }
    files |= {part.file: part.packed for part in parts.values()}
    files |= {"icon.svg": (build.HERE / "icon.svg").read_bytes(), "manifest.json": _json(manifest())}
    for language, say in texts.items():
        messages = {"name": {"message": say["product"]}, "about": {"message": say["site_private"]}}
        files[f"_locales/{language}/messages.json"] = _json(messages)
    files |= _page("index.html", build.body(texts[FIRST]), site, parts, SCRIPTS)
    without = {name: part for name, part in parts.items() if name not in DRAWN}
    popup = build.filled("popup", writing=build.writing())
    files |= _page("popup.html", popup, site, without, {"worker": SCRIPTS["worker"]})
    build.write_files(files, out)


def manifest() -> dict[str, Any]:
    """The manifest, which both browsers read.

    It may read the tab in which its button was pressed, until that is left.
    """
    known = json.loads((build.HERE / "extension.json").read_text("utf-8"))
    return {**known, "version": __version__, "default_locale": FIRST}


def _page(
    name: str, body: str, site: build.Site, parts: Mapping[str, build.PackedPart], files: Mapping[str, str]
) -> dict[str, bytes]:
    """A page and its scripts by the names of their files."""
    is_whole = "library" in files
    entry = "page.js" if is_whole else "popup.js"
    scripts = build.scripts_of(parts, build.DRAWING if is_whole else (), entry, files=files)
    prefix = name.partition(".")[0]
    found = {f"{prefix}-{each.name}.js": each.text.encode() for each in scripts}
    elements = (f'<script{each.kind} src="{prefix}-{each.name}.js"></script>\n' for each in scripts)
    found[name] = build.html(site.content, body, "") + "".join(elements).encode() + build.END
    return found


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()
