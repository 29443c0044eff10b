"""``EngineCorrector``: one model of the engine, as pages ask it. ``Engine.open`` makes it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.answers import PackedCorrection, unpack
from engine.progress import Progress
from engine.questions import CORRECT
from engine.traced import TracedConfig
from engine.versions import LIVE, ModelKey
from model.correction.correction import Correction
from model.stored.config import NetworkConfig
from model.stored.folder import (
    VOCABULARY_FILE,
    fingerprint,
    load_vocabulary,
    model_name,
    read_config,
    weights_path,
)
from model.text.tokenizer import Tokenizer
from model.trace.interventions import OutputWeights, Projections
from model.trace.trace import AttentionTrace

if TYPE_CHECKING:
    from engine.client import Engine


class EngineCorrector:
    """One model of the engine, as pages ask it: an ``Asked`` (``model.correction.answers``).

    Name, fingerprint, config and tokenizer are read from the folder and known at once. Everything else asks the engine, and
    waits while the model is loaded; ``progress`` tells how far that is. ``Engine.ask`` describes the errors.

    >>> from contextlib import closing
    >>> from assets import FOLDER
    >>> from engine import Engine
    >>> with closing(Engine.start()) as engine:
    ...     engine.open(FOLDER / "transformer").config.num_heads  # known at once, from the folder's description
    4
    """

    def __init__(self, engine: Engine, folder: Path, snapshot: int | None = None):
        self.name, self._engine = model_name(folder), engine
        self._config = read_config(folder)
        self.tokenizer: Tokenizer = load_vocabulary(folder / VOCABULARY_FILE)
        self.key = model_key(folder, snapshot)
        self.fingerprint = self.key.fingerprint

    @property
    def config(self) -> NetworkConfig | TracedConfig:
        """The network's config. For a ``model.TracedModel`` it says only what such a network can do."""
        return self._config

    @property
    def progress(self) -> Progress:
        return self._engine.progress(self.key)

    def prepare(self) -> Progress:
        """Have the model loaded; see ``Engine.prepare``."""
        return self._engine.prepare(self.key)

    @property
    def minimum_confidence(self) -> float:
        """Changes whose confidence is below it are left undone."""
        return self.config.minimum_confidence

    @property
    def num_parameters(self) -> int:
        return self.ask("num_parameters")

    def ask(self, kind: str, *arguments: Hashable) -> Any:
        """The answer to any of ``engine.questions.QUESTIONS`` about this model."""
        return self._engine.ask(self.key, kind, *arguments)

    def known(self, kind: str, *arguments: Hashable) -> Any | None:
        """What ``ask`` would return from memory; None where it would have to ask."""
        return self._engine.known(self.key, kind, *arguments)

    def correct(self, text: str) -> Correction:
        """Correct one text. The traces of its sentences came along with the answer, as far as
        ``answers.TRACE_BYTES`` allow; the others are asked for when they are wanted."""
        packed: PackedCorrection = self.ask(CORRECT, text)
        return unpack(packed, self.trace)

    def correct_ahead(self, text: str) -> None:
        """Have ``text`` corrected because it may be asked for soon; see ``Engine.ask_ahead``."""
        self._engine.ask_ahead(self.key, CORRECT, text)

    def trace(self, source: str, target: str) -> AttentionTrace:
        """What the network looks at while it turns one sentence into ``target``.

        Raises ValueError for a source that is longer than the network can read.
        """
        return self.ask("trace", source, target)

    def projections(self, source: str, target: str, padding: int = 0) -> dict[str, Projections]:
        """Of each kind of attention what its weights are computed from; see ``Corrector.projections``."""
        return self.ask("projections", source, target, padding)

    def taps(
        self, source: str, target: str, names: Iterable[str], off: Iterable[tuple] = ()
    ) -> dict[str, np.ndarray]:
        """What the pass hands out under ``names``, without the heads that are ``off``; see ``Corrector.taps``."""
        return self.ask("taps", source, target, tuple(names), tuple(map(tuple, off)))

    def embeddings(self, text: str) -> np.ndarray:
        """(S, D) float32, a row for each character and the end mark, not yet scaled."""
        return self.ask("embeddings", text)

    def output_weights(self) -> OutputWeights:
        """What the decoder writes with; see ``Corrector.output_weights``. It travels once."""
        return self.ask("output_weights")

    def weight_sizes(self) -> dict[str, int]:
        """How many parameters each of the network's arrays has, by its path."""
        return self.ask("weight_sizes")


class OwnCorrector(EngineCorrector):
    """A ``model.TracedModel``, by its "package.module:factory". It has no ``tokenizer``. Only the worker knows what else it can do."""

    def __init__(self, engine: Engine, name: str):
        self.name, self._engine = name, engine
        self.key = model_key(name)
        self.fingerprint = self.key.fingerprint

    def correct_ahead(self, text: str) -> None:
        """Does nothing: such a model may take long for a text, and the text that counts would wait for it."""

    @cached_property
    def config(self) -> TracedConfig:
        return TracedConfig(self.ask("abilities"), self.ask("described"), self.ask("no_stream"))


def model_key(folder: Path | str, snapshot: int | None = None) -> ModelKey:
    """The key of a folder with its present files, or of a "package.module:factory", which is given as a str."""
    if isinstance(folder, str):
        return ModelKey(folder, None, LIVE)
    found = fingerprint(folder, weights_path(folder, snapshot))
    return ModelKey(str(folder.absolute()), snapshot, found)
