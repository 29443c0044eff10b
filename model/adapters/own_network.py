"""``OwnNetwork``: a network of yours that answers as ``Corrector`` does, so that ``model.analysis`` can ask it.

S source tokens, T target tokens, the end mark last; L layers, H heads, Q query and K key positions.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from model.activations.drafting import Pass, Produced
from model.activations.laboratory import Passes
from model.activations.walk import PatchedTransformer
from model.adapters.own_stream import OTHER_PARTS
from model.correction.correction import Correction, SentenceCorrection
from model.correction.intervening import Intervening
from model.stored.config import GRADIENTS, INTERVENTIONS
from model.text.changes import Change, find_rewriting
from model.text.sentences import split_sentences
from model.text.tokenizer import normalise
from model.trace.interventions import Intervention
from model.trace.trace import AttentionTrace
from model.trace.traced import Described


class Texts(Protocol):
    """What an ``OwnNetwork`` needs of a tokenizer."""

    def encode_source(self, text: str) -> list[int]:
        """S ids."""
        ...

    def encode_target(self, text: str) -> list[int]:
        """T ids, the end mark last."""
        ...

    def decode(self, ids: Sequence[int], source: str = "") -> str: ...

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class OwnConfig:
    """What is known of such a network before it is asked."""

    architecture: ClassVar[str] = "traced"
    has_positions: ClassVar[bool] = False
    minimum_confidence: ClassVar[float] = 0.0

    max_length: int = 2_000  # characters
    abilities: frozenset[str] = frozenset([INTERVENTIONS, GRADIENTS])
    described: Described = field(default_factory=Described)
    why_no_stream: str = ""  # what it lacks for a residual stream, in English
    no_stream: str = ""  # the same as one of ``own_stream.NO_STREAM``


class AttentionSizes(NamedTuple):
    """One kind of attention, in the names that ``alterations`` reads."""

    attention_layers: int
    num_heads: int
    d_model: int  # H times the width of a head


class OwnPasses(Passes, Protocol):
    """What each library's file has: passes over ids."""

    @property
    def sizes(self) -> Mapping[str, AttentionSizes]:
        """By kind of attention."""
        ...

    def trace(self, source: str, target: str, intervention: Intervention | None = None) -> AttentionTrace: ...

    def write_cut(self, source: Sequence[int]) -> Produced: ...

    def is_whole(self, written: Produced) -> bool: ...


class WithoutTaps:
    """What is the same in each library: nothing can be tapped from outside, nothing is prepared, and rows are written one by one.
    The ``OwnPasses`` of each library inherit from it, and say what comes next and how much they write at most."""

    end: int  # the id of the end mark
    needs_end = True  # of a decoder alone a text without an end mark is whole, too

    def taps(
        self,
        source: Sequence[int],
        target: Sequence[int],
        names: Iterable[str],
        intervention: Intervention | None = None,
    ) -> dict[str, np.ndarray]:
        raise ValueError(f"a network of your own has no taps, received {sorted(names)}")

    def warm_up(self) -> Iterator[None]:
        return iter(())

    def write(
        self,
        sources: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
        forced: Sequence[Sequence[int]] = (),
    ) -> list[Produced | None]:
        """What is written under each intervention without sampling, the end mark last; None where no end came.
        ``forced``: the ids that a row has to begin with."""
        starts = forced or [()] * len(sources)
        found = [self._written(*each) for each in zip(sources, interventions, starts, strict=True)]
        return [each if self.is_whole(each) else None for each in found]

    def write_cut(self, source: Sequence[int]) -> Produced:
        """What is written where nothing is changed, cut where no end came; ``is_whole`` tells which."""
        return self._written(source, Intervention(), ())

    def is_whole(self, written: Produced) -> bool:
        """Whether an end came, where there has to be one."""
        return not self.needs_end or written.ids[-1] == self.end

    def _written(self, source: Sequence[int], intervention: Intervention, forced: Sequence[int]) -> Produced:
        """The likeliest token, again and again. Without an end mark where none came in as many tokens as the network may write."""
        ids, most = list(forced), self._most(len(source))
        while len(ids) < most and (not ids or ids[-1] != self.end):
            ids.append(self._next(source, ids, intervention))
        return self.pass_over([source], [ids], [intervention]).row(0, source, ids)

    def pass_over(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        interventions: Sequence[Intervention],
    ) -> Pass:
        raise NotImplementedError

    def _next(self, source: Sequence[int], ids: Sequence[int], intervention: Intervention) -> int:
        """The id that the network finds likeliest behind ``ids``."""
        raise NotImplementedError

    def _most(self, source: int) -> int:
        """How many tokens are written at most for a source of so many."""
        raise NotImplementedError


