"""A network that answers from its graph, with ONNX Runtime and NumPy alone.

B batch, S source, T target, L layers, H heads, D d_model, V vocabulary.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from model.graph.files import read_files
from model.graph.sessions import Arrays, Half, given_arrays, open_halves
from model.plain.drafting import Pass, Produced, longest_target, read_off, settle
from model.plain.patched import PatchedTransformer
from model.stored.config import NetworkConfig
from model.stored.folder import ModelFolderError, fingerprint, read_description, read_weights, weights_path
from model.text.tokenizer import END_ID, START_ID, Tokenizer, pad
from model.trace.interventions import Intervention
from model.trace.output_weights import OutputWeights
from model.trace.projections import Projections

FEW = 4  # sentences that are quicker one by one than padded together


class GraphNetwork:
    """``produce``, ``read`` and ``attend`` as ``network.CompiledNetwork`` has them. Safe to call from threads.

    What a graph does not hand out, such as queries, interventions and gradients, is asked of the Keras network, which
    ``whole`` loads when that is first wanted. ``patched`` makes what passes with patches take, from the same weights. ``sizes``: the shape of each stored array by its path. ``space_id``: see
    ``drafting.settle``.
    """

    def __init__(
        self,
        config: NetworkConfig,
        halves: tuple[Half, Half],
        arrays: Mapping[str, np.ndarray],
        sizes: Mapping[str, tuple[int, ...]],
        space_id: int,
        whole: Callable[[], Any],
        patched: Callable[[], PatchedTransformer],
    ):
        self.config, self.space_id = config, space_id
        self._encode, self._decode = halves
        self._vectors, self._sizes, self._load_whole = arrays["embedding/vectors"], sizes, whole
        self._whole, self._lock = None, Lock()
        self._load_patched = patched

    def warm_up(self) -> None:
        """One pass: the first takes longer than those after it."""
        self._look([[END_ID]], [[END_ID]])

    def produce(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        """For each sentence's ids the most probable token at each place, the end mark last; None where no end mark came
        within ``longest_target``."""
        if len(sources) > FEW:
            return self._settle(sources)
        return [self._settle([source])[0] for source in sources]

    def step_by_step(self, sources: Sequence[Sequence[int]]) -> list[list[int] | None]:
        """The ids of ``produce``, each decided after the one before it was."""
        return [self._step_through(source) for source in sources]

    def read(self, sources: Sequence[Sequence[int]], targets: Sequence[list[int]]) -> list[Produced]:
        """A teacher-forced pass over each source and the ids that stand for its correction, the end mark last."""
        if len(sources) > FEW:
            return self._look(sources, targets)
        return [self._look([source], [target])[0] for source, target in zip(sources, targets, strict=True)]

    def attend(self, source: Sequence[int], target: Sequence[int]) -> dict[str, np.ndarray]:
        """What ``drafting.read_off`` tells of one pass over one sentence; ``target`` are produced ids, the end mark last."""
        return read_off(self._look([source], [list(target)])[0])

    def embeddings(self, ids: Sequence[int]) -> np.ndarray:
        """(S, D) float32 of S ids: the vectors before they are multiplied by sqrt(D)."""
        return self._vectors[list(ids)]

    def weight_sizes(self) -> dict[str, int]:
        """How many parameters each of the network's arrays has, by its path."""
        return {path: math.prod(shape) for path, shape in self._sizes.items()}

    def count_params(self) -> int:
        return sum(self.weight_sizes().values())

    @property
    def whole(self) -> Any:
        """The network in Keras, a ``network.CompiledNetwork``: loading it takes seconds."""
        with self._lock:
            if self._whole is None:
                self._whole = self._load_whole()
            return self._whole

    @cached_property
    def patched(self) -> PatchedTransformer:
        """See ``CompiledNetwork.patched``. NumPy computes it from the same weights, without Keras."""
        return self._load_patched()

    @property
    def laboratory(self) -> Any:
        """Passes under interventions. Raises ValueError for a network that takes none."""
        return self.whole.laboratory

    @property
    def output_weights(self) -> OutputWeights:
        """See ``CompiledNetwork.output_weights``."""
        return self.whole.output_weights

    def project(
        self, source: Sequence[int], target: Sequence[int], padding: int = 0
    ) -> dict[str, Projections]:
        """See ``CompiledNetwork.project``."""
        return self.whole.project(source, target, padding)

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
        padding: int = 0,
    ) -> dict[str, np.ndarray]:
        """See ``CompiledNetwork.taps``."""
        return self.whole.taps(source, target, names, intervention, padding)

    def _settle(self, sources: Sequence[Sequence[int]]) -> list[Produced | None]:
        return settle(self._reading(sources), sources, self.space_id, self.step_by_step)

    def _look(self, sources: Sequence[Sequence[int]], targets: Sequence[list[int]]) -> list[Produced]:
        looked = self._reading(sources).pass_over(targets)
        return [looked.row(i, *each) for i, each in enumerate(zip(sources, targets, strict=True))]

    def _reading(self, sources: Sequence[Sequence[int]]) -> "Reading":
        return Reading(self._encode, self._decode, self.config.attention_kinds, sources)

    def _step_through(self, source: Sequence[int]) -> list[int] | None:
        written: list[int] = []
        state = self._encode({"source": pad([source])})
        memory, cache = _starting(state, "memory_"), _starting(state, "cache_")
        while len(written) < longest_target(len(source)):
            said = self._decode({"ids": pad([written[-1:] or [START_ID]]), **memory, **cache})
            written.append(int(said["logits"][0, -1].argmax()))
            if written[-1] == END_ID:
                return written
            cache = {f"cache_{name}": array for name, array in _starting(said, "next_", keep=False).items()}
        return None


