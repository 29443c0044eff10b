"""Which runtime should answer? ONNX Runtime, OpenVINO and LiteRT, on the shipped network: encode and one pass with all attention.

    python benchmarks/runtimes.py [--rounds 40] [--threads 1]

Needs requirements-train.txt, psutil, openvino and ai-edge-litert. Each runs in a process of its own; they take turns, pass by pass, so other
work on the machine hits all alike. ONNX Runtime is asked as the app asks it. OpenVINO reads the same graphs, with the weights in
them. LiteRT gets the two halves of the Keras network, converted for each length, since its fast kernels (XNNPACK) want lengths that are
known. Times are wall time and processor time of all threads; attention is compared with ONNX Runtime's.
"""

import os
import platform
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from workers import Worker

from model.graph.sessions import Arrays

LENGTHS = (32, 48, 128)  # tokens, the end mark included
# What the halves made for LiteRT hand out, in the order of names.
FOUND = {
    "encode": ["encoder_attention", "memory_mask", "memory_states"],
    "decode": ["cross_attention", "decoder_attention", "logits"],
}


class _Compared:
    """A library that runs both halves. ``started``: seconds of its import and opening, beyond what all need."""

    def __init__(self, threads: int):
        import psutil

        self.threads, before = threads, psutil.Process().memory_info().rss
        began = time.perf_counter()
        self.open()
        self.first = time.perf_counter() - began
        self.one_pass([9] * LENGTHS[0])
        self.grown = (psutil.Process().memory_info().rss - before) / 1e6

    def started(self) -> tuple[float, float]:
        """Seconds until both halves are open, and megabytes by which the process grew until the first pass was over."""
        return self.first, self.grown

    def one_pass(self, ids: list[int]) -> tuple[float, float]:
        """Seconds of wall and of processor time for a sentence that is its own draft."""
        began, clock = time.perf_counter(), time.process_time()
        self.found = self.run(ids)
        return time.perf_counter() - began, time.process_time() - clock

    def attention(self) -> np.ndarray:
        """What the decoder's last pass looked at in the source, (L, H, T, S)."""
        return self.found["cross_attention"][0]

    def open(self) -> None:
        raise NotImplementedError

    def run(self, ids: list[int]) -> Arrays:
        raise NotImplementedError


class OnnxRuntime(_Compared):
    def open(self) -> None:
        from model import Corrector
        from model.graph import sessions

        class Options(sessions.SessionOptions):
            def __setattr__(options, name, value):
                super().__setattr__(name, self.threads if name == "intra_op_num_threads" else value)

        sessions.SessionOptions = Options
        network = Corrector.load()._network
        self.encode, self.decode = network._encode, network._decode

    def run(self, ids: list[int]) -> Arrays:
        return run_halves(self.encode, self.decode, ids)


class OpenVino(_Compared):
    def open(self) -> None:
        import openvino

        core = openvino.Core()
        options = {"INFERENCE_NUM_THREADS": self.threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}  # fmt: skip
        halves = []
        for made, names in whole_halves():
            compiled = core.compile_model(core.read_model(made), "CPU", options)
            halves.append(
                lambda inputs, ask=compiled, names=names: dict(zip(names, ask(inputs).values(), strict=True))
            )
        self.encode, self.decode = halves

    def run(self, ids: list[int]) -> Arrays:
        return run_halves(self.encode, self.decode, ids)


class LiteRt(_Compared):
    def open(self) -> None:
        self.halves = {
            length: [self.half(f"{name}{length}", found) for name, found in FOUND.items()]
            for length in LENGTHS
        }

    def half(self, name: str, outputs: list[str]):
        from ai_edge_litert.interpreter import Interpreter

        interpreter = Interpreter(f"{os.environ['CONVERTED']}/{name}.tflite", num_threads=self.threads)
        interpreter.allocate_tensors()
        given = {each["name"]: each["index"] for each in interpreter.get_input_details()}
        handed_out = [each["index"] for each in interpreter.get_output_details()]

        def ask(inputs: Arrays) -> Arrays:
            for each, index in given.items():
                interpreter.set_tensor(index, inputs[each])
            interpreter.invoke()
            return dict(zip(outputs, map(interpreter.get_tensor, handed_out), strict=True))

        return ask

    def run(self, ids: list[int]) -> Arrays:
        encode, decode = self.halves[len(ids)]
        found = encode({"ids": np.array([ids], np.int32)})
        return decode(found | {"ids": shifted(ids).astype(np.int32)})


