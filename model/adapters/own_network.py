"""``OwnNetwork``: a Keras, PyTorch or Hugging Face network as input of ``model.analysis``.

``Vocabulary`` is the tokenizer of a Keras network. ``InRowsOfTrace`` is a decoder-only network for questions
about all rows of a trace.

S source tokens, T target tokens, the end mark last.
"""

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from model.activations.walk import ActivationWalk
from model.adapters.own_passes import OwnPasses
from model.adapters.own_stream import OTHER_PARTS, OwnStream
from model.adapters.trace_building import Token, names
from model.correction.answers import Network
from model.correction.correction import Correction, SentenceCorrection
from model.correction.corrector import Intervening
from model.stored.config import GRADIENTS, INTERVENTIONS, STREAM, TracedConfig
from model.text.changes import Change, find_rewriting
from model.text.tokenizer import normalise, split_sentences
from model.trace.interventions import Intervention
from model.trace.trace import AttentionTrace, Described


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The tokenizer of a Keras network: texts to ids and back.

    >>> digits = Vocabulary(
    ...     encode=lambda text: [int(each) + 2 for each in text],
    ...     decode=lambda ids: "".join(str(each - 2) for each in ids),
    ...     start=0,
    ...     end=1,
    ... )
    >>> digits.encode_target("42"), digits.decode_written([6, 4, 1])
    ([6, 4, 1], '42')

    Args:
        encode: the ids that the encoder reads, with its marks if it needs any.
        decode: the text of ids without ``start`` and ``end``.
        start: the id that the decoder reads first.
        end: the id of the end mark.
        written: the ids of a target without marks; by default those of ``encode``.
        token: names an id; by default its decoded text.
    """

    encode: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    start: int
    end: int
    written: Callable[[str], Sequence[int]] | None = None
    token: Token | None = None

    def encode_source(self, text: str) -> list[int]:
        """S ids.

        >>> Vocabulary(encode=lambda text: map(int, text), decode=str, start=0, end=1).encode_source("42")
        [4, 2]
        """
        return [int(each) for each in self.encode(text)]

    def encode_target(self, text: str) -> list[int]:
        """(T,) ids, the end mark last."""
        return [*(int(each) for each in (self.written or self.encode)(text)), self.end]

    def decode_written(self, ids: Sequence[int], source: str = "") -> str:
        """The text of ids without the marks.

        >>> Vocabulary(encode=list, decode=str, start=0, end=1).decode_written([0, 5, 1])
        '[5]'
        """
        return self.decode([each for each in ids if each not in (self.start, self.end)])

    def spans(self, ids: Sequence[int], text: str) -> tuple[tuple[int, int], ...]:
        """Start and end of each token in ``text``: the characters that it adds to the decoded text.

        >>> letters = Vocabulary(encode=list, decode=lambda ids: "".join(map(chr, ids)), start=0, end=1)
        >>> letters.spans([97, 98, 1], "ab")
        ((0, 1), (1, 2), (2, 2))
        """
        ends = [min(len(self.decode_written(ids[:count])), len(text)) for count in range(len(ids) + 1)]
        return tuple(pairwise(np.maximum.accumulate(ends).tolist()))

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The name of each id.

        >>> Vocabulary(encode=list, decode=str, start=0, end=1, token={5: "five"}).labels([0, 5, 1])
        ('<s>', 'five', '</s>')
        """
        marks = {self.start: "<s>", self.end: "</s>"}
        name = names(lambda each: self.decode([each]), -1) if self.token is None else names(self.token, -1)
        return tuple(marks.get(each) or name(each) for each in ids)


class VocabularyTexts:
    """A ``Vocabulary`` as ``own_passes.Texts``. A decoder-only prompt begins with the start mark."""

    def __init__(self, vocabulary: Vocabulary, is_decoder: bool = False):
        self._vocabulary, self._marks = vocabulary, [vocabulary.start] if is_decoder else []
        self.encode_target, self.labels = vocabulary.encode_target, vocabulary.labels
        self.decode = vocabulary.decode_written

    def encode_source(self, text: str) -> list[int]:
        """(S,) ids."""
        return [*self._marks, *self._vocabulary.encode_source(text)]

    def fields(self, side: str, ids: Sequence[int], text: str | None = None) -> dict[str, Any]:
        """The fields ``<side>_tokens``, ``_text`` and ``_spans``; without ``text`` of the decoded ids."""
        text = self.decode(ids) if text is None else text
        return {
            f"{side}_tokens": self.labels(ids),
            f"{side}_text": text,
            f"{side}_spans": self._vocabulary.spans(ids, text),
        }


