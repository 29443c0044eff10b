"""A network that answers from its graph, with ONNX Runtime and NumPy alone.

B batch, S source, T target, L layers, H heads, D d_model, V vocabulary.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np

from model.activations.drafting import Produced, longest_target, read_off, settle_ahead
from model.activations.laboratory import PlainLaboratory, projected
from model.activations.token_network import AnswersInIds, Handed, Returned
from model.activations.walk import PatchedTransformer
from model.graph.files import read_files
from model.graph.sessions import GraphHalf, GraphReading, given_arrays, open_halves
from model.stored.config import NetworkConfig
from model.stored.folder import ModelFolderError, fingerprint, read_description, read_weights, weights_path
from model.text.tokenizer import END_ID, Tokenizer, pad
from model.trace.interventions import Intervention, OutputWeights, Projections

REMEMBERED = 4  # encodings of the sentences answered last


class GraphNetwork:
    """``produce``, ``read`` and ``attend`` as ``model.network.compiled.CompiledNetwork`` has them. Safe to call from threads.

    NumPy computes from the same weights what a graph does not hand out, such as queries and passes under interventions. ``patched``
    makes the network that does so. ``whole`` loads Keras, for gradients and for the taps of a recurrent network. Both are called when first
    needed. ``shapes``: of each stored array by its path. ``space_id``: see ``drafting.settle``.
    """

    def __init__(
        self,
        config: NetworkConfig,
        halves: tuple[GraphHalf, GraphHalf],
        arrays: Mapping[str, np.ndarray],
        shapes: Mapping[str, tuple[int, ...]],
        space_id: int,
        whole: Callable[[], AnswersInIds],
        patched: Callable[[], PatchedTransformer],
    ):
        self.config, self.space_id = config, space_id
        self._encode, self._decode = halves
        self._vectors, self._shapes, self._load_whole = arrays["embedding/vectors"], shapes, whole
        self._whole: AnswersInIds | None = None
        self._lock = Lock()
        self._load_patched = patched
        # The same sentence is often read again soon: with other candidates for its words, and with the text that a visitor chooses.
        self._encoded = lru_cache(REMEMBERED)(lambda source: self._encode({"source": pad([source])}))

    def warm_up(self) -> None:
        """One pass: the first takes longer than those after it."""
        self._pass([END_ID], [END_ID])

    def spread(self, answer: Callable[[list[Handed]], list[Returned]], items: list[Handed]) -> list[Returned]:
        """``answer([item])`` of each item, several at once. A pass keeps one core busy, and while one sentence is weighed in Python,
        another is read."""
        if len(items) < 2:
            return answer(items)
        return list(chain.from_iterable(self._threads.map(lambda item: answer([item]), items)))

    def produce(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        """For each sentence's ids the most probable token at each place, the end mark last; None where no end mark came
        within ``longest_target``."""
        return list(map(self._settle, sources))

    def step_by_step(self, sources: Sequence[Sequence[int]]) -> list[list[int] | None]:
        """The ids of ``produce``, each decided after the one before it was."""
        return [self._reading(source).write_on([], longest_target(len(source))) for source in sources]

    def read(self, sources: Sequence[Sequence[int]], targets: Sequence[list[int]]) -> list[Produced]:
        """A teacher-forced pass over each source and the ids that stand for its correction, the end mark last."""
        return list(map(self._pass, sources, targets))

    def attend(self, source: Sequence[int], target: Sequence[int]) -> dict[str, np.ndarray]:
        """What ``drafting.read_off`` tells of one pass over one sentence; ``target`` are produced ids, the end mark last."""
        return read_off(self._pass(source, list(target)))

    def embeddings(self, ids: Sequence[int]) -> np.ndarray:
        """(S, D) float32 of S ids: the vectors before they are multiplied by sqrt(D)."""
        return self._vectors[list(ids)]

    def weight_sizes(self) -> dict[str, int]:
        """How many parameters each of the network's arrays has, by its path."""
        return {path: math.prod(shape) for path, shape in self._shapes.items()}

    def count_params(self) -> int:
        return sum(self.weight_sizes().values())

    @property
    def whole(self) -> AnswersInIds:
        """The network in Keras, a ``model.network.compiled.CompiledNetwork``: loading it takes seconds."""
        with self._lock:
            if self._whole is None:
                self._whole = self._load_whole()
            return self._whole

    @cached_property
    def patched(self) -> PatchedTransformer:
        """See ``CompiledNetwork.patched``. NumPy computes it from the same weights, without Keras."""
        return self._load_patched()

    @cached_property
    def laboratory(self) -> PlainLaboratory:
        """Passes under interventions, in NumPy as far as no gradients are asked for. Raises ValueError for a network that takes none."""
        return PlainLaboratory(self.patched, self.space_id, lambda: self.whole.laboratory)

    @property
    def output_weights(self) -> OutputWeights:
        """See ``CompiledNetwork.output_weights``."""
        return self.patched.output_weights

    def project(
        self, source: Sequence[int], target: Sequence[int], padding: int = 0
    ) -> dict[str, Projections]:
        """See ``CompiledNetwork.project``."""
        return projected(partial(self.taps, padding=padding), self.config, source, target)

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
        padding: int = 0,
    ) -> dict[str, np.ndarray]:
        """See ``CompiledNetwork.taps``. Of a Transformer, NumPy computes them."""
        if self.config.architecture != "transformer":
            return self.whole.taps(source, target, names, intervention, padding)
        return self.laboratory.taps(source, target, names, intervention, padding)

    def _settle(self, source: Sequence[int]) -> Produced | None:
        return settle_ahead(self._reading(source), source, self.space_id)

    def _pass(self, source: Sequence[int], target: list[int]) -> Produced:
        return self._reading(source).pass_over([target]).row(0, source, target)

    def _reading(self, source: Sequence[int]) -> GraphReading:
        return GraphReading(self._decode, self._encoded(tuple(source)))

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(os.cpu_count())


def load_graph(
    folder: Path, snapshot: int | None, whole: Callable[[], AnswersInIds]
) -> tuple[GraphNetwork, Tokenizer, str]:
    """(network, tokenizer, fingerprint) of a folder that has a graph, as ``model.network.loading.load_model_folder`` returns them.

    ``whole``: see GraphNetwork. Raises ModelFolderError with the reason.
    """
    path = weights_path(folder, snapshot)
    files_fingerprint = fingerprint(folder, path)
    config, tokenizer = read_description(folder)
    files, stored = read_files(folder, config), read_weights(path)
    try:
        arrays = given_arrays(config, tokenizer.features(), stored)
    except (KeyError, IndexError, ValueError) as error:
        raise ModelFolderError(f"{path} belongs to another network: {error!r}") from error
    # Seventeen snapshots are opened for one film, and each is asked a few times.
    halves = open_halves(files, arrays, path, rarely_asked=snapshot is not None)
    shapes = {name: array.shape for name, array in stored.items()}
    space_id = tokenizer.encode_target(" ")[0]

    def patched() -> PatchedTransformer:
        return PatchedTransformer(
            config, tokenizer.features(), given_arrays(config, tokenizer.features(), read_weights(path))
        )

    network = GraphNetwork(config, halves, arrays, shapes, space_id, whole, patched)
    return network, tokenizer, files_fingerprint
