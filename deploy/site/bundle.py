"""Build of the site's scripts: npm packages at locked versions, bundled by esbuild.

``package-lock.json`` pins esbuild and ONNX Runtime for browsers with their checksums, which npm verifies.
They are kept in the user's cache, so that a second build needs no registry. Neither is part of the
repository.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from deploy.site.figures import constants

SITE = Path(__file__).parent
SCRIPTS = SITE / "js"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "see-attention"
_LOCKED = ("package.json", "package-lock.json")
_PROGRAM = "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm"
# The runtime derives its program's address from its own. It is given the program, so nothing is requested
# from this address.
_NO_ADDRESS = '--define:import.meta.url="https://runtime.invalid/"'
# A library for all module systems: the function that makes it is passed to one that knows the system.
_MADE_BY = re.compile(r", \(\) => \{\n(.*)\n\}\)\);?\s*\Z", re.DOTALL)


class PackagesMissing(Exception):
    """npm did not install the locked packages, or esbuild did not bundle a script; the message says why."""


@cache
def packages(cache: Path = CACHE) -> Path:
    """The ``node_modules`` folder of the locked packages, installed once.

    Raises:
        PackagesMissing: npm is not installed, or it cannot fetch a package or refuses its checksum.
    """
    lock = b"".join((SITE / name).read_bytes() for name in _LOCKED)
    folder = cache / f"npm-{hashlib.sha256(lock).hexdigest()[:12]}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as place:
            for name in _LOCKED:
                shutil.copy(SITE / name, place)
            _run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", place])
            shutil.copytree(place, folder, symlinks=True, dirs_exist_ok=True)
    return folder / "node_modules"


def runtime_program() -> bytes:
    """The WebAssembly of ONNX Runtime, about 14 MB. Raises PackagesMissing."""
    return (packages() / _PROGRAM).read_bytes()


def bundled(entry: str, name: str = "") -> str:
    """A script of ``js/`` with its imports as one minified classic script, since a worker of a local file may
    not import modules.

    Args:
        entry: file name, such as ``worker.js``.
        name: global variable that gets the exports of ``entry``.

    Raises:
        PackagesMissing: the packages are missing, or an import or a syntax is wrong.
    """
    flags = ["--bundle", "--minify", "--format=iife", "--log-level=warning", _NO_ADDRESS]
    flags += [f"--define:{each}={json.dumps(value)}" for each, value in constants().items()]
    flags += [f"--global-name={name}"] if name else []
    program = packages() / ".bin" / "esbuild"
    return _run([str(program), str(SCRIPTS / entry), *flags], {"NODE_PATH": str(packages())})


def parsed_at_once(library: str) -> str:
    """A library whose making function is in parentheses. Without them a browser skims the function first and
    parses it again when it is called, which takes a fifth of a large library's start.

    Example:
        >>> parsed_at_once("(function(root, make) {make()}(this, () => {\\nlet a;\\n}));")
        '(function(root, make) {make()}(this, (() => {\\nlet a;\\n})));\\n'

    Raises:
        ValueError: a library of another form.
    """
    text, times = _MADE_BY.subn(lambda made: f", (() => {{\n{made[1]}\n}})));\n", library)
    if times != 1:
        raise ValueError(f"a library should end with the function that makes it, ends with {library[-40:]!r}")
    return text


def _run(command: list[str], variables: dict[str, str] | None = None) -> str:
    try:
        done = subprocess.run(
            command,
            check=True,
            capture_output=True,
            encoding="utf-8",
            timeout=600,
            env=os.environ | (variables or {}),
        )
    except FileNotFoundError as error:
        needed = f"{command[0]} is needed to build the site (Debian: apt-get install npm)"
        raise PackagesMissing(needed) from error
    except subprocess.SubprocessError as error:
        raise PackagesMissing(f"{command[0]} failed: {getattr(error, 'stderr', error)}") from error
    return done.stdout
