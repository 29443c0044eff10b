"""A corrector of a few lines with the library's face, so that the pages are tested without TensorFlow."""

import unicodedata
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from model.changes import Change, find_changes
from model.trace import AttentionTrace

LAYERS, HEADS, MAX_LENGTH = 2, 3, 40


def attention(rng, queries: int, keys: int, causal: bool = False) -> np.ndarray:
    """(L, H, Q, K) float32 whose rows sum to 1; exactly 0 right of the diagonal where ``causal``."""
    weights = rng.random((LAYERS, HEADS, queries, keys)) ** 4
    weights = np.tril(weights) if causal else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def random_trace(source: str, target: str, seed: int = 0) -> AttentionTrace:
    rng = np.random.default_rng(seed)
    source_tokens = (*source.replace(" ", "␣"), "</s>")
    target_tokens = (*target.replace(" ", "␣"), "</s>")
    s, t = len(source_tokens), len(target_tokens)
    return AttentionTrace(
        source_tokens=source_tokens,
        target_tokens=target_tokens,
        decoder_input_tokens=("<s>", *target_tokens[:-1]),
        encoder_attention=attention(rng, s, s),
        decoder_attention=attention(rng, t, t, causal=True),
        cross_attention=attention(rng, t, s),
        source_positional_encoding=np.zeros((s, 4), np.float32),
        target_positional_encoding=np.zeros((t, 4), np.float32),
        log_probabilities=np.zeros(t, np.float32),
    )


@dataclass(frozen=True)
class FakeSentence:
    source: str
    text: str
    changes: tuple[Change, ...]
    too_long: bool


class FakeCorrector:
    """Corrects 갱 to 객 and nothing else; sentences end at ". "."""

    config = SimpleNamespace(num_layers=LAYERS, num_heads=HEADS, max_length=MAX_LENGTH)
    fingerprint = "fake"

    def correct(self, text: str) -> SimpleNamespace:
        text = unicodedata.normalize("NFC", text)
        pieces = [piece for piece in text.strip().replace(". ", ".\n").split("\n") if piece.strip()]
        sentences = tuple(self._sentence(piece) for piece in pieces)
        target = text
        for sentence in sentences:
            target = target.replace(sentence.source, sentence.text)
        return SimpleNamespace(
            source=text, text=target, changes=find_changes(text, target), sentences=sentences
        )

    def trace(self, source: str, target: str) -> AttentionTrace:
        return random_trace(source, target)

    def _sentence(self, source: str) -> FakeSentence:
        too_long = len(source) > MAX_LENGTH
        text = source if too_long else source.replace("갱", "객")
        return FakeSentence(source, text, find_changes(source, text), too_long)
