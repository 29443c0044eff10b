"""The model a run starts from."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.config import NetworkConfig
from model.folder import find_model_folder, load_model_folder, model_name
from model.tokenizer import Tokenizer
from training.record import Past


class Origin(NamedTuple):
    """The model a run starts from."""

    name: str
    config: NetworkConfig
    tokenizer: Tokenizer
    weights: list[np.ndarray]
    past: Past

    @classmethod
    def load(cls, model: str, snapshot: int | None = None) -> "Origin":
        """From a model's name in ``assets/`` or its folder; with the weights of a ``snapshot`` that it keeps.

        Raises ModelFolderError.
        """
        folder: Path = find_model_folder(model)
        network, tokenizer, found = load_model_folder(folder, snapshot)
        config = replace(network.config, minimum_confidence=0.0)  # chosen anew once the weights are known
        name = f"{model_name(folder)} {found}"
        return cls(name, config, tokenizer, network.get_weights(), Past.read(folder))

    def widened(self, dff: int) -> "Origin":
        """The same origin for a network with ``dff`` feed-forward units. Raises ValueError for fewer than it has."""
        if self.config.architecture != "transformer" or dff < self.config.dff:
            raise ValueError(
                f"dff should be at least that of the model to start from, received {dff}: {self.config}"
            )
        return self._replace(config=replace(self.config, dff=dff))

    def put_into(self, network) -> None:
        """Give a built network these weights; where it is wider it computes the same function at first.

        New hidden units keep the weights they were built with on their way in and get zeros on their way
        out, so they change nothing until they are trained (after Chen, Goodfellow and Shlens 2016, Net2Net).
        """
        for variable, weights in zip(network.weights, self.weights, strict=True):
            grown = np.asarray(variable.value).copy()
            grown[len(weights) :] = 0  # rows that the origin lacks: the way out of a new unit
            grown[tuple(slice(size) for size in weights.shape)] = weights
            variable.assign(grown)
