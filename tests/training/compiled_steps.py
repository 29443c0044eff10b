"""Script of ``test_compiled.py``: optimiser steps under JAX against those of Keras.

It runs in a separate process, since Keras has one backend for all of a process.
"""

import sys
from pathlib import Path

import jax
import keras
import numpy as np

from model.network.networks import build_network
from model.stored.config import TransformerConfig
from model.text.tokenizer import Tokenizer
from training.run.compiled import CompiledSteps
from training.run.network import compile_network
from training.run.run import RunState, load_checkpoint, save_checkpoint
from training.run.steps import Steps
from training.run.stream import Batch

TOKENIZER = Tokenizer("가나다라마바사아 ")
CONFIG = TransformerConfig(
    TOKENIZER.vocab_size, d_model=8, num_layers=1, num_heads=2, dff=16, norm_first=True
)


def network(precision: str = "float32"):
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    return compile_network(build_network(CONFIG, TOKENIZER), "muon", 0.1, precision)


def batches(count: int) -> list[Batch]:
    rng = np.random.default_rng(0)
    made = [Batch(*rng.integers(4, TOKENIZER.vocab_size, (3, 4, 6), dtype=np.int32)) for _ in range(count)]
    for batch in made:
        batch.target[0, 3:] = batch.source[0, 3:] = 0  # padding
    return made


def weights(network) -> dict[str, np.ndarray]:
    """All but the biases of keys: they change no softmax, so their gradients are only rounding errors."""
    return {
        each.path: np.asarray(each.value) for each in network.weights if not each.path.endswith("key/bias")
    }


def largest_difference(first: dict, second: dict) -> float:
    return max(float(np.abs(first[path] - second[path]).max()) for path in first)


def take_both(folder: Path) -> None:
    """Keras's own steps with Keras's own Muon, and the compiled ones, from the same weights."""
    slow, fast = network(), network()
    begun = weights(fast)
    plain = keras.optimizers.Muon(1.0, adam_beta_1=0.9, adam_beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
    slow.compile(plain, slow.loss, jit_compile=True)
    slow.optimizer.build(slow.trainable_variables)
    one, other = Steps(slow), CompiledSteps(fast)
    other.prepare([(4, 6)], [(4, 6)])
    for batch in batches(3):
        for steps in (one, other):
            steps.take(batch, 0.01)
    written = []
    other.keep(lambda: written.append(save_checkpoint(folder, fast, RunState(step=3))))
    other.close()
    assert written == [None]
    moved = largest_difference(begun, weights(fast))
    differs = largest_difference(weights(slow), weights(fast))
    assert differs < 0.01 * moved, (differs, moved)
    assert abs(one.mean_loss() - other.mean_loss()) < 1e-4
    assert np.allclose(one.measure(batches(2)), other.measure(batches(2)), atol=1e-4)

    save_checkpoint(folder, slow, RunState(step=3))  # a run may go on with the other kind of steps
    other_kind = network()
    assert load_checkpoint(folder, other_kind) == RunState(step=3)
    assert largest_difference(weights(other_kind), weights(slow)) == 0
    save_checkpoint(folder, fast, RunState(step=3))

    again = network()  # the next step from the checkpoint is the next step of the run
    assert load_checkpoint(folder, again) == RunState(step=3)
    resumed = CompiledSteps(again, mean_loss=other.mean_loss())
    straight_on = CompiledSteps(fast, mean_loss=other.mean_loss())
    for steps in (straight_on, resumed):
        steps.take(batches(1)[0], 0.01)
        steps.keep(lambda: None)
        steps.close()
    assert straight_on.mean_loss() == resumed.mean_loss()
    assert largest_difference(weights(again), weights(fast)) == 0


def multiply_in_bfloat16() -> None:
    """The step multiplies in the requested precision. A processor without such products ignores it."""
    for precision, expected in (("bfloat16", True), ("float32", False)):
        text = CompiledSteps(network(precision), precision).lowered((4, 6)).as_text()
        assert ("lhs_precision_type = bf16" in text) == expected


if __name__ == "__main__":
    assert jax.default_backend() == "cpu"
    take_both(Path(sys.argv[1]))
    multiply_in_bfloat16()
