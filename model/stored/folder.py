"""Model folder: reads and writes ``config.json``, ``vocabulary.txt`` and ``weights.npz``.

A folder holds no code.

``graph/`` may hold the ONNX graphs that answer (``model/graph/files.py``); ``confidence.json``,
``words.txt.gz`` and ``ngrams.npz`` say how sure a change is (``model/correction/confidence.py``).

``weights.npz`` holds one float16 array for each variable, under the variable's path; NumPy reads it
with ``allow_pickle=False``, so a hostile file can at worst be refused. The float16 differs
from the trained float32 by less than 0.1%, which leaves the produced text as it is.

A folder may also hold earlier weights of the network, in the same form: ``snapshots/<step>.npz``, those after
that many optimiser steps.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

import assets
from model.stored.config import CONFIGS, NetworkConfig
from model.text.tokenizer import Tokenizer


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file by name.

    >>> from assets import FOLDER
    >>> read_npz(FOLDER / "transformer" / "weights.npz")["transformer/encoder_norm/gamma"].shape
    (128,)

    Raises OSError where there is no file, and what zipfile and NumPy raise for a damaged one: a dozen kinds,
    depending on the byte.
    """
    with np.load(path, allow_pickle=False) as file:
        found = dict(file)
    if odd := [name for name, array in found.items() if not isinstance(array, np.ndarray)]:
        raise ValueError(f"{odd[0]} should be an array")
    return found


ASSETS = assets.FOLDER
ARCHITECTURES = tuple(CONFIGS)
CONFIG_FILE, VOCABULARY_FILE, WEIGHTS_FILE = "config.json", "vocabulary.txt", "weights.npz"
SNAPSHOTS = "snapshots"
CONFIDENCE_FILE = "confidence.json"
WORDS_FILE = "words.txt.gz"
NGRAMS_FILE = "ngrams.npz"
CONFIDENCE_FILES = (CONFIDENCE_FILE, WORDS_FILE, NGRAMS_FILE)
DEFAULT_MODEL = "transformer"
RUN_MODEL = "model"  # where a training run's folder keeps its model


class ModelFolderError(Exception):
    """A model folder is missing, damaged, truncated, or not one of ours; the message says which."""


class ModelEntry(NamedTuple):
    """One model on disk."""

    name: str
    path: Path | str  # the folder that ``load_model_folder`` reads; of a TracedModel "package.module:factory"
    architecture: str | None  # one of ARCHITECTURES, or None where the config cannot be read
    problem: str | None  # why the model cannot be loaded; None if nothing wrong was found


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Call ``write(file)`` on a temporary neighbour and rename it, so that no reader sees half a file.

    A file that is replaced keeps its permissions; a link to one stays. If ``write`` fails, the old file is
    whole, and nothing lies beside it.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # a pipe, or the terminal
        with path.open("wb") as file:
            write(file)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def find_model_folder(model: str | Path) -> Path:
    """The folder of a model, by its name in ``assets/`` or by a path.

    The path may be that of the training run that holds it.
    """
    named = ASSETS / str(model)
    folder = named if named.is_dir() else Path(model)
    return _held_by(folder) or folder


def model_name(folder: Path) -> str:
    """The name of a model: that of its folder, or of the training run that wrote it."""
    folder = folder.absolute()
    return folder.parent.name if folder.name == RUN_MODEL else folder.name


def _held_by(folder: Path) -> Path | None:
    places = (folder, folder / RUN_MODEL)
    return next((place for place in places if (place / CONFIG_FILE).is_file()), None)


def list_models(*roots: Path) -> tuple[ModelEntry, ...]:
    """The models and training runs directly inside each root, by name; a missing root has none.

    Loads no TensorFlow and reads no weights.
    """
    return tuple(map(read_entry, model_folders(*roots)))


def model_folders(*roots: Path) -> tuple[Path, ...]:
    """Where the models of ``list_models`` lie; none of their files is opened."""
    folders = (sorted(root.iterdir()) if root.is_dir() else () for root in roots)
    found = (_held_by(folder) for each in folders for folder in each)
    return tuple(folder for folder in found if folder is not None)


def read_entry(folder: Path) -> ModelEntry:
    """The ``ModelEntry`` of one model folder."""
    architecture = problem = None
    try:
        architecture = read_config(folder).architecture
        read_description(folder)
        if not (folder / WEIGHTS_FILE).is_file():
            raise ModelFolderError(f"{folder / WEIGHTS_FILE} is missing")
    except ModelFolderError as error:
        problem = str(error).replace(str(folder), "").lstrip(f"{os.sep}: ")  # the entry says which folder
    return ModelEntry(model_name(folder), folder, architecture, problem)


