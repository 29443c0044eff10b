"""Compilation of a network for training: loss, optimiser (Adam, Muon), precision.

Importing this loads Keras. A run's background processes begin before that, because they are forked.
"""

from collections import defaultdict
from typing import Any

import keras
from keras import ops

from model.text.tokenizer import PAD_ID


def make_optimizer(name: str) -> Any:
    """``adam`` with the betas of Vaswani et al. (2017, section 5.3), or ``muon``: orthogonal updates for
    the matrices (Jordan 2024), scaled so that Adam's learning rates fit (Liu et al. 2025), and Adam for
    embeddings and vectors. Both clip the gradient's global norm to 1.
    """
    if name == "muon":
        muon = GroupedMuon if keras.backend.backend() == "jax" else keras.optimizers.Muon
        return muon(1.0, adam_beta_1=0.9, adam_beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)
    return keras.optimizers.Adam(1.0, beta_1=0.9, beta_2=0.98, epsilon=1e-9, global_clipnorm=1.0)


def compile_network(network: Any, optimizer: str, label_smoothing: float, precision: str = "float32") -> Any:
    """Give a built network its loss and its optimiser, with the learning rate still at 1.

    In ``bfloat16`` matrices are multiplied in that format, and so are the operations between them that
    TensorFlow finds safe. Weights, their updates and the loss stay in float32 (Kalamkar et al. 2019). A step
    takes two thirds of the time on a processor that multiplies bfloat16 itself (AVX512_BF16, AMX). The choice
    holds for all graphs that the process makes from then on. Under JAX it is part of the compiled step
    (``compiled.CompiledSteps``).

    Raises ValueError for bfloat16 on other backends.
    """
    if (backend := keras.backend.backend()) == "tensorflow":
        import tensorflow as tf

        tf.config.optimizer.set_experimental_options(
            {"auto_mixed_precision_onednn_bfloat16": precision == "bfloat16"}
        )
    elif precision != "float32" and backend != "jax":
        raise ValueError(f"precision {precision!r} needs TensorFlow or JAX as backend, received {backend!r}")
    # XLA gained nothing here on CPU cores and compiles for seconds per shape; on a GPU it does gain.
    jit = backend == "jax"
    network.compile(make_optimizer(optimizer), MaskedCrossEntropy(label_smoothing), jit_compile=jit)
    network.optimizer.build(network.trainable_variables)
    return network


class MaskedCrossEntropy(keras.losses.Loss):
    """Mean over real target tokens of ``-log p(token)``, in nats.

    ``y_true`` (B, T) ids, ``y_pred`` (B, T, V) logits. ``label_smoothing`` e mixes the target with
    the uniform distribution over V (Szegedy et al. 2016; Vaswani et al. 2017, section 5.4).
    """

    def __init__(self, label_smoothing: float = 0.0, name: str = "masked_cross_entropy"):
        super().__init__(name=name, reduction=None)
        self.label_smoothing = label_smoothing

    def call(self, y_true: Any, y_pred: Any) -> Any:
        # The backend's fused kernel: written out with logsumexp, a step took a fifth longer on CPU cores.
        loss = ops.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)  # (B, T, V) -> (B, T)
        if self.label_smoothing:
            uniform = ops.logsumexp(y_pred, axis=-1) - ops.mean(y_pred, axis=-1)
            loss = (1 - self.label_smoothing) * loss + self.label_smoothing * uniform
        real = ops.cast(ops.not_equal(y_true, PAD_ID), loss.dtype)
        return ops.sum(loss * real) / ops.maximum(ops.sum(real), 1.0)


class GroupedMuon(keras.optimizers.Muon):
    """The same updates as Keras's Muon; matrices of one shape are made orthogonal together.

    A network with four layers on each side has 64 square and 16 oblong matrices, and each takes 15 products.
    Stacked, these are 45 products of stacks instead of 1,200 of matrices that are too small for a GPU. It has
    the same variables as Keras's Muon.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, name="muon", **settings)  # checkpoints name their variables by it

    def _backend_update_step(self, grads: Any, trainable_variables: Any, learning_rate: Any) -> None:
        alike = defaultdict(list)
        for gradient, variable in zip(grads, trainable_variables, strict=True):
            if self._should_use_adamw(variable):
                self.update_step(gradient, variable, learning_rate)
            else:
                alike[tuple(variable.shape)].append((gradient, variable))
        for pairs in alike.values():
            self._update_together(pairs, learning_rate)

    def _update_together(self, pairs: list[tuple[Any, Any]], learning_rate: Any) -> None:
        """As ``Muon._muon_update_step``, for gradients and variables of one shape."""
        directions = []
        for gradient, variable in pairs:
            momentum = self.momentums[self._get_variable_index(variable)]
            self.assign_add(momentum, gradient + momentum * (self.momentum - 1))
            directions.append(gradient + self.momentum * momentum if self.nesterov else momentum.value)
        orthogonal = self.zeropower_via_newtonschulz5(ops.stack(directions), self.ns_steps)
        for (_, variable), update in zip(pairs, ops.unstack(orthogonal, len(pairs)), strict=True):
            self.assign_sub(variable, self.lr_adjust(learning_rate * update))
