"""What a view looks at: one sentence of a correction, one kind of attention, one layer and head, one change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import streamlit as st

from model.changes import Change
from model.trace import AttentionTrace
from ui import address, controls, loaders, markup, reading
from ui.texts import say

MEAN = "mean"


@dataclass(frozen=True)
class Lens:
    """The choices that all views of one sentence share. Layers and heads are counted from 0; None is the
    mean over them. ``change`` is the one chosen of the sentence's changes; None: the whole sentence."""

    corrector: loaders.Corrector
    sentence: loaders.SentenceCorrection
    trace: AttentionTrace
    kind: str
    layer: int | None
    head: int | None
    change: Change | None
    theme: str

    @cached_property
    def weights(self) -> np.ndarray:
        """(Q, K) float32: what the chosen layer and head look at."""
        return reading.attention_of(self.trace, self.kind, self.layer, self.head)

    @property
    def queries(self) -> tuple[str, ...]:
        return self.trace.axes(self.kind)[0]

    @property
    def keys(self) -> tuple[str, ...]:
        return self.trace.axes(self.kind)[1]

    @property
    def masked(self) -> np.ndarray | None:
        """(Q, K) bool, True where the decoder may not look; None for the other kinds."""
        return reading.look_ahead_mask(self.trace, self.kind)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The chosen change alone, else all changes of the sentence."""
        return self.sentence.changes if self.change is None else (self.change,)

    @property
    def rows(self) -> list[int]:
        """The rows that ``changes`` concern."""
        return reading.changed_rows(self.changes, self.kind, len(self.queries))

    @property
    def place(self) -> str:
        """The words for the layer and the head."""
        return reading.place(say, self.trace, self.layer, self.head)


def choose_sentence(sentences: Sequence[loaders.SentenceCorrection]) -> loaders.SentenceCorrection:
    """The sentence to look into; asked only where there are several."""
    if len(sentences) == 1:
        return sentences[0]
    numbers = [str(number + 1) for number in range(len(sentences))]
    changed = (number for number, sentence in zip(numbers, sentences, strict=True) if sentence.changes)
    number = controls.pick(
        "part",
        numbers,
        lambda number: f"{number}. {sentences[int(number) - 1].text}",
        otherwise=next(changed, numbers[0]),
    )
    return sentences[int(number) - 1]


def trace_of(sentence: loaders.SentenceCorrection, corrector: loaders.Corrector) -> AttentionTrace | None:
    """What the network looked at in this sentence; None, and a message, where it could not be read."""
    if sentence.too_long:
        st.info(say("too_long_to_show", limit=corrector.config.max_length))
        return None
    with st.spinner(say("working")):
        return loaders.trace(sentence.source, sentence.text, corrector)


def choose_map(trace: AttentionTrace) -> tuple[str, int | None, int | None]:
    """(kind, layer, head) counted from 0, None for a mean; asks only where there is a choice."""
    layers = [MEAN, *(str(layer + 1) for layer in range(trace.num_layers))]
    heads = [MEAN, *(str(head + 1) for head in range(trace.num_heads))]
    kind, layer, head = trace.kinds[0], layers[1], heads[1]
    with st.container(horizontal=True, gap="medium"):
        if len(trace.kinds) > 1:
            kind = controls.choose("kind", list(trace.kinds), lambda kind: say(f"kind_{kind}"))
        if trace.num_layers > 1:
            layer = controls.choose("layer", layers, _name, otherwise="1")
        if trace.num_heads > 1:
            head = controls.choose("head", heads, _name)
    if len(trace.kinds) == 1:
        markup.paragraph(say("one_kind"), "lead")
    return kind, _number(layer), _number(head)


def _name(option: str) -> str:
    return say("head_mean") if option == MEAN else option


def _number(option: str) -> int | None:
    return None if option == MEAN else int(option) - 1


def first_changed(correction: loaders.Correction) -> loaders.SentenceCorrection | None:
    """The sentence that the address names, else the first that changed, else the first; None without any."""
    sentences = correction.sentences
    part = address.get("part")
    if address.is_number(part) and 1 <= int(part) <= len(sentences):
        return sentences[int(part) - 1]
    return next((each for each in sentences if each.changes), sentences[0] if sentences else None)
