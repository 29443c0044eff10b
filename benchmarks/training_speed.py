"""Speed of a training step, beside the same step in PyTorch, and of the error generator.

Both in pairs a second.

    python benchmarks/training_speed.py [--rounds 10] [--steps 3] [--dff 512,1024] [--corpus FILE]

Needs requirements.txt and benchmarks/requirements.txt. A step is forward, loss, gradient, the gradient's norm
clipped to 1, and Adam, in float32, on random ids without padding. Ours runs as ``python -m training train``
sets it up; the other is transformers' MarianMT class with torch's fused Adam. Each has its own process;
they take turns, some steps each, and a ratio is the median over rounds of (ours / theirs in that round). The
generator makes pools of pairs as for training, in one process, of sentences made here or of a file of correct
sentences.
"""

import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.engines import FOLDER, marian
from benchmarks.peers import whole_numbers
from benchmarks.sentences import right_sentence
from benchmarks.server import Worker
from model.stored.folder import VOCABULARY_FILE, load_vocabulary
from model.text.tokenizer import START_ID, Tokenizer
from training.corpus.corpus import read_sentences
from training.run.settings import PRECISIONS
from training.run.stream import PoolMaker, StreamSettings

SHAPE = {"d_model": 128, "num_layers": 4, "num_heads": 4}
RATE, BATCH, TOKENS = 1e-4, 128, 32


def vocabulary() -> Tokenizer:
    return load_vocabulary(FOLDER / VOCABULARY_FILE)


def batches(count: int, vocab_size: int) -> Iterator[tuple[np.ndarray, ...]]:
    """(source, decoder input, target), each (BATCH, TOKENS) int32, ``count`` times."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        source, target = rng.integers(4, vocab_size, (2, BATCH, TOKENS), dtype=np.int32)
        yield source, np.concatenate([np.full((BATCH, 1), START_ID, np.int32), target[:, :-1]], 1), target


class OurTraining:
    def __init__(self, dff: int, precision: str):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        from model.network.networks import build_network
        from model.stored.config import TransformerConfig
        from training.run.network import compile_network
        from training.run.stream import keep_freed_memory

        keep_freed_memory()
        tokenizer = vocabulary()
        config = TransformerConfig(tokenizer.vocab_size, dff=dff, dropout_rate=0.0, norm_first=True, **SHAPE)
        self.network = compile_network(build_network(config, tokenizer), "adam", 0.0, precision)
        self.network.optimizer.learning_rate = RATE

    def steps(self, count: int) -> float:
        """The seconds of ``count`` steps."""
        made = list(batches(count, self.network.config.vocab_size))
        started = time.perf_counter()
        for source, decoder_input, target in made:
            float(self.network.train_on_batch((source, decoder_input), target))
        return time.perf_counter() - started


class TorchTraining:
    def __init__(self, dff: int, precision: str):
        vocab_size = vocabulary().vocab_size
        self.model = marian({"vocab_size": vocab_size, "dff": dff, **SHAPE}, "sdpa").train()
        import torch

        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.autocast = torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")

    def steps(self, count: int) -> float:
        """The seconds of ``count`` steps."""
        import torch

        made = list(batches(count, self.model.config.vocab_size))
        started = time.perf_counter()
        for source, decoder_input, target in made:
            ids = (torch.from_numpy(array).long() for array in (source, decoder_input, target))
            with self.autocast:
                found = self.model(
                    **dict(zip(("input_ids", "decoder_input_ids", "labels"), ids, strict=True))
                )
            self.optimizer.zero_grad()
            found.loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            found.loss.item()
        return time.perf_counter() - started


def generated_pairs(corpus: str | None, pools: int) -> tuple[int, float]:
    """How many pairs the error generator made, and in how many seconds."""
    rng = random.Random(0)
    if corpus:
        sentences = [sentence.text for sentence in read_sentences(corpus)]
    else:
        sentences = [right_sentence(rng, rng.randint(8, 60)) for _ in range(20_000)]
    maker = PoolMaker(sentences, vocabulary(), StreamSettings())
    started = time.perf_counter()
    made = sum(len(batch.source) for pool in range(pools) for batch in maker(pool))
    return made, time.perf_counter() - started


@click.command()
@click.option("--rounds", default=10, show_default=True)
@click.option("--steps", default=3, show_default=True, help="Of each, in each round.")
@click.option("--dff", default="512,1024", show_default=True, callback=whole_numbers)
@click.option("--pools", default=2, show_default=True, help="Pools of the error generator.")
@click.option("--corpus", type=click.Path(exists=True), help="Correct sentences, one a line or .jsonl.")
def main(rounds: int, steps: int, dff: list[int], pools: int, corpus: str | None) -> None:
    """Print pairs a second, medians."""
    click.echo(
        f"{os.cpu_count()} processors, {rounds} rounds of {steps} steps, {BATCH} pairs of {TOKENS} tokens"
    )
    for width in dff:
        with ExitStack() as stack:
            workers = {
                (name, precision): stack.enter_context(Worker(make, width, precision))
                for precision in PRECISIONS
                for name, make in {"ours": OurTraining, "PyTorch": TorchTraining}.items()
            }
            for worker in workers.values():
                worker.call("steps", 3)  # warm up
            seconds: dict[tuple[str, str], list[float]] = {engine: [] for engine in workers}
            for _ in range(rounds):
                for engine, worker in workers.items():
                    seconds[engine].append(worker.call("steps", steps))
        click.echo(f"dff {width}, pairs a second")
        for engine, each in seconds.items():
            click.echo(f"  {' '.join(engine):18}{steps * BATCH / statistics.median(each):5.0f}")
        for ours, theirs in (("float32", "float32"), ("bfloat16", "bfloat16"), ("bfloat16", "float32")):
            rows = zip(seconds["ours", ours], seconds["PyTorch", theirs], strict=True)
            ratios = [their_seconds / our_seconds for our_seconds, their_seconds in rows]
            click.echo(
                f"  ours {ours} / PyTorch {theirs}: {statistics.median(ratios):.2f}, "
                f"from {min(ratios):.2f} to {max(ratios):.2f}"
            )
    made, took = generated_pairs(corpus, pools)
    click.echo(f"error generator alone, one process: {made / took:.0f} pairs a second ({made} pairs)")


if __name__ == "__main__":
    main()
