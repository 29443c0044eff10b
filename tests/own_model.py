"""Tiny models for ATTENTION_MODEL in the tests, in NumPy alone.

They know three words, read pieces of two characters, and have other layers and heads in each kind of
attention.
"""

import zlib
from dataclasses import replace

import numpy as np

from model import AttentionTrace, Intervention

WRONG, RIGHT = "teh cat 왓다", "the cat 왔다"
SHAPES = {"encoder_attention": (2, 3), "decoder_attention": (1, 4), "cross_attention": (3, 2)}  # (L, H)
CORRECTIONS = {"teh": "the", "왓다": "왔다"}


def pieces(text: str) -> tuple[tuple[int, int], ...]:
    """(start, end) of at most two characters each; a space begins a piece, as in SentencePiece."""
    starts = [0]
    for place in range(1, len(text)):
        if text[place] == " " or place - starts[-1] == 2 + (text[starts[-1]] == " "):
            starts.append(place)
    ends = [*starts[1:], len(text)]
    return tuple(pair for pair in zip(starts, ends, strict=True) if pair[0] < pair[1])


def side(name: str, text: str) -> dict:
    spans = (*pieces(text), (len(text), len(text)))
    tokens = (*(text[start:end].replace(" ", "▁") for start, end in spans[:-1]), "</s>")
    return {f"{name}_tokens": tokens, f"{name}_text": text, f"{name}_spans": spans}


def attention(kind: str, source: str, target: str, rows: int, columns: int) -> np.ndarray:
    """(L, H, Q, K) float32, the same for the same texts."""
    rng = np.random.default_rng(zlib.crc32(repr((kind, source, target)).encode()))
    weights = rng.random((*SHAPES[kind], rows, columns)) ** 4
    weights = np.tril(weights) if kind == "decoder_attention" else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


class Speller:
    """A TracedModel with everything that a trace can have, and with interventions."""

    def correct(self, text: str) -> str:
        for wrong, right in CORRECTIONS.items():
            text = text.replace(wrong, right)
        return text

    def trace(self, source: str, target: str) -> AttentionTrace:
        texts = side("source", source) | side("target", target)
        s, t = len(texts["source_tokens"]), len(texts["target_tokens"])
        sizes = {"encoder_attention": (s, s), "decoder_attention": (t, t), "cross_attention": (t, s)}
        logs = np.linspace(-0.05, -0.6, t, dtype=np.float32)
        others = np.stack([np.exp(logs), (1 - np.exp(logs)) / 2], axis=1)
        return AttentionTrace(
            **texts,
            decoder_input_tokens=("<s>", *texts["target_tokens"][:-1]),
            **{kind: attention(kind, source, target, *size) for kind, size in sizes.items()},
            log_probabilities=logs,
            alternatives=tuple((token, "▁a") for token in texts["target_tokens"]),
            alternative_probabilities=others,
        )

    def correct_under(self, text: str, intervention: Intervention) -> str | None:
        return text if intervention.off else self.correct(text)

    def trace_under(self, source: str, target: str, intervention: Intervention) -> AttentionTrace:
        trace = self.trace(source, target)
        lost = sum(1 + head.layer + head.head / 10 for head in (*intervention.off, *intervention.weights))
        lost += len(intervention.without_source) + len(intervention.without_target)
        wanted = np.float32(lost if target == self.correct(source) else 0)
        return replace(trace, log_probabilities=trace.log_probabilities - wanted)


class Translator(Speller):
    """It does not correct."""

    task, language = "translate", "en"
    examples = ("나는 간다", "왓다")

    def correct(self, text: str) -> str:
        return {"나는 간다": "I go", "왓다": "It came"}.get(text, "?")


class Continuing(Speller):
    """It writes on, and has no examples."""

    task, language = "continue", "en"


def decoder_alone():
    """A decoder-only network of Keras with its laboratory, for a worker alone: Keras is imported here."""
    from examples.keras_networks import LETTERS, VOCABULARY, WholeDecoder, seeded
    from model import laboratory_of

    model = seeded(WholeDecoder)
    model(np.array([[1, 3]]))
    model.out.bias.assign(20 * np.eye(VOCABULARY)[2])  # it ends at once, before its positions do
    return laboratory_of(model, LETTERS)


class Bare:
    """No interventions, no probabilities, no places of its tokens, and an encoder alone."""

    def correct(self, text: str) -> str:
        return Speller().correct(text)

    def trace(self, source: str, target: str) -> AttentionTrace:
        tokens = tuple(side("source", source)["source_tokens"])
        weights = attention("encoder_attention", source, target, len(tokens), len(tokens))
        return AttentionTrace(source_tokens=tokens, encoder_attention=weights)


class Failing(Bare):
    def correct(self, text: str) -> str:
        raise ValueError(f"cannot read {text}")


def unusable():
    raise RuntimeError("no weights here")


class Mute:
    def correct(self, text: str) -> str:
        return text
