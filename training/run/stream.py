"""``Stream``: endless, resumable training batches from background processes; ``Judge``.

The corpus is shuffled anew each epoch and cut into pools of sentences. Pool ``i`` is a pure function of
(corpus, settings, i): its sentences are made wrong, sorted by length into batches of about equally many
tokens, and the batches are shuffled. A ``Position`` therefore says exactly where a run stands, and the same
batches follow from it on any machine. ``Stream`` makes the batches ahead of the run's steps.
"""

import ctypes
import gc
import multiprocessing
import os
import platform
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from model.stored.folder import VOCABULARY_FILE, load_vocabulary
from model.text.tokenizer import PAD_ID, START_ID, Tokenizer, pad
from training.options import knob
from training.run.examples import ExampleMaker, ExampleSettings, Practised

LENGTH_STEP = 4  # batches are padded to a multiple of this many tokens
JUDGED_TOKENS = 2048  # of one batch that a judge reads: larger ones outgrow the processor's cache


Encoded = tuple[Sequence[int], Sequence[int]]  # source and target ids


class Judge:
    """Keeps of the pairs of a pool the ``share`` that the model in ``folder`` finds hardest, and a share
    ``others`` of the rest.

    The process that first asks it loads its network. Raises ValueError for a share that is not from 0 to 1.
    """

    def __init__(self, folder: Path, share: float, others: float = 0.05):
        for name, value in {"share": share, "others": others}.items():
            if not 0 <= value <= 1:
                raise ValueError(f"{name} should be from 0 to 1, received {value}")
        self.folder, self.share, self.others = folder, share, others
        self.tokenizer = load_vocabulary(folder / VOCABULARY_FILE)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "network"}

    @cached_property
    def network(self) -> Any:
        from model.network.networks import load_model_folder  # loads a network library

        network, *_ = load_model_folder(self.folder)
        return _pair_loss(network)

    def chosen(self, losses: Sequence[float], rng: random.Random) -> list[int]:
        """The pairs to keep, by their losses per token: indices, in order. ``losses`` (B,), in nats."""
        order = sorted(range(len(losses)), key=lambda i: -losses[i])
        hard = round(self.share * len(order))
        return sorted([*order[:hard], *(i for i in order[hard:] if rng.random() < self.others)])

    def losses(self, batch: "Batch") -> np.ndarray:
        """A batch's pairs -> (B,) mean over a pair's real target tokens of ``-log p(token)``, in nats."""
        return self.network.predict_on_batch(tuple(batch))


def _pair_loss(network: Any) -> Any:
    """``network`` with its loss, (source, decoder input, target) -> (B,), as one compiled graph: called op by
    op it took four times as long.
    """
    import keras
    from keras import ops

    source, decoder_input, target = (keras.Input((None,), dtype="int32") for _ in range(3))
    loss = ops.sparse_categorical_crossentropy(target, network((source, decoder_input)), from_logits=True)
    real = ops.cast(ops.not_equal(target, PAD_ID), loss.dtype)
    mean = ops.sum(loss * real, axis=1) / ops.sum(real, axis=1)
    return keras.Model((source, decoder_input, target), mean)


def keep_freed_memory() -> None:
    """Tell glibc to keep the large arrays that a step frees, for the next step.

    Otherwise each step maps and zeroes them anew: that took a quarter of the processor time of a
    step (1.93 s against 1.45 s at d_model 128, 4+4 layers, 128 pairs of 32 tokens). The numbers
    are M_MMAP_MAX and M_TRIM_THRESHOLD of malloc.h; other C libraries are left as they are.

    Step times in seconds.
    """
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(-4, 0)
        libc.mallopt(-1, 2**31 - 1)


def read_widths(text: str) -> tuple[int, ...]:
    """``"16,32,164"`` as ``StreamSettings.widths``. Raises ValueError for another text.

    >>> read_widths("16,32")
    (16, 32)
    """
    return tuple(int(part) for part in filter(None, text.split(",")))


