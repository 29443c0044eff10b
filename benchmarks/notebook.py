"""Size and time of ``viz.explore`` in a notebook, beside BertViz's model view.

    python benchmarks/notebook.py [--runs 3]

Needs bertviz (which brings PyTorch) besides requirements-dev.txt, and Chromium. The weights are seeded, of an
encoder-decoder with all three kinds of attention: even ones, which pack worst, and ones as sharp as trained
ones, near the diagonal. Bytes are those of the HTML that stays in the notebook. "drawn" is the time from
opening the saved page to the drawn overview and heatmap, without a network; BertViz's page loads its scripts
from other servers, so nothing of it is drawn there.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import torch
from bertviz import model_view
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from model import AttentionTrace
from tests.browser.chromium import launched
from viz import explore

SHAPES = ((4, 4, 32), (6, 8, 40), (6, 8, 128), (12, 12, 256))  # layers, heads, tokens on both sides
DRAWN = "() => ['overview', 'heatmap'].every(name => document.querySelector(`.${name} .plot[data-drawn]`))"


def attention(shape: tuple[int, int, int], sharp: bool, causal: bool = False) -> np.ndarray:
    """(L, H, T, T) float32."""
    layers, heads, tokens = shape
    rng = np.random.default_rng(tokens + causal)
    away = np.abs(np.arange(tokens)[:, None] - np.arange(tokens))
    logits = rng.normal(0, 1.5 if sharp else 1.0, (layers, heads, tokens, tokens))
    weights = np.exp(logits - np.minimum(away, 8) * sharp)
    weights = np.tril(weights) if causal else weights
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def trace_of(shape: tuple[int, int, int], sharp: bool) -> AttentionTrace:
    tokens = tuple(f"t{place}" for place in range(shape[2]))
    return AttentionTrace(
        source_tokens=tokens,
        target_tokens=tokens,
        decoder_input_tokens=("<s>", *tokens[:-1]),
        encoder_attention=attention(shape, sharp),
        decoder_attention=attention(shape, sharp, causal=True),
        cross_attention=attention(shape, sharp),
    )


def ours(trace: AttentionTrace) -> str:
    return explore(trace)._repr_html_()


def bertviz(trace: AttentionTrace) -> str:
    maps = {kind: [torch.from_numpy(layer)[None] for layer in trace.attention(kind)] for kind in trace.kinds}
    page = model_view(
        **maps,
        encoder_tokens=list(trace.source_tokens),
        decoder_tokens=list(trace.target_tokens),
        html_action="return",
    )
    return page.data


def timed(make: Callable[[AttentionTrace], str], trace: AttentionTrace, runs: int) -> tuple[int, float]:
    """(bytes, seconds)."""
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        page = make(trace)
        seconds.append(time.perf_counter() - started)
    return len(page.encode()), statistics.median(seconds)


def drawn(browser: Browser, trace: AttentionTrace, runs: int) -> float:
    """The median of the seconds from opening our saved page to its drawn overview and heatmap."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lens.html"
        explore(trace).save(path)
        seconds = []
        for _ in range(runs):
            page = browser.new_page(viewport={"width": 1200, "height": 640})
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_function(DRAWN)
            seconds.append(page.evaluate("() => performance.now() / 1000"))
            page.close()
    return statistics.median(seconds)


@click.command(help=__doc__.splitlines()[0])
@click.option("--runs", default=3, show_default=True, help="The median of so many runs is told.")
def main(runs: int) -> None:
    print(
        f"{'layers x heads x tokens':26}{'weights':8}{'lens MB':>9}{'made s':>8}"
        f"{'drawn s':>9}{'BertViz MB':>12}{'made s':>8}"
    )
    with sync_playwright() as playwright:
        browser = launched(playwright)
        explore(trace_of(SHAPES[0], True))  # reads and packs the library, once a process
        for shape in SHAPES:
            for sharp in (False, True):
                trace = trace_of(shape, sharp)
                size, seconds = timed(ours, trace, runs)
                other, longer = timed(bertviz, trace, runs)
                print(
                    f"{' x '.join(map(str, shape)):26}{'sharp' if sharp else 'even':8}"
                    f"{size / 1e6:9.2f}{seconds:8.2f}"
                    f"{drawn(browser, trace, runs):9.2f}{other / 1e6:12.2f}{longer:8.2f}",
                    flush=True,
                )
        browser.close()


if __name__ == "__main__":
    main()
