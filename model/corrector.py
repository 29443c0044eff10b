"""From a text to its correction and to everything the network looked at: the library's face."""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from model import hangul
from model.changes import Change, apply_changes, find_changes
from model.config import TransformerConfig
from model.folder import find_model_folder, load_model_folder
from model.positions import positional_encoding
from model.sentences import split_sentences
from model.tokenizer import END, START, Tokenizer, normalise, visible
from model.trace import AttentionTrace

DEFAULT_MODEL = "transformer"
BATCH_SENTENCES = 64


@dataclass(frozen=True)
class SentenceCorrection:
    """One sentence of a text. ``start`` is where it begins in the whole (NFC) text."""

    start: int
    source: str
    text: str
    changes: tuple[Change, ...]  # offsets inside this sentence
    too_long: bool  # longer than the network can read, and therefore left as it is
    _look: Callable[[], AttentionTrace] = field(repr=False, compare=False)

    @cached_property
    def trace(self) -> AttentionTrace:
        """All attention of the pass that produces ``text``; computed when first asked for.

        Raises ValueError for a sentence that was too long.
        """
        return self._look()


@dataclass(frozen=True)
class Correction:
    """What became of one text: ``source`` is what was typed, in NFC; ``text`` is corrected."""

    source: str
    text: str
    sentences: tuple[SentenceCorrection, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes, with offsets in the whole ``source`` and ``text``."""
        shifted, drift = [], 0  # drift: how much longer the text is than the source so far
        for sentence in self.sentences:
            source, target = sentence.start, sentence.start + drift
            for change in sentence.changes:
                shifted.append(
                    replace(
                        change,
                        source_start=change.source_start + source,
                        source_end=change.source_end + source,
                        target_start=change.target_start + target,
                        target_end=change.target_end + target,
                    )
                )
            drift += len(sentence.text) - len(sentence.source)
        return tuple(shifted)

    @property
    def trace(self) -> AttentionTrace:
        """The trace of the first sentence that changed, else of the first one.

        Raises ValueError for a text without a sentence; ``sentences[i].trace`` has the others.
        """
        if not self.sentences:
            raise ValueError(f"there is no sentence in {self.source!r}, so there is no attention")
        return next((s for s in self.sentences if s.changes), self.sentences[0]).trace


class Corrector:
    """A loaded model. ``Corrector.load()`` opens the shipped one."""

    def __init__(
        self,
        name: str,
        network,
        tokenizer: Tokenizer,
        fingerprint: str,
        minimum_confidence: float | None = None,
    ):
        from model.network import CompiledNetwork  # loads TensorFlow

        self.name, self.fingerprint = name, fingerprint
        self.config: TransformerConfig = network.config
        if minimum_confidence is not None:
            self.config = replace(self.config, minimum_confidence=minimum_confidence)
        self.tokenizer = tokenizer
        self.num_parameters: int = network.count_params()
        self._network = CompiledNetwork(network)

    @property
    def minimum_confidence(self) -> float:
        """Changes whose probability is below it are left undone."""
        return self.config.minimum_confidence

    @classmethod
    def load(cls, model: str | Path = DEFAULT_MODEL, minimum_confidence: float | None = None) -> "Corrector":
        """Open a model by the name of its folder in ``assets/``, or by a path to any such folder.

        ``minimum_confidence``: changes whose probability is below it are left undone; None takes
        the value chosen for this model. Higher is more cautious: fewer, surer changes.

        Raises ModelFolderError if the folder is missing, damaged or holds something else.
        """
        folder = find_model_folder(model)
        return cls(folder.name, *load_model_folder(folder), minimum_confidence)

    def correct(self, text: str) -> Correction:
        """Correct one text of any length, sentence by sentence."""
        return self.correct_batch([text])[0]

    def correct_batch(self, texts: Sequence[str]) -> list[Correction]:
        """Correct many texts at once; the result has their order."""
        sources = [normalise(text) for text in texts]
        spans = [split_sentences(source) for source in sources]
        pieces = [source[a:b] for source, cuts in zip(sources, spans, strict=True) for a, b in cuts]
        corrected = iter(self._correct_sentences(pieces))
        return [
            self._join(source, [(a, source[a:b], next(corrected)) for a, b in cuts])
            for source, cuts in zip(sources, spans, strict=True)
        ]

    def _join(self, source: str, pieces: list[tuple[int, str, str]]) -> Correction:
        sentences, parts, done = [], [], 0
        for start, wrong, right in pieces:
            sentences.append(
                SentenceCorrection(
                    start,
                    wrong,
                    right,
                    find_changes(wrong, right),
                    len(wrong) > self.config.max_length,
                    lambda wrong=wrong, right=right: self.trace(wrong, right),
                )
            )
            parts += [source[done:start], right]
            done = start + len(wrong)
        return Correction(source, "".join([*parts, source[done:]]), tuple(sentences))

    def _correct_sentences(self, sentences: list[str]) -> list[str]:
        corrected = list(sentences)
        readable = [i for i, sentence in enumerate(sentences) if self._worth_reading(sentence)]
        readable.sort(key=lambda i: len(sentences[i]))  # alike lengths waste little padding
        for first in range(0, len(readable), BATCH_SENTENCES):
            batch = readable[first : first + BATCH_SENTENCES]
            produced = self._network.produce([self.tokenizer.encode_source(sentences[i]) for i in batch])
            for i, one in zip(batch, produced, strict=True):
                if one is not None:  # else the network found no end: better uncorrected than cut off
                    corrected[i] = self._accept(sentences[i], one.ids, one.log_probabilities)
        return corrected

    def _accept(self, source: str, ids: list[int], log_probabilities: np.ndarray) -> str:
        target = self.tokenizer.decode(ids, source)
        if len(target) + 1 != len(ids):  # a mark in the middle of a sentence: not an answer
            return source
        confident = keep_confident(source, target, log_probabilities, self.minimum_confidence)
        return keep_protected(source, confident)

    def _worth_reading(self, sentence: str) -> bool:
        # Errors of this product are errors of Hangul; a sentence without any is right as it is.
        has_hangul = any(hangul.is_syllable(c) or "ㄱ" <= c <= "ㅣ" for c in sentence)
        return has_hangul and len(sentence) <= self.config.max_length

    def trace(self, source: str, target: str) -> AttentionTrace:
        """What the network looks at while it turns one sentence into ``target``, in one pass.

        Raises ValueError for a source that is longer than the network can read.
        """
        if len(source) > self.config.max_length:
            raise ValueError(
                f"a sentence may have {self.config.max_length} characters, received {len(source)}"
            )
        source_ids = self.tokenizer.encode_source(source)
        target_ids = self.tokenizer.encode_target(target)
        matrix = positional_encoding(max(len(source_ids), len(target_ids)), self.config.d_model)
        return AttentionTrace(
            source_tokens=(*visible(source), END),
            target_tokens=(*visible(target), END),
            decoder_input_tokens=(START, *visible(target)),
            source_positional_encoding=matrix[: len(source_ids)],
            target_positional_encoding=matrix[: len(target_ids)],
            **self._network.attend(source_ids, target_ids),
        )


def _protected(text: str) -> str:
    """The characters no correction may touch: letters of other scripts, digits, emoji, symbols."""
    return "".join(
        c
        for c in text
        if not (hangul.is_syllable(c) or "ㄱ" <= c <= "ㅣ" or c.isspace())
        and not unicodedata.category(c).startswith("P")
    )


def confidence(change: Change, log_probabilities: np.ndarray) -> float:
    """The network's probability of what it wrote for this change, given all before it: the product
    over its tokens, of T ``log_probabilities``; for a deletion, of the token that follows."""
    end = max(change.target_end, change.target_start + 1)
    return float(np.exp(log_probabilities[change.target_start : end].sum()))


def keep_confident(source: str, target: str, log_probabilities: np.ndarray, minimum: float) -> str:
    """``target`` without those of its changes whose ``confidence`` is below ``minimum``."""
    return _keep(source, target, lambda change: confidence(change, log_probabilities) >= minimum)


def keep_protected(source: str, target: str) -> str:
    """``target`` without those of its changes that lose, alter or invent a protected character."""
    return _keep(source, target, lambda change: _protected(change.wrong) == _protected(change.right))


def _keep(source: str, target: str, accepts: Callable[[Change], bool]) -> str:
    return apply_changes(source, tuple(filter(accepts, find_changes(source, target))))
