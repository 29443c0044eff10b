"""``Vocabulary``: how a Keras network of yours spells texts, from which ``laboratory_of`` asks it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from model.adapters.outputs import Token, names


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """How texts become ids and ids texts.

    ``encode`` makes the ids that the encoder reads, with its marks if it wants any. ``written`` makes those of a target, without marks;
    by default it is ``encode``. ``decode`` is never given ``start`` and ``end``. ``token`` names an id.

    >>> digits = Vocabulary(encode=lambda text: [int(each) + 2 for each in text], decode=lambda ids: "".join(str(each - 2) for each in ids), start=0, end=1)
    >>> digits.encode_target("42"), digits.decode_written([6, 4, 1])
    ([6, 4, 1], '42')
    """

    encode: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    start: int
    end: int
    written: Callable[[str], Sequence[int]] | None = None
    token: Token | None = None

    def encode_source(self, text: str) -> list[int]:
        return [int(each) for each in self.encode(text)]

    def encode_target(self, text: str) -> list[int]:
        """The end mark last."""
        return [*(int(each) for each in (self.written or self.encode)(text)), self.end]

    def decode_written(self, ids: Sequence[int], source: str = "") -> str:
        return self.decode([each for each in ids if each not in (self.start, self.end)])

    def spans(self, ids: Sequence[int], text: str) -> tuple[tuple[int, int], ...]:
        """Where each token stands in ``text``: its span is what it adds to the decoded text. No span goes beyond the end of ``text``."""
        ends = [min(len(self.decode_written(ids[:count])), len(text)) for count in range(len(ids) + 1)]
        return tuple(pairwise(np.maximum.accumulate(ends).tolist()))

    def labels(self, ids: Sequence[int]) -> tuple[str, ...]:
        marks = {self.start: "<s>", self.end: "</s>"}
        name = names(lambda each: self.decode([each]), -1) if self.token is None else names(self.token, -1)
        return tuple(marks.get(each) or name(each) for each in ids)
