"""``Steps``: optimiser steps on any backend; development loss.

``compiled.CompiledSteps`` does the same faster under JAX. ``development_batches`` are of the sentences whose
loss is watched while a network learns.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from model.text.tokenizer import Tokenizer
from training.noise.pairs import make_pair
from training.run.examples import Practised
from training.run.stream import Batch, StreamSettings, batch_shapes, make_batch

DEVELOPMENT = 512  # sentences that are watched
INERTIA = 0.98  # of the running mean of the batches' losses


class Steps:
    """Optimiser steps by Keras's own ``train_on_batch``: each step ends before the next begins."""

    def __init__(self, network: Any, mean_loss: float | None = None):
        self.network, self._mean = network, mean_loss

    def prepare(self, shapes: Iterable[tuple[int, int]], measured: Iterable[tuple[int, int]] = ()) -> None:
        """Prepare to take steps with batches of these shapes (B, S), and to measure with batches of those."""

    def take(self, batch: Batch, rate: float) -> None:
        """One optimiser step at this learning rate. The batch has source (B, S) and target (B, T)."""
        self.network.optimizer.learning_rate = rate
        loss = float(self.network.train_on_batch((batch.source, batch.decoder_input), batch.target))
        self._mean = loss if self._mean is None else INERTIA * self._mean + (1 - INERTIA) * loss

    def mean_loss(self) -> float | None:
        """The running mean of the batches' losses, in nats."""
        return self._mean

    def measure(self, batches: Sequence[Batch]) -> tuple[float, float]:
        """(mean loss in nats, share of right tokens given the right prefix) of the network as it is now."""
        loss = right = total = 0.0
        for batch in batches:
            logits = np.asarray(
                self.network.predict_on_batch((batch.source, batch.decoder_input)), np.float64
            )
            real = batch.target > 0
            normaliser = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
            chosen = np.take_along_axis(logits, batch.target[..., None].astype(int), -1)[..., 0]
            loss += ((normaliser - chosen) * real).sum()
            right += ((logits.argmax(-1) == batch.target) & real).sum()
            total += real.sum()
        return loss / total, right / total

    def keep(self, write: Callable[[], None]) -> None:
        """Call ``write``, which stores the network as it is now; perhaps later, and perhaps in a thread.

        Raises an OSError of ``write``, perhaps at the next call.
        """
        write()

    def close(self) -> None:
        """Return once everything is written. Raises an OSError of the last ``write``."""


def development_batches(
    items: Sequence[Practised], tokenizer: Tokenizer, longest: int, settings: StreamSettings
) -> list[Batch]:
    """The first sentences, with generated errors, or pairs, of at most ``longest`` characters.

    With ``widths`` all batches have one of these, and ``batch_tokens // width`` rows; empty ones fill up the
    last. Raises ValueError for no such sentence.
    """
    rng = random.Random(1)
    rows = []
    for item in items[:DEVELOPMENT]:
        if isinstance(item, str):
            pair = make_pair(item, rng)
            item = pair.wrong, pair.right
        if max(map(len, item)) <= longest:
            rows.append((tokenizer.encode_source(item[0]), tokenizer.encode_target(item[1])))
    if not rows:
        raise ValueError(f"no development sentence has at most {longest} characters")
    rows.sort(key=lambda pair: max(map(len, pair)))
    if not settings.widths:
        return [make_batch(rows[i : i + 64]) for i in range(0, len(rows), 64)]
    batches, narrower = [], 0
    for count, width in batch_shapes(settings):
        fit = [pair for pair in rows if narrower < max(map(len, pair)) <= width]
        for i in range(0, len(fit), count):
            some = fit[i : i + count]
            batches.append(make_batch([*some, *[([], [])] * (count - len(some))], width))
        narrower = width
    return batches
