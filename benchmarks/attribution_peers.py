"""Attributions of the same Marian model by Inseq and by the laboratory: lines, seconds, and whether the numbers are the same.

    python benchmarks/attribution_peers.py [--runs 5]

Value zeroing of Inseq 0.7.1 fails with transformers 5.23, whose layers return a tensor where it expects a tuple; ``taking_tensors`` mends that one
function, and nothing else of it. Its numbers are shares of each layer, ours are distances, so ours are divided as it divides its own.

Needs inseq besides requirements-examples.txt. The model is MarianMT, tiny, with seeded weights and a tokenizer trained on
four sentences: numbers and lines do not hang on its weights, seconds are those of a model that costs next to nothing, so they are of what is around it.
"""

import inspect
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
warnings.filterwarnings("ignore")

from examples.test_hugging_face import ENCODER_DECODERS, END, START, trained

SOURCE, TARGET = "the cat sat on the mat", "a dog and a cat"


def marian() -> tuple[Any, Any]:
    import torch

    torch.set_num_threads(1)  # threads of so small a model would wait for each other
    torch.manual_seed(0)
    tokenizer = trained("pieces")
    model = ENCODER_DECODERS["marian"](len(tokenizer)).eval()
    for weights in model.parameters():
        weights.data *= 6  # as they are made, every row looks at all tokens alike
    model.double()  # else Inseq's distances, differences of nearly equal numbers, would be rounded by 1e-7
    model.set_attn_implementation("eager")  # Inseq asks it for attention, which others do not return
    return model, tokenizer


def attention_of_inseq(model: Any, tokenizer: Any) -> np.ndarray:
    import inseq

    peer = inseq.load_model(model, "attention", tokenizer=tokenizer)
    out = peer.attribute(SOURCE, TARGET, show_progress=False)
    return out.sequence_attributions[0].source_attributions.numpy()  # (S, T, L, H)


def attention_of_ours(model: Any, tokenizer: Any) -> np.ndarray:
    from model import from_transformers

    return from_transformers(model, tokenizer, SOURCE, TARGET).cross_attention  # (L, H, T, S)


def gradients_of_inseq(model: Any, tokenizer: Any) -> np.ndarray:
    import inseq

    def contrast(args: Any) -> Any:  # of the written token and the likeliest other one
        logits = args.attribution_model.output2logits(args.forward_output)
        written = args.target_ids.reshape(-1, 1)
        return (logits.gather(-1, written) - logits.scatter(-1, written, -1e9).max(-1, True).values)[:, 0]

    if "contrast_of_row" not in inseq.list_step_functions():
        inseq.register_step_function(contrast, "contrast_of_row")
    peer = inseq.load_model(model, "input_x_gradient", tokenizer=tokenizer)
    out = peer.attribute(SOURCE, TARGET, attributed_fn="contrast_of_row", show_progress=False)
    return out.sequence_attributions[0].source_attributions.sum(-1).numpy()  # (S, T)


def gradients_of_ours(model: Any, tokenizer: Any) -> np.ndarray:
    from model import laboratory_of
    from model.analysis import contribution_rows

    lab = laboratory_of(model, tokenizer)
    return contribution_rows(lab, SOURCE, TARGET, "gradient")[0]  # (T, S)


@contextmanager
def taking_tensors() -> Iterator[None]:
    """Inseq's value zeroing puts the plain state in place of what a layer puts out, also where that is a tensor and no tuple."""
    from inseq.attr.feat.ops import ValueZeroing

    name = "get_states_extract_and_patch_hook"
    before = getattr(ValueZeroing, name)

    def hook_of(self: Any, block_idx: int, hidden_state_idx: int = 0) -> Callable:
        def hook(module: Any, given: Any, output: Any) -> Any:
            self.corrupted_block_output_states[block_idx] = output.clone().detach().cpu()
            return self.clean_block_output_states[block_idx].to(output.device)

        return hook

    setattr(ValueZeroing, name, hook_of)
    try:
        yield
    finally:
        setattr(ValueZeroing, name, before)


