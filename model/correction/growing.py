"""How each snapshot of a training corrects one sentence, and where it looks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Lock

from model.correction.corrector import Corrector
from model.graph.files import can_answer
from model.stored.folder import assign_weights, read_description, snapshot_steps, weights_path
from model.trace.grown import Grown


class GrowingNetwork:
    """A model folder with snapshots, asked for all of them. Safe to call from threads.

    Raises ModelFolderError where the folder is damaged or keeps no snapshot.
    """

    def __init__(self, folder: Path):
        self.steps = snapshot_steps(folder)
        weights_path(folder, self.steps[0] if self.steps else 0)  # raises ModelFolderError without snapshots
        self._snapshots: Iterable[tuple[int, Corrector]] = (
            _graphs(folder, self.steps) if can_answer(folder) else _OneNetwork(folder, self.steps)
        )
        self._one_at_a_time = Lock()

    def answers(self, text: str) -> tuple[Grown, ...]:
        """The first sentence of ``text`` as each snapshot corrects it, youngest first; none where there is no sentence
        or it is too long."""
        with self._one_at_a_time:
            found = [_answer(step, corrector, text) for step, corrector in self._snapshots]
        return tuple(each for each in found if each)


def _answer(step: int, corrector: Corrector, text: str) -> Grown | None:
    sentences: Sequence = corrector.correct(text).sentences
    if not sentences or sentences[0].too_long:
        return None
    sentence = sentences[0]
    return Grown(step, sentence.source, sentence.text, sentence.trace)


def _graphs(folder: Path, steps: Iterable[int]) -> list[tuple[int, Corrector]]:
    """All snapshots, each opened with the graph that they share. Most of that time is spent outside of Python, so threads share the work."""

    def opened(step: int) -> tuple[int, Corrector]:
        return step, Corrector.load(folder, minimum_confidence=0.0, snapshot=step)

    # Read before the threads start: two that need it at once would each make their own.
    _, tokenizer = read_description(folder)
    tokenizer.features()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(opened, steps))


class _OneNetwork:
    """One Keras network that takes the weights of one snapshot after the other: it is compiled once, not for each of them."""

    def __init__(self, folder: Path, steps: Iterable[int]):
        from model.network.loading import load_model_folder

        self._paths = {step: weights_path(folder, step) for step in steps}
        self._network, tokenizer, found = load_model_folder(folder, min(self._paths))
        self._corrector = Corrector(folder.name, self._network, tokenizer, found, minimum_confidence=0.0)
        self._network.embedding.thaw()

    def __iter__(self) -> Iterator[tuple[int, Corrector]]:
        for step, path in self._paths.items():
            assign_weights(self._network, path)
            yield step, self._corrector


def growing_network(folder: Path) -> GrowingNetwork:
    """The network of a folder, kept for the next question as long as the folder's snapshots stay the same files."""
    paths = [weights_path(folder, step) for step in snapshot_steps(folder)]
    return _kept_network(folder, tuple((path.name, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=1)
def _kept_network(folder: Path, snapshots: tuple[tuple[str, int], ...]) -> GrowingNetwork:
    """``snapshots``, the names and times of the files, is not used: as a part of the key it drops a network whose files have changed."""
    return GrowingNetwork(folder)
