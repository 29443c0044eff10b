"""One folder per model: ``config.json``, ``vocabulary.txt``, ``weights.npz``. Nothing in it is code.

``weights.npz`` holds one float16 array for each variable, under the variable's path; NumPy reads it
with ``allow_pickle=False``, so a hostile file can at worst be refused. On reading, float16 differs
from the trained float32 by less than 0.1 %, which leaves the produced text as it is.
"""

import hashlib
import json
import os
from pathlib import Path

import numpy as np

from model.config import TransformerConfig
from model.tokenizer import Tokenizer

ASSETS = Path(__file__).resolve().parent.parent / "assets"
ARCHITECTURE = "transformer"
CONFIG_FILE, VOCABULARY_FILE, WEIGHTS_FILE = "config.json", "vocabulary.txt", "weights.npz"


class ModelFolderError(Exception):
    """A model folder is missing, damaged, truncated, or not one of ours; the message says which."""


def write_atomically(path: Path, write) -> None:
    """Call ``write(file)`` on a temporary neighbour and rename it, so that no reader sees half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with open(temporary, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def find_model_folder(model: str | Path) -> Path:
    """The folder of a model given by its name in ``assets/`` or by a path."""
    named = ASSETS / str(model)
    return named if named.is_dir() else Path(model)


def save_model_folder(folder: Path, network, tokenizer: Tokenizer) -> None:
    """Write a built network and its tokenizer; existing files of that model are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {w.path: np.asarray(w.value, np.float16) for w in network.weights}
    config = {"architecture": ARCHITECTURE, **network.config.to_dict()}
    config_text = json.dumps(config, indent=2) + "\n"
    vocabulary_text = "".join(f"{ord(c):04X} {c}\n" for c in tokenizer.characters)
    write_atomically(folder / WEIGHTS_FILE, lambda file: np.savez(file, **weights))
    write_atomically(folder / VOCABULARY_FILE, lambda file: file.write(vocabulary_text.encode()))
    write_atomically(folder / CONFIG_FILE, lambda file: file.write(config_text.encode()))


def load_model_folder(folder: Path):
    """(network, tokenizer, fingerprint) from a folder. Raises ModelFolderError with the reason.

    The fingerprint is 12 hexadecimal digits of a SHA-256 over the three files.
    """
    from model.transformer import Transformer  # loads TensorFlow, which takes seconds

    files = {name: _read(folder, name) for name in (CONFIG_FILE, VOCABULARY_FILE, WEIGHTS_FILE)}
    config = _parse_config(files[CONFIG_FILE], folder / CONFIG_FILE)
    tokenizer = load_vocabulary(folder / VOCABULARY_FILE)
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            f"{folder}: the vocabulary has {tokenizer.vocab_size} entries, the config says {config.vocab_size}"
        )
    network = Transformer(config, tokenizer.features())
    network.build()
    _assign(network, folder / WEIGHTS_FILE)
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()
    return network, tokenizer, digest[:12]


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{folder / name} cannot be read: {error.strerror}") from error


def _parse_config(raw: bytes, path: Path) -> TransformerConfig:
    try:
        values = json.loads(raw)
        architecture = values.pop("architecture")
        if architecture != ARCHITECTURE:
            raise ValueError(f"architecture {architecture!r} is not {ARCHITECTURE!r}")
        return TransformerConfig.from_dict(values)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ModelFolderError(f"{path} is not a model's config: {error!r}") from error


def load_vocabulary(path: Path) -> Tokenizer:
    """The tokenizer of one ``vocabulary.txt``: a code point in hexadecimal and the character a line."""
    raw = _read(path.parent, path.name)
    try:
        return Tokenizer(chr(int(line.split(" ", 1)[0], 16)) for line in raw.decode().split("\n") if line)
    except (ValueError, OverflowError) as error:
        raise ModelFolderError(f"{path} is not a vocabulary: {error}") from error


def _assign(network, path: Path) -> None:
    try:
        with np.load(path, allow_pickle=False) as archive:
            stored = {name: np.asarray(archive[name]) for name in archive.files}
    except Exception as error:  # zipfile and NumPy raise a dozen kinds, depending on which byte is wrong
        raise ModelFolderError(f"{path} is damaged or not a weights file: {error}") from error
    expected = {w.path: w for w in network.weights}
    if set(stored) != set(expected):
        odd = sorted(set(stored) ^ set(expected))
        raise ModelFolderError(
            f"{path} belongs to another network: {len(odd)} names differ, first {odd[0]!r}"
        )
    for name, variable in expected.items():
        array = stored[name]
        if array.shape != tuple(variable.shape) or array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ModelFolderError(
                f"{path}: {name} should be finite floats {tuple(variable.shape)}, "
                f"received {array.dtype} {array.shape}"
            )
        variable.assign(array.astype(np.float32))
