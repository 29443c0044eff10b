"""Corrections and answers on their way between processes: packed with their traces, and frozen."""

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from engine.question import MB
from model.correction.correction import Correction, SentenceCorrection
from model.text.changes import Change
from model.trace.trace import AttentionTrace

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
    return Correction(packed.source, tuple(_unpack_sentence(each, find_trace) for each in packed.sentences))


def _unpack_sentence(
    packed: PackedSentence, find_trace: Callable[[str, str], AttentionTrace]
) -> SentenceCorrection:
    def seen(source: str, text: str) -> AttentionTrace:
        if packed.trace is not None and (source, text) == (packed.source, packed.text):
            return packed.trace
        return find_trace(source, text)

    start, source, proposed, minimum_confidence, too_long, *_ = packed
    return SentenceCorrection(start, source, proposed, minimum_confidence, too_long, seen)


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
