"""An endless, resumable stream of batches; ``workers.Stream`` makes them in background processes.

The corpus is shuffled anew each epoch and cut into pools of sentences. Pool ``i`` is a pure
function of (corpus, settings, i): its sentences are made wrong, sorted by length into batches of
about equally many tokens, and the batches are shuffled. A ``Position`` therefore says exactly
where a run stands, and the same batches follow from it on any machine.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from model.text.tokenizer import START_ID, Tokenizer, pad
from training.run.examples import ExampleMaker, ExampleSettings, Practised
from training.run.judge import Encoded, Judge
from training.run.knobs import knob

LENGTH_STEP = 4  # batches are padded to a multiple of this many tokens
JUDGED_TOKENS = 2048  # of one batch that a judge reads: larger ones outgrow the processor's cache


def read_widths(text: str) -> tuple[int, ...]:
    """``"16,32,164"`` as ``StreamSettings.widths``. Raises ValueError for what is no whole number.

    >>> read_widths("16,32")
    (16, 32)
    """
    return tuple(int(part) for part in filter(None, text.split(",")))


@dataclass(frozen=True)
class StreamSettings(ExampleSettings):
    """What the batches of a run are made of, and how."""

    pool_sentences: int = 16_384
    seed: int = knob(0)
    batch_tokens: int = knob(4096, "Source tokens of one batch, padding included.")
    widths: tuple[int, ...] = knob(
        (),
        "How many tokens wide batches may be, as in 16,32,64,164: few shapes for a backend that compiles each (JAX). "
        f"Without it, any multiple of {LENGTH_STEP}.",
        parse=read_widths,
    )

    def __post_init__(self):
        longest = longest_source(self.max_length)
        if list(self.widths) != sorted({*self.widths}) or min(self.widths, default=1) < 1:
            raise ValueError(f"widths should be above 0 and rise, received {self.widths}")
        if self.widths and self.widths[-1] <= longest:
            raise ValueError(f"the last width should be more than {longest}, received {self.widths}")


def batch_shapes(settings: StreamSettings) -> list[tuple[int, int]]:
    """The shapes (B, S) of batches with these ``widths``; none if batches may have any shape."""
    return [(max(1, settings.batch_tokens // width), width) for width in settings.widths]


class Position(NamedTuple):
    pool: int
    batch: int


class Batch(NamedTuple):
    source: np.ndarray  # (B, S) int32
    decoder_input: np.ndarray  # (B, T) int32, begins with the start mark
    target: np.ndarray  # (B, T) int32, ends with the end mark


def make_batch(pairs: Sequence[Encoded], length: int | None = None) -> Batch:
    """Encoded (source, target) rows to one padded batch; both sides share one length, by default the least that will do."""
    length = length or -(-max(map(_length, pairs)) // LENGTH_STEP) * LENGTH_STEP
    return Batch(
        pad([source for source, _ in pairs], length),
        pad([[START_ID, *target[:-1]] for _, target in pairs], length),
        pad([target for _, target in pairs], length),
    )


def _length(pair: Encoded) -> int:
    return max(map(len, pair))


def longest_source(longest: int) -> int:
    """How many characters the wrong sentence may have where the right one has at most ``longest``."""
    return longest + longest // 4


def _rows(pairs: list[Encoded], tokens: int) -> Iterator[list[Encoded]]:
    """The pairs, which come sorted by length, as rows of batches of at most so many source tokens."""
    rows: list[Encoded] = []
    for pair in pairs:
        width = -(-_length(pair) // LENGTH_STEP) * LENGTH_STEP
        if rows and width * (len(rows) + 1) > tokens:
            yield rows
            rows = []
        rows.append(pair)
    if rows:
        yield rows


def _batches_of_widths(
    pairs: list[Encoded], widths: Sequence[int], tokens: int, rng: random.Random
) -> list[Batch]:
    """The pairs, which come sorted by length, as batches of these widths alone, each of ``tokens // width`` rows.

    A compiler such as that of JAX compiles once for each shape, so it has as many shapes to compile as there are
    widths. The batches are cut from the longest pair on. The last batch is filled up with pairs that are drawn again.
    """
    batches, end = [], len(pairs)
    while end:
        width = next(width for width in widths if _length(pairs[end - 1]) <= width)
        rows = max(1, tokens // width)
        chosen = pairs[max(0, end - rows) : end]
        end -= len(chosen)
        batches.append(make_batch([*chosen, *rng.choices(chosen, k=rows - len(chosen))], width))
    return batches


class PoolMaker:
    """Makes pool ``i`` of a corpus. With a ``judge`` only the pairs that it keeps."""

    def __init__(
        self,
        items: Sequence[Practised],
        tokenizer: Tokenizer,
        settings: StreamSettings,
        judge: Judge | None = None,
    ):
        if judge and judge.tokenizer.characters != tokenizer.characters:
            raise ValueError(f"the judge has another vocabulary: {judge.folder}")
        if not items:
            raise ValueError("the corpus is empty")
        longest = settings.max_length
        if not any(len(item if isinstance(item, str) else item[1]) <= longest for item in items):
            raise ValueError(f"no sentence of the corpus has at most {longest} characters")
        self.items, self.tokenizer, self.settings, self.judge = items, tokenizer, settings, judge
        self.pools_per_epoch = -(-len(items) // settings.pool_sentences)

    @cached_property
    def examples(self) -> ExampleMaker:
        """Made by the process that first needs it: it takes up to a minute, in which others can load and compile."""
        return ExampleMaker(self.items, self.settings)

    def __call__(self, index: int) -> list[Batch]:
        epoch, part = divmod(index, self.pools_per_epoch)
        order = np.random.default_rng((self.settings.seed, epoch)).permutation(len(self.items))
        chosen = order[part :: self.pools_per_epoch]
        rng = random.Random(f"{self.settings.seed}:{index}")
        pairs = [pair for i in chosen for pair in self.examples.pairs(self.items[i], rng)]
        longest = self.settings.max_length
        encoded: list[Encoded] = [
            (self.tokenizer.encode_source(wrong), self.tokenizer.encode_target(right))
            for wrong, right in pairs
            if len(wrong) <= longest_source(longest) and len(right) <= longest
        ]
        encoded.sort(key=_length)
        if self.judge:
            encoded = _judged(self.judge, encoded, rng)
        tokens, widths = self.settings.batch_tokens, self.settings.widths
        if widths:
            batches = _batches_of_widths(encoded, widths, tokens, rng)
        else:
            batches = [make_batch(rows) for rows in _rows(encoded, tokens)]
        rng.shuffle(batches)
        return batches


def _judged(judge: Judge, encoded: list[Encoded], rng: random.Random) -> list[Encoded]:
    batches = (make_batch(rows) for rows in _rows(encoded, JUDGED_TOKENS))
    losses = np.concatenate([judge.losses(batch) for batch in batches])
    return [encoded[i] for i in judge.chosen(losses.tolist(), rng)]
