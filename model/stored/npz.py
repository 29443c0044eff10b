"""Reads the arrays of an ``.npz`` file as fast as they can be unpacked."""

import io
import zipfile
from pathlib import Path

import numpy as np


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file by name, read-only.

    Each is unpacked in one piece and not copied. ``np.load`` unpacks it in small pieces and asks for Python's lock before each of them,
    which other threads of a starting worker hold.

    >>> from assets import FOLDER
    >>> read_npz(FOLDER / "transformer" / "weights.npz")["transformer/encoder_norm/gamma"].shape
    (128,)

    Raises OSError where there is no file, and what zipfile and NumPy raise for a damaged one: a dozen kinds, depending on the byte.
    """
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            file = io.BytesIO(content)
            if np.lib.format.read_magic(file) != (1, 0):  # later ones are for fields with names
                raise ValueError(f"{name} should be an array of .npy version 1.0")
            shape, fortran, kind = np.lib.format.read_array_header_1_0(file)
            values = np.frombuffer(content, kind, offset=file.tell())
            found[name.removesuffix(".npy")] = values.reshape(shape, order="F" if fortran else "C")
    return found
