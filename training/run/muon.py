"""Muon for a device that is faster at one large product than at many small ones."""

from collections import defaultdict

import keras
from keras import ops


class GroupedMuon(keras.optimizers.Muon):
    """The same updates as Keras's Muon; matrices of one shape are made orthogonal together.

    A network with four layers on each side has 64 square and 16 oblong matrices, and each takes 15 products. Stacked, these are 45
    products of stacks instead of 1,200 of matrices that are too small for a GPU. It has the same variables as Keras's Muon.
    """

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, name="muon", **settings)  # checkpoints name their variables by it

    def _backend_update_step(self, grads, trainable_variables, learning_rate):
        alike = defaultdict(list)
        for gradient, variable in zip(grads, trainable_variables, strict=True):
            if self._should_use_adamw(variable):
                self.update_step(gradient, variable, learning_rate)
            else:
                alike[tuple(variable.shape)].append((gradient, variable))
        for pairs in alike.values():
            self._update_together(pairs, learning_rate)

    def _update_together(self, pairs, learning_rate):
        """As ``Muon._muon_update_step``, for gradients and variables of one shape."""
        directions = []
        for gradient, variable in pairs:
            momentum = self.momentums[self._get_variable_index(variable)]
            self.assign_add(momentum, gradient + momentum * (self.momentum - 1))
            directions.append(gradient + self.momentum * momentum if self.nesterov else momentum.value)
        orthogonal = self.zeropower_via_newtonschulz5(ops.stack(directions), self.ns_steps)
        for (_, variable), update in zip(pairs, ops.unstack(orthogonal, len(pairs)), strict=True):
            self.assign_sub(variable, self.lr_adjust(learning_rate * update))