def shifted(ids: list[int]) -> np.ndarray:
    """What the decoder reads to write ``ids``, (1, T)."""
    from model.text.tokenizer import START_ID

    return np.array([[START_ID, *ids[:-1]]])


def run_halves(encode, decode, ids: list[int]) -> Arrays:
    """A pass through two halves of the shipped graph, as ``GraphReading`` asks for it."""
    from model.graph.reading import GraphReading
    from model.text.tokenizer import pad

    encoded = encode({"source": pad([ids])})
    return {"cross_attention": GraphReading(decode, encoded).pass_over([ids]).row(0, ids, ids).attention["cross_attention"][None]}  # fmt: skip


def whole_halves() -> list[tuple[bytes, list[str]]]:
    """The shipped graphs with their weights in them, and the names of what they hand out."""
    from whole_graphs import whole

    from model.graph.files import read_files
    from model.graph.sessions import given_arrays
    from model.stored.folder import (
        DEFAULT_MODEL,
        find_model_folder,
        read_description,
        read_weights,
        weights_path,
    )

    folder = find_model_folder(DEFAULT_MODEL)
    config, tokenizer = read_description(folder)
    arrays = given_arrays(config, tokenizer.features(), read_weights(weights_path(folder)))
    made = [whole(graph, arrays) for graph in read_files(folder, config).halves.values()]
    return [(each.SerializeToString(), [output.name for output in each.graph.output]) for each in made]


def convert(folder: Path) -> None:
    """The Keras network's halves for LiteRT, one file for each half and length. Needs TensorFlow."""
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    os.environ["ATTENTION_BACKEND"] = "keras"
    from model import Corrector

    network = Corrector.load()._network.network

    def encode(ids):
        (states, mask), attention = network.encode(ids)
        return {"memory_states": states, "memory_mask": mask} | dict(attention)

    def decode(ids, memory_states, memory_mask):
        memory = memory_type(memory_states, memory_mask)
        logits, attention = network.decode(ids, memory)
        return {"logits": logits} | dict(attention)

    for length in LENGTHS:
        ids = tf.TensorSpec((1, length), tf.int32, name="ids")
        memory, _ = network.encode(tf.zeros((1, length), tf.int32))
        memory_type = type(memory)
        parts = [
            tf.TensorSpec(leaf.shape, leaf.dtype, name=f"memory_{name}")
            for name, leaf in memory._asdict().items()
        ]
        halves = {
            "encode": tf.function(encode, input_signature=[ids], autograph=False),
            "decode": tf.function(decode, input_signature=[ids, *parts], autograph=False),
        }
        for name, function in halves.items():
            frozen = convert_variables_to_constants_v2(function.get_concrete_function())
            converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen])
            (folder / f"{name}{length}.tflite").write_bytes(converter.convert())


@click.command()
@click.option("--rounds", default=40, show_default=True)
@click.option("--threads", default=1, show_default=True, help="Of each runtime.")
def main(rounds: int, threads: int) -> None:
    """Start, memory and passes of all three."""
    click.echo(
        f"{platform.machine()}, {os.cpu_count()} processors, {threads} threads, load {os.getloadavg()[0]:.1f}"
    )
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONVERTED"] = folder
        convert(Path(folder))
        os.environ.pop("ATTENTION_BACKEND", None)
        kinds = (OnnxRuntime, OpenVino, LiteRt)
        workers = [Worker(kind, threads) for kind in kinds]
        for kind, worker in zip(kinds, workers, strict=True):
            seconds, grown = worker.call("started")
            click.echo(f"{kind.__name__}: open after {seconds:.2f} s, {grown:.0f} MB")
        for tokens in LENGTHS:
            times: list[list[tuple[float, float]]] = [[] for _ in kinds]
            for _ in range(rounds):
                ids = [rng.randrange(4, 2000) for _ in range(tokens)]
                for found, worker in zip(times, workers, strict=True):
                    found.append(worker.call("one_pass", ids))
                first, *others = [worker.call("attention") for worker in workers]
                for kind, other in zip(kinds[1:], others, strict=True):
                    gap = np.abs(first - other).max()
                    assert gap < 1e-4, f"{kind.__name__} differs by {gap}"
            for kind, found in zip(kinds, times, strict=True):
                wall, clock = ([each[part] * 1e3 for each in found] for part in (0, 1))
                click.echo(
                    f"{tokens} tokens, {kind.__name__}: {statistics.median(wall):.1f} ms (least {min(wall):.1f}), "
                    f"processor {statistics.median(clock):.1f} (least {min(clock):.1f})"
                )
        for worker in workers:
            worker.__exit__()


if __name__ == "__main__":
    main()
