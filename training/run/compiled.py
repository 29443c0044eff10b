"""``CompiledSteps``: optimiser steps under JAX; loss, gradients, update in one function.

No step waits for Python.

Keras's ``train_on_batch`` writes a thousand variables back after each step and waits for the loss. Here the
state stays on the device and is updated in place (its buffers are donated). The running mean of the losses is
part of the state, and a few steps are always under way. JAX compiles each shape of a batch anew, so batches
have few shapes (``--widths``, each with a fixed number of rows), which are compiled at the same time in
threads.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from model.text.tokenizer import PAD_ID
from training.run.steps import INERTIA, Steps
from training.run.stream import Batch

UNDER_WAY = 4  # steps that are handed over before the first of them has to be done
# Both factors rounded to bfloat16, their products added in float32: the choice of --precision bfloat16.
_PRECISIONS = {"float32": None, "bfloat16": "BF16_BF16_F32"}


class StepState(NamedTuple):
    """The arrays on the device that an optimiser step replaces."""

    trainable: list[Any]
    fixed: list[Any]  # variables that are not trained: the random state of dropout
    optimizer: list[Any]
    mean_loss: Any  # () float32, NaN before the first step


class CompiledSteps(Steps):
    """Steps of a network that ``compile_network`` has made ready, whose variables are up to date inside
    ``keep`` only.
    """

    def __init__(self, network: Any, precision: str = "float32", mean_loss: float | None = None):
        self.network, self._precision = network, _PRECISIONS[precision]
        variables = network.optimizer.variables
        (self._rate,) = (i for i, each in enumerate(variables) if each is network.optimizer._learning_rate)
        self._state = _copied(
            StepState(
                [each.value for each in network.trainable_variables],
                [each.value for each in network.non_trainable_variables],
                [each.value for each in variables],
                jnp.asarray(jnp.nan if mean_loss is None else mean_loss, jnp.float32),
            )
        )
        self._take = jax.jit(self._next_state, donate_argnums=0)
        self._sums = jax.jit(self._measured)
        # By "take" or "measure", and the batch's shape.
        self._compiled: dict[tuple[str, tuple[int, int]], Any] = {}
        self._under_way: deque[Any] = deque()
        self._writer = ThreadPoolExecutor(1)
        self._writing: Future[Any] | None = None

    def lowered(self, shape: tuple[int, int], what: str = "take") -> Any:
        """The step, or the measurement, for batches of this shape, ready to be compiled."""
        state = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), self._state)
        batch = Batch(*[jax.ShapeDtypeStruct(shape, jnp.int32)] * 3)
        with jax.default_matmul_precision(self._precision) if self._precision else nullcontext():
            if what == "take":
                return self._take.lower(state, batch, jax.ShapeDtypeStruct((), jnp.float32))
            return self._sums.lower(state.trainable, state.fixed, batch)

    def prepare(self, shapes: Iterable[tuple[int, int]], measured: Iterable[tuple[int, int]] = ()) -> None:
        """Compile for these shapes, all at once: the compiler, unlike Python, works in several threads."""
        wanted = {("take", each) for each in shapes} | {("measure", each) for each in measured}
        lowered = {key: self.lowered(key[1], key[0]) for key in sorted(wanted)}
        with ThreadPoolExecutor(len(lowered) or 1) as threads:
            compiled = threads.map(lambda each: each.compile(), lowered.values())
            self._compiled |= zip(lowered, compiled, strict=True)

    def take(self, batch: Batch, rate: float) -> None:
        key = "take", batch.source.shape
        if key not in self._compiled:
            self.prepare([batch.source.shape])
        self._state = self._compiled[key](self._state, batch, np.float32(rate))
        # The mean is donated to the next step; a copy tells that this one is done.
        self._under_way.append(self._state.mean_loss + 0)
        if len(self._under_way) > UNDER_WAY:
            self._under_way.popleft().block_until_ready()

    def mean_loss(self) -> float | None:
        mean = float(self._state.mean_loss)
        return None if np.isnan(mean) else mean

    def measure(self, batches: Sequence[Batch]) -> tuple[float, float]:
        if missing := {
            each.source.shape for each in batches if ("measure", each.source.shape) not in self._compiled
        }:
            self.prepare([], missing)
        state = self._state
        sums = [
            self._compiled["measure", each.source.shape](state.trainable, state.fixed, each)
            for each in batches
        ]
        loss, right, total = np.asarray(jax.device_get(sums), np.float64).sum(axis=0)
        return float(loss / total), float(right / total)

    def keep(self, write: Callable[[], None]) -> None:
        """Copy the state into the network's variables and call ``write`` in a thread, after the write before
        it.
        """
        self._wait()
        state = _copied(self._state)  # training goes on and overwrites its own
        network = self.network
        for variables, values in (
            (network.trainable_variables, state.trainable),
            (network.non_trainable_variables, state.fixed),
            (network.optimizer.variables, state.optimizer),
        ):
            for variable, value in zip(variables, values, strict=True):
                variable.assign(value)
        self._writing = self._writer.submit(write)

    def close(self) -> None:
        self._wait()
        self._writer.shutdown()

    def _wait(self) -> None:
        if self._writing:
            self._writing.result()  # raises an error of the thread
            self._writing = None

    def _next_state(self, state: StepState, batch: Batch, rate: Any) -> StepState:
        (loss, fixed), gradients = jax.value_and_grad(self._loss, has_aux=True)(
            state.trainable, state.fixed, batch
        )
        optimizer = list(state.optimizer)
        optimizer[self._rate] = rate
        trainable, optimizer = self.network.optimizer.stateless_apply(optimizer, gradients, state.trainable)
        mean = INERTIA * state.mean_loss + (1 - INERTIA) * loss
        return StepState(trainable, fixed, optimizer, jnp.where(jnp.isnan(state.mean_loss), loss, mean))

    def _loss(self, trainable: Any, fixed: Any, batch: Batch) -> tuple[Any, Any]:
        inputs = batch.source, batch.decoder_input
        logits, fixed = self.network.stateless_call(trainable, fixed, inputs, training=True)
        return self.network.loss(batch.target, logits), fixed

    def _measured(self, trainable: Any, fixed: Any, batch: Batch) -> Any:
        """(3,) summed loss, right tokens, tokens."""
        logits, _ = self.network.stateless_call(trainable, fixed, (batch.source, batch.decoder_input))
        real = batch.target != PAD_ID
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), batch.target[..., None], -1)[..., 0]
        right = (jnp.argmax(logits, -1) == batch.target) & real
        return jnp.stack([-jnp.sum(chosen * real), jnp.sum(right), jnp.sum(real)])


@jax.jit
def _copied(state: StepState) -> StepState:
    return jax.tree.map(jnp.copy, state)