def save_weights(path: Path, network: Any) -> None:
    """Write a built network's weights as float16; the folder is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    weights: dict[str, Any] = {w.path: np.asarray(w.value, np.float16) for w in network.weights}
    write_atomically(path, lambda file: np.savez(file, **weights))


def save_model_folder(folder: Path, network: Any, tokenizer: Tokenizer) -> None:
    """Write a built network and its tokenizer; existing files of that model are replaced."""
    vocabulary_text = "".join(f"{ord(c):04X} {c}\n" for c in tokenizer.characters)
    save_weights(folder / WEIGHTS_FILE, network)
    write_atomically(folder / VOCABULARY_FILE, lambda file: file.write(vocabulary_text.encode()))
    _write_config(folder, network.config)


def set_minimum_confidence(folder: Path, minimum: float) -> None:
    """Make ``minimum`` the confidence below which this model's changes are left undone.

    Raises ModelFolderError for a folder without a readable config, ValueError for a number outside 0..1.
    """
    _write_config(folder, replace(read_config(folder), minimum_confidence=minimum))


def _write_config(folder: Path, config: NetworkConfig) -> None:
    text = json.dumps({"architecture": config.architecture, **config.to_dict()}, indent=2) + "\n"
    write_atomically(folder / CONFIG_FILE, lambda file: file.write(text.encode()))


def save_snapshot(folder: Path, network: Any, step: int) -> None:
    """Keep in a model folder the weights after ``step`` optimiser steps."""
    save_weights(folder / SNAPSHOTS / f"{step:07d}.npz", network)


def snapshot_steps(folder: Path) -> tuple[int, ...]:
    """The steps whose weights a model folder keeps, in order; none where it keeps only its own."""
    return tuple(sorted(_snapshots(folder)))


def _snapshots(folder: Path) -> dict[int, Path]:
    files = (folder / SNAPSHOTS).glob("*.npz")
    return {int(file.stem): file for file in files if file.stem.isdecimal()}


def weights_path(folder: Path, snapshot: int | None = None) -> Path:
    """The file of a folder's weights, or of those after ``snapshot`` training steps.

    Raises ModelFolderError where no such snapshot is kept.
    """
    if snapshot is None:
        return folder / WEIGHTS_FILE
    kept = _snapshots(folder)
    if snapshot not in kept:
        raise ModelFolderError(f"{folder} keeps snapshots of the steps {sorted(kept)}, not of {snapshot}")
    return kept[snapshot]


def fingerprint(folder: Path, weights: Path | None = None) -> str:
    """The fingerprint of these files, as ``load_model_folder`` returns it, without a network.

    ``weights``: a snapshot's file.

    It is 12 hexadecimal digits of a SHA-256 over the weights and the vocabulary, a dot, and 12 digits over
    the files that decide which of the network's answers are proposed. Raises ModelFolderError where a file
    cannot be read.
    """
    network = [weights or folder / WEIGHTS_FILE, folder / VOCABULARY_FILE]
    proposals = [folder / CONFIG_FILE]
    proposals += [folder / name for name in CONFIDENCE_FILES if (folder / CONFIDENCE_FILE).is_file()]
    return f"{_digest(network)}.{_digest(proposals)}"


def of_weights(fingerprint: str) -> str:
    """The first half of a fingerprint, that of the weights and the vocabulary.

    Confidence files do not change it.
    """
    return fingerprint.partition(".")[0]


def _digest(files: Iterable[Path]) -> str:
    found = hashlib.sha256()
    for file in files:
        found.update(_read(file))
    return found.hexdigest()[:12]


def read_description(folder: Path) -> tuple[NetworkConfig, Tokenizer]:
    """The config and the tokenizer of a folder. Raises ModelFolderError with the reason."""
    config = read_config(folder)
    tokenizer = load_vocabulary(folder / VOCABULARY_FILE)
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            f"{folder}: the vocabulary has {tokenizer.vocab_size} entries, "
            f"the config says {config.vocab_size}"
        )
    return config, tokenizer


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error


def read_config(folder: Path) -> NetworkConfig:
    """The numbers that fix the shape of a folder's network.

    Raises ModelFolderError with the reason.
    """
    path = folder / CONFIG_FILE
    try:
        values = json.loads(_read(path))
        architecture = values.pop("architecture")
        if architecture not in ARCHITECTURES:
            raise ValueError(f"architecture {architecture!r} is none of {ARCHITECTURES}")
        return CONFIGS[architecture].from_dict(values)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ModelFolderError(f"{path} is not a model's config: {error!r}") from error


def load_vocabulary(path: Path) -> Tokenizer:
    """The tokenizer of one ``vocabulary.txt``.

    On each line a code point in hexadecimal and the character.
    """
    try:
        return _tokenizer(_read(path))
    except (ValueError, OverflowError) as error:
        raise ModelFolderError(f"{path} is not a vocabulary: {error}") from error


@lru_cache(maxsize=4)
def _tokenizer(vocabulary: bytes) -> Tokenizer:
    """Networks with the same vocabulary, such as the snapshots of a training, share one tokenizer."""
    return Tokenizer(chr(int(line.split(" ", 1)[0], 16)) for line in vocabulary.decode().split("\n") if line)


def read_weights(path: Path) -> dict[str, np.ndarray]:
    """The float arrays of a file by the path of their variable.

    Raises ModelFolderError where it is damaged.
    """
    try:
        stored = read_npz(path)
    except Exception as error:  # zipfile and NumPy raise a dozen kinds, depending on which byte is wrong
        raise ModelFolderError(f"{path} is damaged or not a weights file: {error}") from error
    for name, array in stored.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise ModelFolderError(
                f"{path}: {name} should be finite floats, received {array.dtype} {array.shape}"
            )
    return stored


def assign_weights(network: Any, path: Path) -> None:
    """Give a built network the weights of a file.

    Raises ModelFolderError where it is damaged or of another network.
    """
    stored = read_weights(path)
    expected = {w.path: w for w in network.weights}
    if set(stored) != set(expected):
        odd = sorted(set(stored) ^ set(expected))
        raise ModelFolderError(
            f"{path} belongs to another network: {len(odd)} names differ, first {odd[0]!r}"
        )
    for name, variable in expected.items():
        array = stored[name]
        if array.shape != tuple(variable.shape):
            raise ModelFolderError(
                f"{path}: {name} should be finite floats {tuple(variable.shape)}, received {array.shape}"
            )
        variable.assign(array.astype(np.float32))
