"""What answers visitors: TensorFlow, with XLA, against ONNX Runtime, on the shipped network.

    python benchmarks/backends.py [--rounds 40]

Needs psutil besides requirements.txt. Each runs in a process of its own; they take turns, sentence by sentence, so other
work on the machine hits both alike. Times are wall time and, in brackets, processor time of all threads: on a busy machine
trust the second, and the ratios. XLA is asked only at the lengths that it has compiled.
"""

import os
import platform
import random
import statistics
import sys
import time
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from made_sentences import pair_of
from workers import Worker

LENGTHS = (32, 48, 128)  # tokens, the end mark included
WallAndProcessor = tuple[float, float]  # seconds of wall and of processor time


class Backend:
    """The shipped network as one library runs it."""

    def __init__(self, name: str):
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        os.environ["ATTENTION_BACKEND"] = name
        began, clock = time.perf_counter(), time.process_time()
        import model.correction.corrector  # noqa: F401  what both need

        common = time.perf_counter() - began
        from model import Corrector

        self.corrector = Corrector.load()
        self.network = self.corrector._network
        assert self.corrector.correct("머거도 되요?").trace.kinds
        self.started = time.perf_counter() - began, time.process_time() - clock, common
        self.halves = None
        if name == "keras":
            from model.network.passes import compile_halves

            self.halves = compile_halves(self.network.network, jit_compile=True)

    def start(self) -> tuple[float, float, float]:
        """Seconds, and of processor time, from the first import to the first answer; of that the imports of both."""
        return self.started

    def megabytes(self) -> float:
        import psutil

        return psutil.Process().memory_info().rss / 1e6

    def one_pass(self, source: list[int], target: list[int]) -> WallAndProcessor:
        """Encode and one pass of the decoder, all attention as NumPy arrays."""
        return self._timed(
            lambda: self._compiled(source, target) if self.halves else self.network.attend(source, target)
        )

    def correct(self, text: str) -> WallAndProcessor:
        """A correction with its confidence and every attention."""
        return self._timed(lambda: [sentence.trace for sentence in self.corrector.correct(text).sentences])

    def _compiled(self, source: list[int], target: list[int]):
        from model.network.passes import KerasReading
        from model.plain.drafting import read_off

        looked = KerasReading(self.halves, [source]).pass_over([target])
        return read_off(looked.row(0, source, target))

    def _timed(self, ask) -> WallAndProcessor:
        began, clock = time.perf_counter(), time.process_time()
        ask()
        return time.perf_counter() - began, time.process_time() - clock


def shown(values: list[float]) -> str:
    return f"{statistics.median(values) * 1e3:7.1f} (least {min(values) * 1e3:5.1f})"


def compare(name: str, found: dict[str, list[WallAndProcessor]]) -> None:
    keras, graph = found["keras"], found["graph"]
    for what, part in (("wall", 0), ("processor", 1)):
        one, two = ([times[part] for times in each] for each in (keras, graph))
        ratio = statistics.median(a / b for a, b in zip(one, two, strict=True))
        click.echo(f"| {name}, {what} | {shown(one)} | {shown(two)} | {ratio:.1f} |")


@click.command()
@click.option("--rounds", default=40, show_default=True)
@click.option("--seed", default=0, show_default=True)
def main(rounds, seed):
    """Start, memory, a pass and a correction of both."""
    rng = random.Random(seed)
    click.echo(
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )
    with Worker(Backend, "keras") as keras, Worker(Backend, "graph") as graph:
        backends = {"keras": keras, "graph": graph}
        for name, worker in backends.items():
            wall, processor, common = worker.call("start")
            click.echo(
                f"{name}: first answer after {wall:.2f} s, {processor:.2f} of processor time ({common:.2f} s imports of both)"
            )
            click.echo(f"{name}: {worker.call('megabytes'):.0f} MB")
        click.echo("\n| milliseconds | TensorFlow | ONNX Runtime | ratio |\n|---|---|---|---|")
        for tokens in LENGTHS:
            ids = [rng.randrange(4, 2000) for _ in range(tokens)]
            measure(f"pass, {tokens} tokens", backends, rounds, "one_pass", lambda ids=ids: (ids, ids))
        for tokens in LENGTHS:
            measure(
                f"correction, {tokens} tokens",
                backends,
                rounds,
                "correct",
                lambda n=tokens: (pair_of(rng, n).wrong,),
            )
        click.echo("")
        for name, worker in backends.items():
            click.echo(f"{name}: {worker.call('megabytes'):.0f} MB at the end")


def measure(name: str, backends: dict[str, Worker], rounds: int, method: str, asked) -> None:
    found: dict[str, list[WallAndProcessor]] = {each: [] for each in backends}
    for number in range(rounds + 2):
        arguments = asked()
        for each, worker in backends.items():
            times = worker.call(method, *arguments)
            if number >= 2:  # the first ones compile
                found[each].append(times)
    compare(name, found)


if __name__ == "__main__":
    main()
