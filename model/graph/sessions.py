"""An opened graph: the two halves of a network in ONNX Runtime, with the weights of a file.

B batch, S source and T target tokens, D d_model, V vocabulary.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

os.environ.setdefault(
    "ORT_DISABLE_TELEMETRY", "1"
)  # read at the import; else the runtime reports to its maker

from onnxruntime import GraphOptimizationLevel, InferenceSession, OrtValue, SessionOptions

from model.graph.files import POSITIONS, GraphFiles
from model.plain.output_weights import compose
from model.plain.positions import positional_encoding
from model.stored.config import NetworkConfig
from model.stored.folder import ModelFolderError

FATAL = 4  # the runtime's log level: errors are raised, so they need not be logged, too
Arrays = dict[str, np.ndarray]


class GraphHalf:
    """One half: ``half(inputs by name)`` -> outputs by name. May be called from several threads at once.

    ``rarely_asked``: it opens in half the time, and answers a tenth slower.
    """

    def __init__(self, graph: bytes, weights: Arrays, rarely_asked: bool = False):
        options = SessionOptions()
        options.log_severity_level = FATAL
        # With a second thread a sentence of 128 characters takes a quarter less time, one of 32 as long as before, and the processor
        # works a third more. Several sentences are answered side by side instead: by visitors, and in the rows of a file.
        options.intra_op_num_threads = 1
        if rarely_asked:
            options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
        self._weights = {name: OrtValue.ortvalue_from_numpy(array) for name, array in weights.items()}
        options.add_external_initializers(list(self._weights), list(self._weights.values()))
        self._session = InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self._outputs = [output.name for output in self._session.get_outputs()]

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> Arrays:
        return dict(zip(self._outputs, self._session.run(self._outputs, dict(inputs)), strict=True))


def open_halves(
    files: GraphFiles, weights: Mapping[str, np.ndarray], path: Path, rarely_asked: bool = False
) -> tuple[GraphHalf, GraphHalf]:
    """``encode`` and ``decode`` with the ``weights`` that come from the file at ``path``. ``rarely_asked``: see ``GraphHalf``.

    Raises ModelFolderError for weights of another network.
    """
    halves = []
    for name, graph in files.halves.items():
        given = {}
        for array, shape in files.weights[name].items():
            if array not in weights or weights[array].shape != shape:
                found = weights[array].shape if array in weights else "nothing"
                raise ModelFolderError(
                    f"{path} belongs to another network: {array} should be {shape}, received {found}"
                )
            given[array] = weights[array]
        try:
            halves.append(GraphHalf(graph, given, rarely_asked))
        except Exception as error:  # the runtime has some kinds of its own, without a common ancestor
            raise ModelFolderError(f"the graph beside {path} cannot be opened: {error}") from error
    return halves[0], halves[1]


def given_arrays(config: NetworkConfig, features: np.ndarray, stored: Mapping[str, np.ndarray]) -> Arrays:
    """The arrays that a graph can be given, float32 by name: what is stored, by its path without the network's name, and
    what is computed from it once. ``features``: the tokenizer's, (ids, 4).

    Raises KeyError or IndexError where the weights are another network's.
    """
    arrays = {name.partition("/")[2]: array.astype(np.float32) for name, array in stored.items()}
    vectors = compose(arrays, features)
    return arrays | {
        "embedding/vectors": vectors,
        "embedding/vocabulary": np.ascontiguousarray(vectors[: config.vocab_size].T),
        "positions": positional_encoding(POSITIONS, config.d_model),
    }
