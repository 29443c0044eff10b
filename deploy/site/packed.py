"""The files that the browser computes with, in packed form: graphs, weights, and what the weighing of changes knows.

A file of arrays is the length of its head (4 bytes, little-endian), the head in JSON, and the arrays one after the other. 16-bit floats
stand there as all their low bytes, then all their high ones: so they get a seventh smaller when packed.
"""

import gzip
import json
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx

from model.correction.features import FIRST
from model.export.export import graph_of
from model.graph.files import POSITIONS, GraphFiles
from model.stored.config import NetworkConfig
from model.stored.folder import (
    CONFIDENCE_FILE,
    NGRAMS_FILE,
    WEIGHTS_FILE,
    WORDS_FILE,
    read_description,
    read_weights,
)

WEIGHTS_PLACE = "weights.bin"  # where the graphs look for their weights


def packed_arrays(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A file of arrays, as ``js/parts.js`` reads it.

    >>> len(packed_arrays({"a": np.arange(3, dtype=np.uint16)})) > 6
    True
    """
    head, parts, place = [], [], 0
    for name, array in arrays.items():
        content = np.ascontiguousarray(array).tobytes()
        if array.dtype == np.float16:
            content = np.frombuffer(content, np.uint8).reshape(-1, 2).T.tobytes()
        head.append(
            {"name": name, "type": array.dtype.str.lstrip("<|"), "shape": array.shape, "start": place}
        )
        parts.append(content)
        place += len(content)
    described = json.dumps(head).encode()
    return b"".join([struct.pack("<I", len(described)), described, *parts])


def graph_parts(config: NetworkConfig) -> tuple[dict[str, bytes], list[dict]]:
    """The graphs by name, and the layout of the one file of float32 weights that they read.

    They take interventions and hand out queries, keys and values. In the app NumPy computes these (``model/activations/``).
    """
    files = graph_of(config, opened=True)
    shapes = {name: shape for half in files.weights.values() for name, shape in half.items()}
    layout, place = [], 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        layout.append({"name": name, "shape": shape, "start": place, "bytes": size})
        place += size
    return _placed(files, {each["name"]: each for each in layout}), layout


def _placed(files: GraphFiles, layout: Mapping[str, dict]) -> dict[str, bytes]:
    graphs = {}
    for name, content in files.halves.items():
        model = onnx.load_from_string(content)
        for tensor in model.graph.initializer:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                at = layout[tensor.name]
                values = {"location": WEIGHTS_PLACE, "offset": str(at["start"]), "length": str(at["bytes"])}
                del tensor.external_data[:]
                for key, value in values.items():
                    tensor.external_data.add(key=key, value=value)
        graphs[name] = model.SerializeToString(deterministic=True)
    return graphs


def weights(folder: Path) -> bytes:
    """The stored arrays under the names that the graphs know."""
    stored = read_weights(folder / WEIGHTS_FILE)
    return packed_arrays({name.partition("/")[2]: array for name, array in stored.items()})


def weighing(folder: Path) -> dict[str, bytes]:
    """What the changes are weighed with: trees, words, phrases."""
    values = json.loads((folder / CONFIDENCE_FILE).read_text("utf-8"))
    trees = {"start": values["start"], "trees": values["trees"], "fields": FIRST}
    with np.load(folder / NGRAMS_FILE, allow_pickle=False) as archive:
        ngrams = {name: archive[name] for name in archive.files}
    return {
        "trees": json.dumps(trees).encode(),
        "words": gzip.decompress((folder / WORDS_FILE).read_bytes()),
        "ngrams": packed_arrays(ngrams),
    }


def parts_of(folder: Path) -> tuple[dict[str, bytes], dict]:
    """All that the browser computes with, by name; and what it has to know of the network.

    Raises ModelFolderError for a folder without a network, ValueError for one that is no Transformer.
    """
    config, tokenizer = read_description(folder)
    graphs, layout = graph_parts(config)
    known = {
        "config": {"architecture": config.architecture, **config.to_dict()},
        "characters": list(tokenizer.characters),
        "layout": layout,
        "positions": POSITIONS,
        "weights_place": WEIGHTS_PLACE,
    }
    return {**graphs, "weights": weights(folder), **weighing(folder)}, known
