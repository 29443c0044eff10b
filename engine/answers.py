"""Packs a correction for its way between processes, together with its attention.

Up to 4 MB of traces travel along; others (of long texts, or of other decisions) are asked for when a page needs them.
"""

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import TypeVar

import numpy as np

from model.correction.correction import Correction, SentenceCorrection
from model.text.changes import Change
from model.trace.trace import AttentionTrace

TRACE_BYTES = 4 * 2**20  # of the traces that travel with one correction; others are fetched when asked for

Frozen = TypeVar("Frozen")
FindTrace = Callable[[str, str], AttentionTrace]


@dataclass(frozen=True)
class PackedSentence:
    """The parts of a SentenceCorrection. ``trace`` is that of ``text``, or None if it was too large to travel along."""

    start: int
    source: str
    text: str  # with the changes that are confident enough for the model's own minimum
    proposed: tuple[Change, ...]
    minimum_confidence: float
    too_long: bool
    trace: AttentionTrace | None


@dataclass(frozen=True)
class PackedCorrection:
    """The parts of a Correction. ``pack`` makes it, ``unpack`` turns it back."""

    source: str
    sentences: tuple[PackedSentence, ...]


def pack(correction: Correction) -> PackedCorrection:
    """The traces travel along as long as TRACE_BYTES allow: first that of ``correction.trace``, then in the order of the text."""
    sentences = correction.sentences
    shown = next((i for i, each in enumerate(sentences) if each.changes), 0)
    traces, room = {}, TRACE_BYTES
    for i in sorted(range(len(sentences)), key=lambda i: i != shown):
        if room > 0 and not sentences[i].too_long:
            traces[i] = sentences[i].trace
            room -= trace_bytes(traces[i])
    return PackedCorrection(
        correction.source, tuple(_pack_sentence(each, traces.get(i)) for i, each in enumerate(sentences))
    )


def _pack_sentence(sentence: SentenceCorrection, trace: AttentionTrace | None) -> PackedSentence:
    return PackedSentence(
        start=sentence.start,
        source=sentence.source,
        text=sentence.text,
        proposed=sentence.proposed,
        minimum_confidence=sentence.minimum_confidence,
        too_long=sentence.too_long,
        trace=trace,
    )


def unpack(packed: PackedCorrection, find_trace: FindTrace) -> Correction:
    """The Correction; ``find_trace(source, text)`` finds a trace that did not travel along."""
    return Correction(packed.source, tuple(_unpack_sentence(each, find_trace) for each in packed.sentences))


def _unpack_sentence(packed: PackedSentence, find_trace: FindTrace) -> SentenceCorrection:
    def seen(source: str, text: str) -> AttentionTrace:
        if packed.trace is not None and (source, text) == (packed.source, packed.text):
            return packed.trace
        return find_trace(source, text)

    return SentenceCorrection(
        start=packed.start,
        source=packed.source,
        proposed=packed.proposed,
        minimum_confidence=packed.minimum_confidence,
        too_long=packed.too_long,
        _find_trace=seen,
    )


def trace_bytes(trace: AttentionTrace) -> int:
    """The memory that the arrays of a trace take; its tokens and texts are not counted."""
    return sum(value.nbytes for value in vars(trace).values() if isinstance(value, np.ndarray))


def freeze(answer: Frozen) -> Frozen:
    """Make the arrays of an answer read-only: the same answer is shown to many visitors."""
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