def zeroing_of_inseq(model: Any, tokenizer: Any, of_target: bool = False) -> np.ndarray:
    import inseq

    peer = inseq.load_model(model, "value_zeroing", tokenizer=tokenizer)
    with taking_tensors():
        found = peer.attribute(SOURCE, TARGET, show_progress=False).sequence_attributions[0]
    scores = found.sequence_scores["decoder_self_scores"] if of_target else found.source_attributions
    return scores.numpy()  # (S or T, T, L)


def zeroing_of_ours(model: Any, tokenizer: Any, of_target: bool = False) -> np.ndarray:
    from model import laboratory_of

    lab = laboratory_of(model, tokenizer)
    ids = lab.tokenizer.encode_source(SOURCE), lab.tokenizer.encode_target(TARGET)
    zeroed = lab.laboratory.zeroed(*ids)
    return shares(zeroed.decoder if of_target else zeroed.cross)  # (L, T, S or T)


def shares(distances: np.ndarray) -> np.ndarray:
    """What Inseq makes of distances (L, T, K): those below 1e-5 are none, and a row sums to 1. NaN where rounding decides what lies below."""
    kept = np.where(distances < 1e-5, 0, distances)
    total = kept.sum(axis=-1, keepdims=True)
    unsure = (np.abs(distances - 1e-5) < 1e-8).any(axis=-1, keepdims=True)
    return np.where(unsure, np.nan, kept / np.where(total == 0, 1, total))


METHODS: dict[str, tuple[Callable, Callable]] = {
    "cross-attention, head by head": (attention_of_inseq, attention_of_ours),
    "gradient × input, of a contrast": (gradients_of_inseq, gradients_of_ours),
    "value zeroing, of the source": (zeroing_of_inseq, zeroing_of_ours),
    "value zeroing, of what was written": (
        partial(zeroing_of_inseq, of_target=True),
        partial(zeroing_of_ours, of_target=True),
    ),
}


def lines_of(function: Callable) -> int:
    """Of code, without the line that names the function."""
    function = function.func if isinstance(function, partial) else function
    return len([line for line in inspect.getsource(function).splitlines()[1:] if line.strip()])


def timed(function: Callable, model: Any, tokenizer: Any, runs: int) -> tuple[np.ndarray, float]:
    """The numbers, and the median of the seconds after a first run."""
    found, seconds = function(model, tokenizer), []
    for _ in range(runs):
        start = time.perf_counter()
        function(model, tokenizer)
        seconds.append(time.perf_counter() - start)
    return found, statistics.median(seconds)


def furthest(inseq: np.ndarray, ours: np.ndarray, tokens: int) -> float:
    """The largest difference of the numbers of ``tokens`` written ones. Inseq has the start mark as its first token, and
    tokens before layers."""
    inseq = np.moveaxis(inseq, (0, 1), (-1, -2))[..., -tokens:, :]
    ours = ours.reshape(inseq.shape)
    known = ~np.isnan(inseq) & ~np.isnan(ours)
    assert known.mean() > 0.3 and np.abs(ours[known]).max() > 0.01, "there is nothing to compare"
    return float(np.abs(inseq - ours)[known].max())


@click.command()
@click.option("--runs", default=5)
def main(runs: int) -> None:
    model, tokenizer = marian()
    assert tokenizer.bos_token_id == START and tokenizer.eos_token_id == END
    print(f"{'method':34} {'lines':>11} {'seconds':>15} {'numbers differ by':>18} {'of':>6}")
    print(f"{'':34} {'Inseq ours':>11} {'Inseq    ours':>15}")
    for name, pair in METHODS.items():
        (theirs, slow), (ours, quick) = (timed(each, model, tokenizer, runs) for each in pair)
        counts = " ".join(f"{lines_of(each):5}" for each in pair)
        tokens, known = ours.shape[-2], 1 - np.isnan(ours).mean()
        print(
            f"{name:34} {counts} {slow:8.3f} {quick:6.3f} {furthest(theirs, ours, tokens):18.1e} {known:6.0%}"
        )


if __name__ == "__main__":
    main()