class InRowsOfTrace:
    """A decoder-only network for questions about all rows of a trace of two texts.

    The trace has rows for the tokens of the prompt, too, so the first token alone is the prompt here.
    """

    def __init__(self, network: Network, source: str, target: str):
        self.patched, self.tokenizer, texts = network.patched, self, network.tokenizer
        self._ids = [*texts.encode_source(source), *texts.encode_target(target)]
        self.labels = texts.labels

    def encode_source(self, text: str) -> list[int]:
        """(S,) ids: the first one of both texts."""
        return self._ids[:1]

    def encode_target(self, text: str) -> list[int]:
        """(T,) ids: all others of both texts."""
        return self._ids[1:]


class RewritingNetwork:
    """A network that rewrites texts sentence by sentence.

    Every change is made, because the network states no confidence.
    """

    minimum_confidence = TracedConfig.minimum_confidence

    def rewritten(self, source: str) -> str:
        """The network's output for one sentence."""
        raise NotImplementedError

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The pass that turns one sentence into ``target``."""
        raise NotImplementedError

    def warm_up(self) -> None:
        """Prepare nothing: its first pass is as fast as the others."""

    warm_up_doubts = warm_up  # nor are there tables of a confidence

    def correct(self, text: str) -> Correction:
        """The network's output for each sentence of a text: its correction, or its translation."""
        return self.correct_batch([text])[0]

    def correct_batch(self, texts: Sequence[str]) -> list[Correction]:
        """``correct`` of each text; the network is given one sentence at a time."""
        return [self._correct(normalise(text)) for text in texts]

    def changes(self, source: str, target: str) -> tuple[Change, ...]:
        return find_rewriting(source, target)

    def _correct(self, text: str) -> Correction:
        return Correction(text, tuple(self._sentence(a, text[a:b]) for a, b in split_sentences(text)))

    def _sentence(self, start: int, source: str) -> SentenceCorrection:
        changes = find_rewriting(source, normalise(self.rewritten(source)))
        return SentenceCorrection(start, source, changes, self.minimum_confidence, False, self.trace)


class OwnNetwork(RewritingNetwork, Intervening):
    """A network of another library that takes interventions: the result of ``laboratory_of``.

    Args:
        missing: the reason why it has no residual stream; None with one.
    """

    fingerprint = "own"

    def __init__(self, name: str, passes: OwnPasses, missing: ValueError | None = None):
        self.name, self._passes = name, passes
        self.tokenizer: Any = passes.texts
        abilities = [INTERVENTIONS, GRADIENTS, *([] if missing else [STREAM])]
        self.config = TracedConfig(
            frozenset(abilities),
            why_no_stream="" if missing is None else str(missing),
            no_stream="" if missing is None else getattr(missing, "kind", OTHER_PARTS),
        )

    def that(self, **told: Any) -> "OwnNetwork":
        """The same network with the fields of ``Described``: ``laboratory_of(…).that(task="translate")``."""
        found = copy(self)
        found.config = replace(self.config, described=Described(**told))
        return found

    @property
    def laboratory(self) -> Any:
        return self._passes

    @property
    def patched(self) -> ActivationWalk:
        """Its residual stream. Raises ValueError without one; ``config.abilities`` say whether it has one."""
        if self._passes.stream is None:
            raise ValueError(self.why_no_stream)
        return self._passes.stream

    @property
    def why_no_stream(self) -> str:
        """The reason against a residual stream, in English; empty with one."""
        if not self.config.why_no_stream:
            return ""
        return f"the residual stream of {self.name} is not known from outside: {self.config.why_no_stream}"

    def trace(self, source: str, target: str) -> AttentionTrace:
        """One pass, with the attention (L, H, Q, K) of each kind."""
        return self._passes.trace(source, target)

    def trace_under(self, source: str, target: str, intervention: Intervention) -> AttentionTrace:
        """``trace`` under an intervention, with the weights (L, H, Q, K) that the pass used.

        Of a head that is off it shows the computed weights, although they have no effect.

        Raises:
            ValueError: for an intervention that the network does not have.
        """
        return self._passes.trace(source, target, intervention)

    def rewritten(self, source: str) -> str:
        """The output for one sentence, with a warning where it is cut because no end mark came.

        Raises:
            ValueError: where the network computes NaN.
        """
        written = self._passes.written(self.tokenizer.encode_source(source), Intervention(), ())
        if not self._passes.is_whole(written):
            message = f"{self.name} wrote no end mark in {len(written.ids)} tokens, so its text is cut there"
            warnings.warn(message, UserWarning, stacklevel=2)
        return self.tokenizer.decode(written.ids, source)


def opened(name: str, passes: OwnPasses, read: Callable[[], OwnStream]) -> OwnNetwork:
    """The laboratory of a network, with the residual stream that ``read`` returns.

    It raises for layers of another architecture; then the network has all abilities that need no stream.
    """
    try:
        passes.stream = read()
    except ValueError as reason:
        return OwnNetwork(name, passes, reason)
    except Exception as reason:  # noqa: BLE001  layers of another architecture, or of fixed lengths: each library has its own kind
        return OwnNetwork(name, passes, ValueError(f"{type(reason).__name__}: {reason}"))
    return OwnNetwork(name, passes)
