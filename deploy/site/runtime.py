"""ONNX Runtime for browsers, from the package registry that npm is set to, at one version with its checksum.

Only two of its files are used: the module that runs WebAssembly without other threads, and the program itself. They are kept in the
user's cache, so that a second build needs no registry. The binary is never part of the repository.
"""

import base64
import hashlib
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION = "onnxruntime-web", "1.30.0"
INTEGRITY = "sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
FILES = {
    "runtime_module": "ort.wasm.bundle.min.mjs",
    "runtime_program": "ort-wasm-simd-threaded.wasm",
}
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "see-attention"


class RuntimeMissing(Exception):
    """The package could not be fetched, or is not the one that was meant; the message says which."""


def runtime_parts(cache: Path = CACHE) -> dict[str, bytes]:
    """The two files by the names of FILES::

        runtime_parts()["runtime_program"][:4]  # b"\\0asm"

    Raises RuntimeMissing.
    """
    archive = cache / f"{PACKAGE}-{VERSION}.tgz"
    if not archive.is_file():
        _fetch(archive)
    _check(archive)
    with tarfile.open(archive) as files:
        return {name: _read(files, f"package/dist/{file}") for name, file in FILES.items()}


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
