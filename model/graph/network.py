"""``GraphNetwork``: a network that ONNX Runtime and NumPy compute, without TensorFlow."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np

from model.activations.laboratory import Ids
from model.activations.token_network import Item, KerasPasses, Result, TokenNetwork
from model.activations.walk import ActivationWalk
from model.graph.files import read_files
from model.graph.sessions import Arrays, GraphHalf, GraphReading, given_arrays, open_halves
from model.stored.config import NetworkConfig
from model.stored.folder import ModelFolderError, fingerprint, read_description, read_weights, weights_path
from model.text.tokenizer import Tokenizer, pad

REMEMBERED = 4  # encodings of the sentences answered last


@dataclass(frozen=True)
class GraphWeights:
    """The weights beside a graph.

    ``vectors`` (ids, D) of the tokens, the shape of each stored array, and all of them on demand.
    """

    vectors: np.ndarray
    shapes: Mapping[str, tuple[int, ...]]
    load: Callable[[], ActivationWalk]


class GraphNetwork(TokenNetwork):
    """A ``TokenNetwork`` from the two ``halves`` of a graph.

    ``load_keras`` is called for the activations of a recurrent network."""

    def __init__(
        self,
        config: NetworkConfig,
        space_id: int,
        halves: tuple[GraphHalf, GraphHalf],
        weights: GraphWeights,
        load_keras: Callable[[], KerasPasses],
    ):
        super().__init__(config, space_id)
        self._encode, self._decode = halves
        self._weights, self._load_keras = weights, load_keras
        self._keras: KerasPasses | None = None
        self._lock = Lock()
        # The same sentence is often read again soon: with other candidates for its words, and with the text
        # that a visitor chooses.
        self._encoded: Callable[[tuple[int, ...]], Arrays] = lru_cache(REMEMBERED)(
            lambda source: self._encode({"source": pad([source])})
        )

    def reading(self, source: Ids) -> GraphReading:
        return GraphReading(self._decode, self._encoded(tuple(source)))

    def spread(self, answer: Callable[[list[Item]], list[Result]], items: list[Item]) -> list[Result]:
        """``answer([item])`` of each item, several at once.

        A pass keeps one core busy, and while one sentence is weighed in Python, another is read."""
        if len(items) < 2:
            return answer(items)
        return list(chain.from_iterable(self._threads.map(lambda item: answer([item]), items)))

    def embeddings(self, ids: Ids) -> np.ndarray:
        return self._weights.vectors[list(ids)]

    def weight_shapes(self) -> Mapping[str, tuple[int, ...]]:
        return self._weights.shapes

    def load_walk(self) -> ActivationWalk:
        return self._weights.load()

    @property
    def keras(self) -> KerasPasses:
        with self._lock:
            if self._keras is None:
                self._keras = self._load_keras()
            return self._keras

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(os.cpu_count())


def load_graph(
    folder: Path, snapshot: int | None, load_keras: Callable[[], KerasPasses]
) -> tuple[GraphNetwork, Tokenizer, str]:
    """(network, tokenizer, fingerprint) of a folder that has a graph.

    Raises:
        ModelFolderError: with the reason.
    """
    path = weights_path(folder, snapshot)
    files_fingerprint = fingerprint(folder, path)
    config, tokenizer = read_description(folder)
    features = tokenizer.features()
    files, stored = read_files(folder, config), read_weights(path)
    try:
        arrays = given_arrays(config, features, stored)
    except (KeyError, IndexError, ValueError) as error:
        raise ModelFolderError(f"{path} belongs to another network: {error!r}") from error
    # Seventeen snapshots are opened for one film, and each is asked a few times.
    halves = open_halves(files, arrays, path, rarely_asked=snapshot is not None)

    def load_walk() -> ActivationWalk:
        return ActivationWalk(config, features, given_arrays(config, features, read_weights(path)))

    shapes = {name: array.shape for name, array in stored.items()}
    weights = GraphWeights(arrays["embedding/vectors"], shapes, load_walk)
    space_id = tokenizer.encode_target(" ")[0]
    return GraphNetwork(config, space_id, halves, weights, load_keras), tokenizer, files_fingerprint
