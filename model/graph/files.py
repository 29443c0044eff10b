"""ONNX graph on disk: two files and their description in a model's folder ``graph/``.

The graphs hold no weights: they name those of ``weights.npz``, so all snapshots of a folder share one graph.
A graph depends on the shape of its network alone. ``graph.json`` holds that shape, and a digest of each half
by which a damaged file is noticed.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

from model.stored.config import NetworkConfig
from model.stored.folder import ModelFolderError, write_atomically

GRAPH_FOLDER, DESCRIPTION_FILE = "graph", "graph.json"
HALVES = ("encode", "decode")
FREE = ("dropout_rate", "max_length", "minimum_confidence")  # settings on which no graph depends


class GraphFiles(NamedTuple):
    """The stored files of one graph."""

    halves: dict[str, bytes]  # ONNX files by their names in HALVES
    # By half: the shapes of the arrays that it is given, by their names.
    weights: dict[str, dict[str, tuple[int, ...]]]


def graph_shape(config: NetworkConfig) -> dict[str, Any]:
    """The settings of a config on which its graph depends."""
    settings = {name: value for name, value in config.to_dict().items() if name not in FREE}
    return {"architecture": config.architecture, **settings}


def can_answer(folder: Path) -> bool:
    """Whether a folder's network may answer from a graph.

    It has one, ONNX Runtime is installed, and ``ATTENTION_BACKEND`` is not "keras".
    """
    return not only_keras() and has_graph(folder) and has_library()


@cache  # each question asks, and looking for a library reads folders
def has_library() -> bool:
    return find_spec("onnxruntime") is not None


def only_keras() -> bool:
    """Whether Keras shall answer everything: where the variable ATTENTION_BACKEND says so."""
    return os.environ.get("ATTENTION_BACKEND") == "keras"


def has_graph(folder: Path) -> bool:
    return (folder / GRAPH_FOLDER / DESCRIPTION_FILE).is_file()


def write_files(folder: Path, config: NetworkConfig, files: GraphFiles) -> None:
    """Write a model folder's graph.

    The description is written last, so that an unfinished graph is never read as a whole one.
    """
    place = folder / GRAPH_FOLDER
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.halves.items():
        write_atomically(_half(place, name), methodcaller("write", content))
    description = {
        "network": graph_shape(config),
        "digests": {name: _digest(content) for name, content in files.halves.items()},
        "weights": files.weights,
    }
    text = json.dumps(description) + "\n"
    write_atomically(place / DESCRIPTION_FILE, methodcaller("write", text.encode()))


def read_files(folder: Path, config: NetworkConfig) -> GraphFiles:
    """A model folder's graph. Raises ModelFolderError where it is damaged or another network's."""
    place = folder / GRAPH_FOLDER
    try:
        description = json.loads((place / DESCRIPTION_FILE).read_bytes())
        _check_network(place, description["network"], graph_shape(config))
        halves = {name: _half(place, name).read_bytes() for name in HALVES}
        for name, content in halves.items():
            if _digest(content) != description["digests"][name]:
                raise ModelFolderError(
                    f"{_half(place, name)} is not the file that {DESCRIPTION_FILE} describes"
                )
        weights = {
            name: {path: tuple(map(int, shape)) for path, shape in description["weights"][name].items()}
            for name in HALVES
        }
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise ModelFolderError(f"{place} holds no readable graph: {error!r}") from error
    return GraphFiles(halves, weights)


def _check_network(place: Path, found: Mapping, expected: Mapping) -> None:
    for name in {**expected, **found}:
        if found.get(name) != expected.get(name):
            raise ModelFolderError(
                f"{place} belongs to another network: its {name} is {found.get(name)!r}, "
                f"the config's {expected.get(name)!r}"
            )


def _half(place: Path, name: str) -> Path:
    return place / f"{name}.onnx"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