class OwnNetwork(Intervening):
    """What ``laboratory_of`` returns. Every change is made, because the network does not say how sure it is."""

    minimum_confidence = OwnConfig.minimum_confidence
    fingerprint = "own"

    def __init__(
        self,
        name: str,
        texts: Texts,
        passes: OwnPasses,
        abilities: Iterable[str],
        stream: PatchedTransformer | None = None,
        why: ValueError | None = None,
    ):
        """``why``: what a network without a ``stream`` lacks for it."""
        self.name, self._passes, self._stream = name, passes, stream
        self.tokenizer: Any = texts
        self.config = (
            OwnConfig(abilities=frozenset(abilities))
            if why is None
            else OwnConfig(
                abilities=frozenset(abilities),
                why_no_stream=str(why),
                no_stream=getattr(why, "kind", OTHER_PARTS),
            )
        )

    def that(self, **told: Any) -> "OwnNetwork":
        """The same network with a description of itself, in the fields of ``Described``: ``laboratory_of(…).that(task="translate")``."""
        found = OwnNetwork(self.name, self.tokenizer, self._passes, (), self._stream)
        found.config = replace(self.config, described=Described(**told))
        return found

    def warm_up(self) -> None:
        """There is nothing to be prepared."""

    warm_up_doubts = warm_up  # nor are there tables of a confidence

    @property
    def laboratory(self) -> Any:
        return self._passes

    @property
    def patched(self) -> PatchedTransformer:
        """Its residual stream. Raises ValueError where that is not known from outside; ``config.abilities`` say whether it is."""
        if self._stream is None:
            raise ValueError(self.why_no_stream)
        return self._stream

    @property
    def why_no_stream(self) -> str:
        """What its developer and the views that need one are told; empty where there is one."""
        if self._stream is not None:
            return ""
        return f"the residual stream of {self.name} is not known from outside: {self.config.why_no_stream}"

    def correct(self, text: str) -> Correction:
        """What the network makes of each sentence of a text: its correction, or its translation. A sentence without an end mark is cut
        where the network may write no more, with a warning."""
        return self.correct_batch([text])[0]

    def correct_batch(self, texts: Sequence[str]) -> list[Correction]:
        return [self._correct(normalise(text)) for text in texts]

    def trace(self, source: str, target: str) -> AttentionTrace:
        """The pass in which one sentence is turned into ``target``."""
        return self._passes.trace(source, target)

    def trace_under(self, source: str, target: str, intervention: Intervention) -> AttentionTrace:
        """``trace`` with something changed. It shows the weights that were used: replaced ones in place of a head's own. Of a head
        that is off it shows the weights that were computed, although nothing comes of them."""
        return self._passes.trace(source, target, intervention)

    def changes(self, source: str, target: str) -> tuple[Change, ...]:
        return find_rewriting(source, target)

    def _correct(self, text: str) -> Correction:
        return Correction(text, tuple(self._sentence(a, text[a:b]) for a, b in split_sentences(text)))

    def _sentence(self, start: int, source: str) -> SentenceCorrection:
        written = self._passes.write_cut(self.tokenizer.encode_source(source))
        if not self._passes.is_whole(written):
            warnings.warn(
                f"{self.name} wrote no end mark in {len(written.ids)} tokens, so its text is cut there",
                UserWarning,
                stacklevel=2,
            )
        target = normalise(self.tokenizer.decode(written.ids, source))
        changes = find_rewriting(source, target)
        return SentenceCorrection(start, source, changes, self.minimum_confidence, False, self.trace)


def without_nan(found: np.ndarray) -> np.ndarray:
    """``found``, what a pass computed. Raises ValueError where it is NaN, because answers made of that would mean nothing.

    >>> without_nan(np.array([0.5]))
    array([0.5])
    """
    if np.isnan(found).any():
        raise ValueError(
            "the network computes NaN, which is no number: look at its weights, as after training that diverged"
        )
    return found


def check_one_length(sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> None:
    """Raises ValueError where rows of one batch have other lengths: nothing here is padded."""
    for name, rows in (("sources", sources), ("targets", targets)):
        if len({len(row) for row in rows}) > 1:
            raise ValueError(f"{name} should have one length, received {sorted({len(row) for row in rows})}")
