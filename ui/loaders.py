"""The model and its answers, kept between runs of a page; pages reach the model only through here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from model.changes import Change
from model.trace import AttentionTrace

if TYPE_CHECKING:
    from model import Corrector


@dataclass(frozen=True)
class SentenceView:
    """One sentence of the input; the offsets of ``changes`` count inside ``source`` and ``text``."""

    source: str
    text: str
    changes: tuple[Change, ...]
    too_long: bool


@dataclass(frozen=True)
class CorrectionView:
    """What a page shows of a correction: plain data that can be kept for other visitors."""

    source: str
    text: str
    changes: tuple[Change, ...]
    sentences: tuple[SentenceView, ...]


@st.cache_resource(max_entries=1, show_spinner=False)
def load_corrector() -> Corrector:
    """The shipped model. Raises model.ModelFolderError where its folder is missing or damaged.

    TensorFlow comes in here and not at the top, because importing it takes seconds: the page is drawn first.
    """
    from model import Corrector

    return Corrector.load()


@st.cache_data(max_entries=256, show_spinner=False)
def correct(text: str, fingerprint: str) -> CorrectionView:
    """The correction of ``text`` by the model whose weights have this ``fingerprint``."""
    correction = load_corrector().correct(text)
    sentences = tuple(
        SentenceView(sentence.source, sentence.text, tuple(sentence.changes), sentence.too_long)
        for sentence in correction.sentences
    )
    return CorrectionView(correction.source, correction.text, tuple(correction.changes), sentences)


@st.cache_data(max_entries=32, show_spinner=False)
def trace(sentence: str, text: str, fingerprint: str) -> AttentionTrace:
    """The attention while one sentence was corrected to ``text``; both are taken from ``correct``."""
    return load_corrector().trace(sentence, text)


@st.cache_data(max_entries=8, show_spinner=False)
def positional_encoding(positions: int, d_model: int) -> np.ndarray:
    """(P, D) float32, without loading a model."""
    from model.positions import positional_encoding as compute

    return compute(positions, d_model)
