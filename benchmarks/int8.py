"""What weights of 8 bits would gain and lose: text, attention, milliseconds and bytes, beside the shipped graph.

    python benchmarks/int8.py [--model transformer] [--sentences 300]

Needs requirements.txt and requirements-dev.txt. ONNX Runtime makes the weights of all matrix products integers, a scale for each column, and reads the
other side of a product as integers while it runs ("dynamic quantisation"). The texts are those of the development sets of ``benchmarks/``.
"""

import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np
from onnxruntime.quantization import QuantType, quantize_dynamic

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser_cost import corrected, rows_of_sets
from whole_graphs import whole

from model import Corrector
from model.correction.confidence_files import load_confidence
from model.graph.files import read_files
from model.graph.network import GraphNetwork
from model.graph.sessions import GraphHalf, given_arrays
from model.stored.folder import DEFAULT_MODEL, find_model_folder, read_description, read_weights, weights_path


def in_eight_bits(graph: bytes, arrays: Mapping[str, np.ndarray]) -> bytes:
    """A graph that holds its weights, those of its matrix products as integers."""
    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "int8.onnx"
        quantize_dynamic(whole(graph, arrays), written, weight_type=QuantType.QInt8, per_channel=True)
        return written.read_bytes()


def smaller(folder: Path) -> tuple[Corrector, int]:
    """(a corrector whose network computes with 8 bits, the bytes of its two graphs)."""
    config, tokenizer = read_description(folder)
    stored = read_weights(weights_path(folder))
    arrays = given_arrays(config, tokenizer.features(), stored)
    graphs = [in_eight_bits(graph, arrays) for graph in read_files(folder, config).halves.values()]
    encode, decode = (GraphHalf(graph, {}) for graph in graphs)
    shapes = {name: array.shape for name, array in stored.items()}
    network = GraphNetwork(
        config, (encode, decode), arrays, shapes, tokenizer.encode_target(" ")[0], _no_keras, _no_keras
    )
    network.warm_up()
    made = Corrector(folder.name, network, tokenizer, "int8", confidence=load_confidence(folder))
    return made, sum(map(len, graphs))


def _no_keras():
    raise NotImplementedError("it is asked for texts and attention alone")


def apart(one: Corrector, other: Corrector, text: str) -> tuple[float, float]:
    """The largest and the mean difference of the weights of all attention, reading the same text and writing the same."""
    sentence = one.correct(text).sentences[0]
    written, again = sentence.trace, other.trace(sentence.source, sentence.text)
    kinds = ("encoder_attention", "decoder_attention", "cross_attention")
    found = np.concatenate([np.abs(getattr(written, kind) - getattr(again, kind)).ravel() for kind in kinds])
    return float(found.max()), float(found.mean())


def milliseconds(correctors: tuple[Corrector, Corrector], texts: list[str]) -> list[list[float]]:
    """Of each corrector, for each text; they take turns."""
    found: list[list[float]] = [[], []]
    for text in texts:
        for corrector, taken in zip(correctors, found, strict=True):
            started = time.perf_counter()
            _ = corrector.correct(text).sentences[0].trace
            taken.append(1e3 * (time.perf_counter() - started))
    return found


@click.command()
@click.option("--model", default=DEFAULT_MODEL, show_default=True)
@click.option(
    "--sentences", default=300, show_default=True, help="of which attention is compared and time taken"
)
def main(model: str, sentences: int) -> None:
    """Print a Markdown table."""
    logging.disable(logging.WARNING)  # it recommends a step that changes nothing here
    folder = find_model_folder(model)
    shipped, (small, size) = Corrector.load(folder), smaller(folder)
    wrong, right = (list(side) for side in zip(*rows_of_sets(), strict=True))
    texts = [list(corrected(each, wrong)) for each in (shipped, small)]
    exact = [sum(map(str.__eq__, found, right)) for found in texts]
    alike = sum(map(str.__eq__, *texts))
    some = wrong[:: max(len(wrong) // sentences, 1)][:sentences]
    worst, means = zip(*(apart(shipped, small, text) for text in some), strict=True)
    medians = [statistics.median(taken) for taken in milliseconds((shipped, small), some)]
    click.echo("|  | as shipped | 8 bits |\n|---|---|---|")
    click.echo(f"| exact, of {len(wrong):,} pairs | {exact[0]:,} | {exact[1]:,} |")
    click.echo(f"| the same text as shipped | – | {alike:,} |")
    click.echo(
        f"| a weight of attention differs by, median of {len(some)} sentences' largest (highest); mean of all | – | "
        f"{statistics.median(worst):.3f} ({max(worst):.3f}); {statistics.mean(means):.5f} |"
    )
    click.echo(f"| median ms of a sentence with all attention | {medians[0]:.1f} | {medians[1]:.1f} |")
    stored = weights_path(folder).stat().st_size
    click.echo(f"| weights, MB on disk | {stored / 1e6:.1f} (16 bits) | {size / 1e6:.1f} |")


if __name__ == "__main__":
    main()
