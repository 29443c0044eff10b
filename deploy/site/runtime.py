"""ONNX Runtime for browsers, from the package registry that npm is set to, at one version with its checksum.

Only two of its files are used: the module that runs WebAssembly without other threads, and the program itself. They are kept in the
user's cache, so that a second build needs no registry. The binary is never part of the repository.
"""

import base64
import hashlib
import os
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

PACKAGE, VERSION = "onnxruntime-web", "1.30.0"
INTEGRITY = "sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
MODULE, PROGRAM = "ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"
NEEDED = ("InferenceSession", "Tensor", "env")  # of what the module exports
_EXPORTS = re.compile(r"export\{([^}]*)\};?")
# The module derives the program's address from its own. It is given the program, so the address is asked for by nobody.
_NO_ADDRESS = '"https://runtime.invalid/"'
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "see-attention"


class RuntimeMissing(Exception):
    """The package could not be fetched, or is not the one that was meant; the message says which."""


class Runtime(NamedTuple):
    script: str  # declares ``ort``
    program: bytes  # WebAssembly


def runtime(cache: Path = CACHE) -> Runtime:
    """The runtime as a script and its program::

        runtime().program[:4]  # b"\\0asm"

    Raises RuntimeMissing.
    """
    archive = cache / f"{PACKAGE}-{VERSION}.tgz"
    if not archive.is_file():
        _fetch(archive)
    _check(archive)
    with tarfile.open(archive) as files:
        module, program = (_read(files, f"package/dist/{file}") for file in (MODULE, PROGRAM))
    return Runtime(classic(module.decode()), program)


def classic(module: str) -> str:
    """A module as a script that declares ``ort``: a worker in a page that was opened from a file may not import modules.

    >>> classic("let a=1;export{a as Tensor,a as InferenceSession,a as env};")
    'const ort = (() => {let a=1;return {Tensor:a,InferenceSession:a,env:a};})();\\n'

    Raises RuntimeMissing for a module of another form.
    """
    found = _EXPORTS.findall(module)
    pairs = [each.split(" as ") for each in found[0].split(",")] if len(found) == 1 else []
    exported = {pair[-1]: pair[0] for pair in pairs}
    if not exported.keys() >= set(NEEDED):
        raise RuntimeMissing(f"{MODULE} should export {NEEDED} once, exports {[*exported]}")
    names = ",".join(f"{name}:{own}" for name, own in exported.items() if name in NEEDED)
    text = _EXPORTS.sub(f"return {{{names}}};", module).replace("import.meta.url", _NO_ADDRESS)
    return f"const ort = (() => {{{text}}})();\n"


def _read(files: tarfile.TarFile, path: str) -> bytes:
    found = files.extractfile(path)
    assert found is not None, path
    return found.read()


def _fetch(archive: Path) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        command = ["npm", "pack", f"{PACKAGE}@{VERSION}", "--pack-destination", folder, "--silent"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
        except FileNotFoundError as error:
            raise RuntimeMissing(
                "npm is needed to fetch the runtime (Debian: apt-get install npm)"
            ) from error
        except subprocess.SubprocessError as error:
            raise RuntimeMissing(
                f"npm could not fetch {PACKAGE}: {getattr(error, 'stderr', error)}"
            ) from error
        (fetched,) = Path(folder).glob("*.tgz")
        os.replace(fetched, archive)


def _check(archive: Path) -> None:
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if f"sha512-{found}" != INTEGRITY:
        archive.unlink()
        raise RuntimeMissing(f"{PACKAGE} {VERSION} has another checksum than {INTEGRITY}: sha512-{found}")
