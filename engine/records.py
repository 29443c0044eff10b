"""Messages between page and worker: errors, ``ModelKey``, request, progress, corrections.

Each error class is one message on a page (``ui/asking/models.py``). ``pack`` sends a correction with its
traces, ``freeze`` makes an answer read-only.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from model.correction.correction import Correction, SentenceCorrection
from model.stored.folder import ModelFolderError
from model.text.changes import Change
from model.trace.trace import AttentionTrace


class EngineError(RuntimeError):
    """No answer came from the engine; the message says why."""


class EngineBusyError(EngineError):
    """More questions wait than will be answered soon. Asking again in a few seconds may help."""


class EngineDiedError(EngineError):
    """The worker ended twice over one question, or cannot be started."""


class EngineSlowError(EngineError):
    """No answer came within the time that the engine was given."""


class OwnModelError(EngineError):
    """The model that ATTENTION_MODEL names cannot be used, or has failed."""


class ModelChangedError(EngineError):
    """The model's files are no longer those that the question was about. Open the folder again."""


class LibraryMissingError(EngineError):
    """The answer needs TensorFlow, which is not installed where the worker runs.

    Corrections and attention do not.
    """


def library_error(error: Exception) -> Exception:
    """LibraryMissingError in place of a failed import of TensorFlow or Keras; any other error as it is."""
    if isinstance(error, ModuleNotFoundError) and error.name in ("tensorflow", "keras"):
        return LibraryMissingError(f"{error.name} is not installed")
    return error


MB = 2**20
MODEL_VARIABLE = "ATTENTION_MODEL"  # of the environment: the "package.module:factory" of a user's own model
LIVE = "live"  # instead of the fingerprint of files, where a model has none


class ModelKey(NamedTuple):
    """One set of weights. ``path`` is the folder, ``snapshot`` a number of training steps or None,
    ``fingerprint`` that of the files (``model.stored.folder.fingerprint``).

    Of a ``model.TracedModel``, ``path`` is the "package.module:factory" and ``fingerprint`` is LIVE."""

    path: str
    snapshot: int | None
    fingerprint: str


class Message(NamedTuple):
    """A question on its way to a worker.

    ``kind`` is a name in ``engine.question.QUESTIONS``, PREPARE or CLASSROOMS.
    """

    key: ModelKey
    kind: str
    arguments: tuple[Any, ...]


def version_on_disk(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, time of change in ns, size in bytes) of a model's files; none without a folder.

    Tables are left out: a training that is going on adds to its history every few seconds.

    >>> version_on_disk(Path("no such folder"))
    ()
    """
    try:
        with os.scandir(folder) as found:
            files = [
                (each.name, each.stat())
                for each in found
                if each.name[0] != "." and not each.name.endswith(".csv")
            ]
        return tuple(sorted((name, state.st_mtime_ns, state.st_size) for name, state in files))
    except OSError:
        return ()


WATCH = "watch"  # sent to a worker instead of a message: report all progress from now on
PREPARE = "prepare"  # a kind of message: load this model, and report its progress at once
CLASSROOMS = "classrooms"  # a kind of message: a call of ``classroom.AnyClassrooms``
STAGES = ("library", "weights", "first_run", "ready")  # in their order


@dataclass(frozen=True)
class Progress:
    """The progress of loading one model. ``stage`` is one of STAGES.

    ``problem`` is the error that ended the loading at this stage. ``begun`` is when it began, as time.time().

    >>> Progress("first_run").order, Progress("ready").is_ready
    (2, True)
    """

    stage: str = STAGES[0]
    problem: Exception | None = None
    begun: float = field(default_factory=time.time, compare=False)

    @property
    def order(self) -> int:
        """The number of the stage, from 0."""
        return STAGES.index(self.stage)

    @property
    def is_ready(self) -> bool:
        return self.stage == STAGES[-1]

    @property
    def may_be_tried_again(self) -> bool:
        """Whether loading failed for a reason that may pass, such as too little memory.

        A damaged folder stays damaged.
        """
        return self.problem is not None and not isinstance(
            self.problem, (ModelFolderError, ModelChangedError)
        )

    @property
    def seconds(self) -> float:
        """The seconds since the loading began."""
        return max(0.0, time.time() - self.begun)


TRACE_BYTES = 4 * MB  # of the traces that travel with one correction; others are fetched when they are read
Frozen = TypeVar("Frozen")


class PackedSentence(NamedTuple):
    """The fields of a SentenceCorrection, its text, and its trace; None for one too large to send."""

    start: int
    source: str
    proposed: tuple[Change, ...]
    minimum_confidence: float
    too_long: bool
    text: str  # with the changes that reach the model's own minimum confidence
    trace: AttentionTrace | None


@dataclass(frozen=True)
class PackedCorrection:
    """The parts of a Correction. ``pack`` makes it, ``unpack`` turns it back."""

    source: str
    sentences: tuple[PackedSentence, ...]


def pack(correction: Correction) -> PackedCorrection:
    """A correction with traces up to TRACE_BYTES: first that of ``correction.trace``, then in the order of
    the text.
    """
    sentences = correction.sentences
    shown = next((i for i, each in enumerate(sentences) if each.changes), 0)
    traces, room = {}, TRACE_BYTES
    for i in sorted(range(len(sentences)), key=lambda i: i != shown):
        if room > 0 and not sentences[i].too_long:
            traces[i] = sentences[i].trace
            room -= _trace_bytes(traces[i])
    packed = (
        PackedSentence(s.start, s.source, s.proposed, s.minimum_confidence, s.too_long, s.text, traces.get(i))
        for i, s in enumerate(sentences)
    )
    return PackedCorrection(correction.source, tuple(packed))


def unpack(packed: PackedCorrection, find_trace: Callable[[str, str], AttentionTrace]) -> Correction:
    """The Correction; ``find_trace(source, text)`` finds a trace that did not travel along."""
    traces = {(each.source, each.text): each.trace for each in packed.sentences if each.trace is not None}

    def found(source: str, text: str) -> AttentionTrace:
        return traces[source, text] if (source, text) in traces else find_trace(source, text)

    sentences = (SentenceCorrection(*each[:5], found) for each in packed.sentences)
    return Correction(packed.source, tuple(sentences))


def _trace_bytes(trace: AttentionTrace) -> int:
    return sum(value.nbytes for value in vars(trace).values() if isinstance(value, np.ndarray))


def freeze(answer: Frozen) -> Frozen:
    """Make the arrays of an answer read-only, since many visitors share it."""
    match answer:
        case np.ndarray():
            answer.flags.writeable = False
        case dict():
            freeze(tuple(answer.values()))
        case tuple() | list():
            for part in answer:
                freeze(part)
        case _ if is_dataclass(answer):
            freeze([getattr(answer, name) for name in answer.__dataclass_fields__])
    return answer