class Reading:
    """Some sources, encoded once, for all passes over drafts of their corrections: a ``drafting.Reading``."""

    def __init__(self, encode: Half, decode: Half, kinds: Iterable[str], sources: Sequence[Sequence[int]]):
        self._decode, self._kinds = decode, tuple(kinds)
        self._state = encode({"source": pad(sources)})

    def pass_over(self, drafts: Sequence[Sequence[int]]) -> Pass:
        ids = pad([[START_ID, *draft[:-1]] for draft in drafts])
        kept = _starting(self._state, "memory_") | _starting(self._state, "cache_")
        found = {**self._state, **self._decode({"ids": ids, **kept})}
        return Pass(found["logits"], {kind: found[kind] for kind in self._kinds})

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows alone."""
        self._state = {name: array[list(rows)] for name, array in self._state.items()}


def _starting(arrays: Arrays, prefix: str, keep: bool = True) -> Arrays:
    """Those whose names start with ``prefix``, which stays there or not."""
    found = {name: array for name, array in arrays.items() if name.startswith(prefix)}
    return found if keep else {name.removeprefix(prefix): array for name, array in found.items()}


def load_graph(
    folder: Path, snapshot: int | None, whole: Callable[[], Any]
) -> tuple[GraphNetwork, Tokenizer, str]:
    """(network, tokenizer, fingerprint) of a folder that has a graph, as ``network.loading.load_model_folder`` has them.

    ``whole``: see GraphNetwork. Raises ModelFolderError with the reason.
    """
    path = weights_path(folder, snapshot)
    found = fingerprint(folder, path)
    config, tokenizer = read_description(folder)
    files, stored = read_files(folder, config), read_weights(path)
    try:
        arrays = given_arrays(config, tokenizer.features(), stored)
    except (KeyError, IndexError, ValueError) as error:
        raise ModelFolderError(f"{path} belongs to another network: {error!r}") from error
    halves = open_halves(files, arrays, path)
    sizes = {name: array.shape for name, array in stored.items()}
    space_id = tokenizer.encode_target(" ")[0]

    def patched() -> PatchedTransformer:
        return PatchedTransformer(
            config, tokenizer.features(), given_arrays(config, tokenizer.features(), read_weights(path))
        )

    return GraphNetwork(config, halves, arrays, sizes, space_id, whole, patched), tokenizer, found
