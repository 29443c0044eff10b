"""Protocols of a network, from ``Answers`` (corrects a text) to ``Network`` (activations).

Each ``Protocol`` adds to the one before it, and a function names the least that it needs::

    Answers       corrects a text, and returns the trace of a correction
    AnswersMany   corrects many texts together: a network in this process
    Intervenes    answers under interventions: heads off, weights replaced, tokens left out
    Network       takes token ids, and returns the activations of a pass

``engine.question.Asked`` is an ``Answers`` for a network that may be in another process.
``tests/test_answers.py`` lists the implementations of each.

Shapes: B interventions or sentences, S source and T target tokens, Q query and K key positions, V vocabulary.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from model.activations.token_network import Passes
from model.activations.walk import ActivationWalk
from model.correction.correction import Correction
from model.stored.config import NetworkConfig
from model.text.changes import Change
from model.text.tokenizer import Tokenizer
from model.trace.interventions import (
    Contrast,
    Head,
    Intervention,
    LogitDifferences,
    OutputWeights,
    Projections,
)
from model.trace.trace import AttentionTrace


class NetworkDescription(Protocol):
    """The facts of a network that need no pass. ``NetworkConfig`` says more about ours."""

    @property
    def architecture(self) -> str: ...

    @property
    def abilities(self) -> frozenset[str]:
        """Its abilities besides correcting, some of ``model.stored.config.ABILITIES``."""
        ...

    @property
    def has_positions(self) -> bool: ...

    @property
    def max_length(self) -> int:
        """Characters of the longest sentence that it reads."""
        ...

    @property
    def minimum_confidence(self) -> float: ...


class Answers(Protocol):
    """Corrects a text, and returns the trace of a correction.

    >>> def corrected(network: Answers, text: str) -> str:
    ...     return network.correct(text).text
    >>> corrected(corrector, "밥을 머거요.")
    '밥을 먹어요.'
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Names the weights: part of the key under which an answer is kept."""
        ...

    @property
    def config(self) -> NetworkDescription: ...

    @property
    def minimum_confidence(self) -> float:
        """Changes whose confidence is below it are left undone."""
        ...

    def correct(self, text: str) -> Correction:
        """The correction of one text of any length, sentence by sentence."""
        ...

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The pass in which one sentence is turned into ``target``."""
        ...


@runtime_checkable
class KeepsWords(Protocol):
    """A corrector that can leave a person's words alone."""

    def with_words(self, words: Iterable[str]) -> "AnswersMany": ...


class AnswersMany(Answers, Protocol):
    """Corrects many texts together, which a network in this process does faster than one after the other."""

    def correct_batch(self, texts: Sequence[str]) -> list[Correction]: ...


class Intervenes(AnswersMany, Protocol):
    """Answers under interventions.

    Texts and traces go in and out, so any network may have it.
    """

    def changes(self, source: str, target: str) -> tuple[Change, ...]:
        """The places where two texts differ, as ``correct`` would tell them; offsets count characters."""
        ...

    def contrast(self, source: str, target: str, other: str) -> Contrast | None:
        """Where ``target`` and ``other`` are first written with different tokens: why the one and not the
        other? None where the tokens are the same to the end.
        """
        ...

    def logit_differences(
        self, source: str, target: str, contrast: Contrast, interventions: Sequence[Intervention]
    ) -> LogitDifferences:
        """The answers to one question about ``target`` under B interventions; ``Intervention()`` observes."""
        ...

    def written_under(self, source: str, interventions: Sequence[Intervention]) -> list[str | None]:
        """The network's own text under each intervention; None where it writes no end mark."""
        ...

    def attention_under(
        self, source: str, target: str, head: Head, interventions: Sequence[Intervention]
    ) -> np.ndarray:
        """(B, Q, K): the weights that one head used in each of B passes."""
        ...


class Network(Intervenes, Protocol):
    """A network of ours in this process; ``Corrector`` says more of each member.

    >>> def layers(network: Network) -> int:
    ...     return network.taps("머거요", "먹어요", ["encoder_residual"])["encoder_residual"].shape[0] // 2
    >>> layers(corrector)
    4
    """

    @property
    def config(self) -> NetworkConfig: ...

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def folder(self) -> Path | None:
        """Where its files lie; None where it was not read from any."""
        ...

    @property
    def num_parameters(self) -> int: ...

    def __hash__(self) -> int:  # answers about a network are cached
        ...

    @property
    def laboratory(self) -> Passes:
        """Raises ValueError for a network that takes no interventions."""
        ...

    @property
    def patched(self) -> ActivationWalk:
        """Raises ValueError for a network without a residual stream."""
        ...

    def projections(self, source: str, target: str, padding: int = 0) -> dict[str, Projections]: ...

    def taps(
        self, source: str, target: str, names: Iterable[str], intervention: Intervention | None = None
    ) -> dict[str, np.ndarray]: ...

    def embeddings(self, text: str) -> np.ndarray: ...

    def output_weights(self) -> OutputWeights: ...

    def weight_sizes(self) -> dict[str, int]: ...
