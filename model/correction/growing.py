"""How each snapshot of a training corrects one sentence, and where it looks.

One network is given the weights of one snapshot after the other, so its graphs are made once and not for each snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from model.correction.answers import Answers
from model.correction.corrector import Corrector
from model.stored.folder import assign_weights, snapshot_steps, weights_path
from model.trace.trace import AttentionTrace


@dataclass(frozen=True)
class Grown:
    """The answer of the snapshot after ``step`` training steps, with all its proposals, however unsure; a young network would
    otherwise seem to do nothing. If it found no end mark, ``text`` is the source.
    """

    step: int
    source: str
    text: str
    trace: AttentionTrace  # of writing ``text``

    @property
    def is_unfinished(self) -> bool:
        """Whether the network writes no end mark even after the whole source. Then ``text`` is not its own."""
        likeliest, *_ = self.trace.alternatives[-1]
        return self.text == self.source and likeliest != self.trace.target_tokens[-1]


class GrowingNetwork:
    """A model folder with snapshots, asked for all of them. Safe to call from threads.

    Raises ModelFolderError where the folder is damaged or keeps no snapshot.
    """

    def __init__(self, folder: Path):
        from model.network.loading import load_model_folder

        self.steps = snapshot_steps(folder)
        self._paths = [weights_path(folder, step) for step in self.steps]
        self._network, tokenizer, found = load_model_folder(folder, self.steps[0] if self.steps else 0)
        self.corrector: Answers = Corrector(
            folder.name, self._network, tokenizer, found, minimum_confidence=0.0
        )
        self._network.embedding.thaw()
        self._one_at_a_time = Lock()

    def answers(self, text: str) -> tuple[Grown, ...]:
        """The first sentence of ``text`` as each snapshot corrects it, youngest first; none where there is no sentence
        or it is too long."""
        with self._one_at_a_time:
            found = [
                self._answer(step, path, text) for step, path in zip(self.steps, self._paths, strict=True)
            ]
        return tuple(each for each in found if each)

    def _answer(self, step: int, path: Path, text: str) -> Grown | None:
        assign_weights(self._network, path)
        sentences: Sequence = self.corrector.correct(text).sentences
        if not sentences or sentences[0].too_long:
            return None
        sentence = sentences[0]
        return Grown(step, sentence.source, sentence.text, sentence.trace)


def growing_network(folder: Path) -> GrowingNetwork:
    """The network of a folder, kept for the next question as long as the folder's snapshots stay the same files."""
    paths = [weights_path(folder, step) for step in snapshot_steps(folder)]
    return _kept_network(folder, tuple((path.name, path.stat().st_mtime_ns) for path in paths))


@lru_cache(maxsize=1)
def _kept_network(folder: Path, snapshots: tuple[tuple[str, int], ...]) -> GrowingNetwork:
    """``snapshots``, the names and times of the files, is only a part of the key."""
    return GrowingNetwork(folder)