@dataclass(frozen=True)
class StreamSettings(ExampleSettings):
    """The settings of a run's batches."""

    pool_sentences: int = 16_384
    seed: int = knob(0)
    batch_tokens: int = knob(4096, "Source tokens of one batch, padding included.")
    widths: tuple[int, ...] = knob(
        (),
        "How many tokens wide batches may be, as in 16,32,64,164: few shapes for a backend"
        " that compiles each (JAX). "
        f"Without it, any multiple of {LENGTH_STEP}.",
        parse=read_widths,
    )

    def __post_init__(self) -> None:
        longest = _longest_source(self.max_length)
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
    """Encoded (source, target) rows to one padded batch; both sides share one length, by default the least
    that will do. Shapes: source (B, S), decoder input and target (B, T).
    """
    length = length or -(-max(map(_length, pairs)) // LENGTH_STEP) * LENGTH_STEP
    return Batch(
        pad([source for source, _ in pairs], length),
        pad([[START_ID, *target[:-1]] for _, target in pairs], length),
        pad([target for _, target in pairs], length),
    )


def _length(pair: Encoded) -> int:
    return max(map(len, pair))


def _longest_source(longest: int) -> int:
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
    """The pairs, which come sorted by length, as batches of these widths alone, each of ``tokens // width``
    rows.

    A compiler such as that of JAX compiles once for each shape, so it has as many shapes to compile as there
    are widths. The batches are cut from the longest pair on. The last batch is filled up with pairs that are
    drawn again.
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
        """Made by the process that first needs it: it takes up to a minute, in which others can load and
        compile.
        """
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
            if len(wrong) <= _longest_source(longest) and len(right) <= longest
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


_THREADED = {"tensorflow", "jax"}  # have threads of their own: a fork of a process that runs them can hang


class Stream:
    """Batches from ``start`` on, each with the position that follows it.

    A context manager: its processes start when it is entered and end when it is left, at once.

    Of N processes each makes every Nth pool and hands it over through a pipe of its own. So they need neither
    locks nor threads, and a process that is killed while it writes blocks no other. They are forked if no
    library with threads is loaded yet, because a fork shares the corpus. Otherwise they are spawned, and each
    has to be sent the corpus, which takes half a minute with 15 processes and 600,000 sentences.
    """

    def __init__(self, maker: Callable[[int], list[Batch]], start: Position, workers: int = 1):
        self.maker, self.start, self.workers = maker, start, workers

    def __enter__(self) -> Self:
        forks = sys.platform == "linux" and not _THREADED & sys.modules.keys()
        if forks:
            gc.collect()
            gc.freeze()  # or a collection in each process would copy the memory that they share
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self.processes, self._pipes = [], []
        for number in range(self.workers):
            pipe, far_end = context.Pipe(duplex=False)
            arguments = self.maker, self.start.pool + number, self.workers, far_end, os.getpid()
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            far_end.close()  # the process has its own, so that its death ends the pipe
            self.processes.append(process)
            self._pipes.append(pipe)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()  # a pool takes seconds to finish, and is not needed
        for process, pipe in zip(self.processes, self._pipes, strict=True):
            process.join()
            pipe.close()

    def __iter__(self) -> Iterator[tuple[Batch, Position]]:
        """Raises an error of a process, and RuntimeError where one was killed."""
        pool, skip = self.start
        for number in count():
            batches = self._receive(number % self.workers)
            for i in range(skip, len(batches)):
                done = i + 1 == len(batches)
                yield batches[i], Position(pool + 1, 0) if done else Position(pool, i + 1)
            pool, skip = pool + 1, 0

    def _receive(self, number: int) -> list[Batch]:
        try:
            made = self._pipes[number].recv()
        except EOFError as error:
            raise RuntimeError("a process that makes pairs was ended from outside") from error
        if isinstance(made, Exception):
            raise made
        return made


def _work(
    maker: Callable[[int], list[Batch]], first: int, stride: int, pipe: Connection, parent: int
) -> None:
    # A judge's network is small; the cores and the GPU belong to the one that is trained.
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
    os.environ["JAX_PLATFORMS"] = "cpu"
    keep_freed_memory()

    def follow_parent() -> None:  # a killed parent cannot tell its workers to end
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=follow_parent, daemon=True).start()
    try:
        for index in count(first, stride):
            pipe.send(maker(index))
    except Exception as error:
        pipe.send(error)
        raise
