"""Bytes sent and seconds to build the overview and the heatmap, for sentences of 10 to 512 tokens.

    python benchmarks/figure_bytes.py [--runs 5]

No model is needed: the weights are seeded, as sharp as trained ones, and of 4 layers of 4 heads. Bytes are those of
the JSON that travels to the browser, plain and with gzip at level 6 (the server compresses its websocket likewise);
seconds are the median of building the figure and of writing it as JSON. Beside them: the same 16 maps as lists of
numbers with the 8 digits a float32 is worth.
"""

import gzip
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import viz

LENGTHS = (10, 40, 120, 512)
LAYERS = HEADS = 4
SENTENCE = "손니미 완는데 방이 업쓰며 너떠캐요? "


def attention(tokens: int) -> np.ndarray:
    """(L, H, Q, K) float32: most of a row's weight lies near its diagonal, a little lies everywhere."""
    rng = np.random.default_rng(tokens)
    away = np.abs(np.arange(tokens)[:, None] - np.arange(tokens))
    logits = rng.normal(0, 1.5, (LAYERS, HEADS, tokens, tokens)) - np.minimum(away, 8)
    weights = np.exp(logits)
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def overview(weights: np.ndarray, tokens: list[str]) -> str:
    return viz.head_grid(weights).to_json()


def heatmap(weights: np.ndarray, tokens: list[str]) -> str:
    return viz.attention_heatmap(weights[0, 0], tokens, tokens).to_json()


def lists(weights: np.ndarray, tokens: list[str]) -> str:
    numbers = [[float(f"{weight:.8g}") for weight in row] for row in weights.reshape(-1, weights.shape[-1])]
    return json.dumps(numbers, separators=(",", ":"))


def measure(draw: Callable[[np.ndarray, list[str]], str], tokens: int, runs: int) -> tuple[int, int, float]:
    """(bytes, bytes compressed, seconds)."""
    weights, labels = attention(tokens), list((SENTENCE * 30)[:tokens])
    draw(weights, labels)  # the first figure of a process loads parts of the library
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        sent = draw(weights, labels)
        seconds.append(time.perf_counter() - started)
    data = sent.encode()
    return len(data), len(gzip.compress(data, 6)), statistics.median(seconds)


@click.command()
@click.option("--runs", default=5, show_default=True)
def main(runs):
    """Print kilobytes and seconds for each length."""
    click.echo(f"{os.cpu_count()} processors, {LAYERS} x {HEADS} heads, median of {runs} runs")
    click.echo(f"{'':22} tokens       kB   kB gzip  seconds")
    for name, draw in (("overview", overview), ("heatmap", heatmap), ("16 maps as lists", lists)):
        for tokens in LENGTHS:
            plain, compressed, seconds = measure(draw, tokens, 1 if draw is lists else runs)
            click.echo(f"{name:22} {tokens:6} {plain / 1000:8,.1f} {compressed / 1000:9,.1f} {seconds:8.3f}")


if __name__ == "__main__":
    main()
