"""``GraphNetwork``: a network that ONNX Runtime and NumPy compute, without TensorFlow.

``GraphReading`` reads drafts of one sentence, each from where it differs from the draft before it.

B batch, S source and T target tokens, L layers, H heads, Q query and K key positions, D d_model, V
vocabulary.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np

from model.activations.drafting import Produced
from model.activations.sublayers import compose, positional_encoding
from model.activations.token_network import Ids, Item, KerasPasses, Result, TokenNetwork
from model.activations.walk import ActivationWalk
from model.graph.files import GraphFiles, read_files
from model.stored.config import POSITIONS, NetworkConfig
from model.stored.folder import ModelFolderError, fingerprint, read_description, read_weights, weights_path
from model.text.tokenizer import START_ID, Tokenizer, pad

# The runtime reads this at its import, and else reports to its maker.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import GraphOptimizationLevel, InferenceSession, OrtValue, SessionOptions

FATAL = 4  # the runtime's log level: errors are raised, so they need not be logged, too
Arrays = dict[str, np.ndarray]


class GraphHalf:
    """One half: ``half(inputs by name)`` -> outputs by name. May be called from several threads at once.

    ``rarely_asked``: it opens in half the time, and answers a tenth slower.
    """

    def __init__(self, graph: bytes, weights: Arrays, rarely_asked: bool = False):
        options = SessionOptions()
        options.log_severity_level = FATAL
        # With a second thread a sentence of 128 characters takes a quarter less time, one of 32 as long as
        # before, and the processor works a third more. Several sentences are answered side by side instead:
        # by visitors, and in the rows of a file.
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
    """``encode`` and ``decode`` with the ``weights`` that come from the file at ``path``.

    ``rarely_asked``: see ``GraphHalf``.

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
        except Exception as error:  # the errors of the runtime have no common ancestor
            raise ModelFolderError(f"the graph beside {path} cannot be opened: {error}") from error
    return halves[0], halves[1]


def given_arrays(config: NetworkConfig, features: np.ndarray, stored: Mapping[str, np.ndarray]) -> Arrays:
    """The float32 arrays that a graph names.

    Stored ones by path without the network's name, and those computed from them once.

    ``features``: the tokenizer's, (ids, 4).

    Raises KeyError or IndexError where the weights are another network's.
    """
    arrays = {name.partition("/")[2]: array.astype(np.float32) for name, array in stored.items()}
    vectors = compose(arrays, features)
    return arrays | {
        "embedding/vectors": vectors,
        "embedding/vocabulary": np.ascontiguousarray(vectors[: config.vocab_size].T),
        "positions": positional_encoding(POSITIONS, config.d_model),
    }


@dataclass(frozen=True)
class GraphPass:
    """A pass over a draft: the ids that the decoder read, and its outputs."""

    ids: np.ndarray  # (B, T) read by the decoder: the start mark, then the draft without its last token
    logits: np.ndarray  # (B, T, V)
    cache: Arrays  # keys and values, or states, of the tokens that the decoder has read
    encoder_attention: Arrays  # (B, L, H, S, S) under its name; nothing for a network that has none
    # (first row, attention from that row on) of each run of rows that was computed together. Where two
    # overlap, the later one holds.
    stretches: tuple[tuple[int, Arrays], ...]

    def row(self, number: int, source: Sequence[int], ids: list[int]) -> Produced:
        """The pass as it is shown.

        Its attention is put together only here, because most passes are not shown.
        """
        attention = {kind: array[number] for kind, array in self.encoder_attention.items()}
        for kind, columns in (("decoder_attention", len(ids)), ("cross_attention", len(source))):
            if kind in self.stretches[0][1]:
                attention[kind] = self._rows_of(kind, number, len(ids), columns)
        return Produced(ids, self.logits[number, : len(ids)], attention)

    def shared(self, ids: np.ndarray) -> int:
        """The number of tokens at the beginning of ``ids`` (B, T) that need not be read again.

        Never all of them, and 0 for a recurrent network, whose cache holds its last state alone.
        """
        width = min(ids.shape[1] - 1, self.ids.shape[1]) if "cache_keys" in self.cache else 0
        differs = ids[0, :width] != self.ids[0, :width]
        return int(differs.argmax()) if differs.any() else width

    def _rows_of(self, kind: str, number: int, rows: int, columns: int) -> np.ndarray:
        """(L, H, rows, columns) of one kind of attention."""
        layers, heads = self.stretches[0][1][kind].shape[1:3]
        found = np.zeros((layers, heads, rows, columns), np.float32)  # no row looks at later tokens
        for first, arrays in self.stretches:
            part = arrays[kind][number, :, :, : rows - first, :columns]
            found[:, :, first : first + part.shape[2], : part.shape[3]] = part
        return found


class GraphReading:
    """Passes over drafts of one sentence.

    A pass computes only the tokens after those that its draft shares with the draft before it. A decoder
    looks at earlier tokens alone, so the shared tokens cannot differ. Their keys and values are taken from
    the pass before.

    ``encoded``: what the encoder found for the sentence.
    """

    def __init__(self, decode: GraphHalf, encoded: Arrays):
        self._decode, self._encoded = decode, encoded
        self._last: GraphPass | None = None

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> GraphPass:
        """A pass over the one draft in ``drafts``."""
        (draft,) = drafts
        ids, last = pad([[START_ID, *draft[:-1]]]), self._last
        first = last.shared(ids) if last else 0
        cache = named("cache_", self._encoded)
        if last and first:  # (B, L, H, tokens, D/H)
            cache = {name: array[:, :, :, :first] for name, array in last.cache.items()}
        found = self._decode({"ids": ids[:, first:], **named("memory_", self._encoded), **cache})
        cache = {name.replace("next_", "cache_"): found.pop(name) for name in named("next_", found)}
        logits = found.pop("logits")
        if last and first:
            logits = np.concatenate([last.logits[:, :first], logits], axis=1)
        before = [each for each in last.stretches if each[0] < first] if last else []
        self._last = GraphPass(
            ids, logits, cache, named("encoder_", self._encoded), (*before, (first, found))
        )
        return self._last


def named(prefix: str, arrays: Arrays) -> Arrays:
    """Those whose names start with ``prefix``."""
    return {name: array for name, array in arrays.items() if name.startswith(prefix)}


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
