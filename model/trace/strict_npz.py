"""Strict reader and writer of ``.npz`` files with known arrays and JSON.

A hostile file is refused before it can do harm. NumPy allocates whatever size a file claims before it reads
it. Here each claim is compared with the size of the file first, and nothing is unpickled.

safetensors is as safe, but readers of a trace would need one more library, while NumPy opens this file. Its
files are not compressed (a trace would be a fifth larger), and the shapes and the JSON would have to be
checked here, too.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

# Limits for a file from an unknown sender. One's own files have none.
MOST_BYTES = 20 * 2**20  # of a file
MOST_UNPACKED = 256 * 2**20  # of everything in it
MOST_WORDS = 8 * 2**20  # of its JSON
FILE = "the file"  # the name in a TraceError where no single field is wrong
THINNED = "dataclasses.replace(trace, encoder_attention=trace.encoder_attention[-2:])"
THINNER = f"Save fewer layers or heads, such as {THINNED}"
_LONGEST_HEADER = 1_000  # bytes; NumPy's own have about 120
_WORDS = "words"  # the JSON, as an array of its bytes
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # those that unpack no more than is read


class TraceError(ValueError):
    """A field of a trace, or the file that should hold one, is wrong; the message says how.

    ``advice`` names a remedy.
    """

    def __init__(self, field: str, expected: str, received: object, advice: str = ""):
        text = str(received)
        told = f"{field} should {expected}, received {text[:200]}{'…' * (len(text) > 200)}"
        super().__init__(f"{told}. {advice}." if advice else told)
        self.field = field


def write(path: str | Path | BinaryIO, arrays: Mapping[str, np.ndarray], words: object) -> None:
    """Write ``arrays`` as float32 and ``words`` as JSON, however large they are."""
    file = io.BytesIO()
    np.savez_compressed(file, **packed(arrays, words))
    if isinstance(path, str | Path):
        Path(path).write_bytes(file.getvalue())
    else:
        path.write(file.getvalue())


def packed(arrays: Mapping[str, np.ndarray], words: object) -> dict[str, Any]:
    """The members of such a file by name."""
    data = np.frombuffer(json.dumps(words).encode("ascii"), np.uint8)
    return {**{name: np.ascontiguousarray(value, np.float32) for name, value in arrays.items()}, _WORDS: data}


def read(
    path: str | Path | BinaryIO, ranks: Mapping[str, int], limited: bool, beside: Iterable[str] = ()
) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    """(arrays, words): float32 arrays by name, and the JSON beside them.

    ``ranks``: the number of dimensions of each array, by name; the file may lack some. ``limited``: whether a
    file of more than MOST_BYTES, or of more than MOST_UNPACKED unpacked, is refused. ``beside``: names of
    other members that the file may have; they are not unpacked.

    Raises TraceError for anything else, and OSError for a missing file.
    """
    most = MOST_BYTES + 1 if limited else -1
    if isinstance(path, str | Path):
        with Path(path).open("rb") as file:
            content = file.read(most)
    else:
        content = path.read(most)
    if limited and len(content) > MOST_BYTES:
        raise TraceError(FILE, f"have at most {MOST_BYTES:,} bytes", "more", THINNER)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = _members(archive, {*ranks, _WORDS, *beside}, limited)
            arrays = {
                name: _array(archive, members[name], name, ranks.get(name, 1))
                for name in (*ranks, _WORDS)
                if name in members
            }
    except TraceError:
        raise
    except Exception as error:  # a dozen kinds, depending on which byte is wrong
        raise TraceError(FILE, "be an .npz archive", f"a damaged one: {error}") from error
    return arrays, _words(arrays.pop(_WORDS))


def _members(archive: zipfile.ZipFile, known: set[str], limited: bool) -> dict[str, zipfile.ZipInfo]:
    """The parts of the archive by their name, once their names and their sizes are right."""
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    if len(members) != len(archive.infolist()):
        raise TraceError(FILE, "hold every array once", "one twice")
    if any(info.compress_type not in _METHODS for info in members.values()):
        raise TraceError(FILE, "be stored or deflated", "another method")
    if strange := sorted(members.keys() - known):
        raise TraceError(strange[0], "be a field of a trace", "a name that is none")
    if _WORDS not in members:
        raise TraceError(_WORDS, "be there", "none")
    if limited and members[_WORDS].file_size > MOST_WORDS:
        raise TraceError(_WORDS, f"have at most {MOST_WORDS:,} bytes", f"{members[_WORDS].file_size:,}")
    unpacked = sum(info.file_size for info in members.values())
    if limited and unpacked > MOST_UNPACKED:
        raise TraceError(FILE, f"unpack to at most {MOST_UNPACKED:,} bytes", f"{unpacked:,}", THINNER)
    return members


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, rank: int) -> np.ndarray:
    with archive.open(info) as part:
        version = np.lib.format.read_magic(part)
        if version != (1, 0):  # later ones have headers of gigabytes
            raise TraceError(name, "be an array of .npy version 1.0", version)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(part, max_header_size=_LONGEST_HEADER)
        kinds = "u" if name == _WORDS else "f"
        if dtype.kind not in kinds or dtype.itemsize > 8:
            raise TraceError(name, f"be of {'bytes' if name == _WORDS else 'floats'}", f"dtype {dtype}")
        if len(shape) != rank:
            raise TraceError(name, f"have {rank} dimensions", f"the shape {shape}")
        size = math.prod(shape) * dtype.itemsize  # of Python's integers, which do not overflow
        if part.tell() + size != info.file_size:
            left = info.file_size - part.tell()
            raise TraceError(name, f"hold the {size:,} bytes of its shape {shape}", f"{left:,}")
        data = part.read(size)  # no more: the packed bytes may go on for gigabytes
    values = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    return values if name == _WORDS else np.ascontiguousarray(values, np.float32)


def _words(data: np.ndarray) -> dict[str, object]:
    try:
        words = json.loads(data.tobytes())
    except (ValueError, RecursionError) as error:
        raise TraceError(_WORDS, "be JSON", str(error)) from error
    if not isinstance(words, dict):
        raise TraceError(_WORDS, "be a JSON object", type(words).__name__)
    return words
