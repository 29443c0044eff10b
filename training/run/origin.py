"""The model that a run starts from, and how a larger network can begin as the same function."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.stored.config import NetworkConfig, TransformerConfig
from model.stored.folder import (
    ModelFolderError,
    find_model_folder,
    fingerprint,
    model_name,
    read_description,
    read_weights,
    weights_path,
)
from model.text.tokenizer import Tokenizer
from training.run.record import Past

# The last layer of each sub-layer: where its kernel is zero, the sub-layer adds nothing to the residual stream.
_WAY_OUT = "output/kernel"


class Origin(NamedTuple):
    """The model a run starts from. Reading it loads no network library."""

    name: str
    config: NetworkConfig
    tokenizer: Tokenizer
    weights: Mapping[str, np.ndarray]  # by the path of their variable
    past: Past

    @classmethod
    def load(cls, model: str, snapshot: int | None = None) -> "Origin":
        """From a model's name in ``assets/`` or its folder; with the weights of a ``snapshot`` that it keeps.

        Raises ModelFolderError.
        """
        folder: Path = find_model_folder(model)
        path = weights_path(folder, snapshot)
        found = fingerprint(folder, path)
        config, tokenizer = read_description(folder)
        config = replace(config, minimum_confidence=0.0)  # chosen anew once the weights are known
        weights = {name: array.astype(np.float32) for name, array in read_weights(path).items()}
        return cls(f"{model_name(folder)} {found}", config, tokenizer, weights, Past.read(folder))

    def grown(self, **sizes: int) -> "Origin":
        """The same origin for a network with more feed-forward units (``dff``) or more layers on each side (``num_layers``).
        Raises ValueError for fewer than it has, and if the larger network could not begin as the same function.
        """
        for size, wanted in sizes.items():
            if self.config.architecture != "transformer" or wanted < getattr(self.config, size):
                raise ValueError(
                    f"{size} should be at least that of the model to start from, received {wanted}: {self.config}"
                )
        deeper = sizes.get("num_layers", self.config.num_layers) > self.config.num_layers
        if deeper and not (isinstance(self.config, TransformerConfig) and self.config.norm_first):
            raise ValueError("layers can be added only where each normalises first (norm_first)")
        return self._replace(config=replace(self.config, **sizes))

    def put_into(self, network) -> None:
        """Give a built network these weights; where it is larger it computes the same function at first.

        New hidden units keep the weights they were built with on their way in and get zeros on their way
        out, so they change nothing until they are trained (after Chen, Goodfellow and Shlens 2016, Net2Net). So do the
        sub-layers of an added layer: each adds its output, which is zero, to what it has read.
        Raises ModelFolderError for weights of another network.
        """
        variables = {variable.path: variable for variable in network.weights}
        own_layers = {path.split("/")[1] for path in self.weights}
        expected = {path for path in variables if path.split("/")[1] in own_layers}
        if odd := sorted(set(self.weights) ^ expected):
            raise ModelFolderError(
                f"{self.name} belongs to another network: {odd[0]!r} is only in one of them"
            )
        for path, variable in variables.items():
            begun, weights = np.asarray(variable.value).copy(), self.weights.get(path)
            if weights is not None:
                if any(have > room for have, room in zip(weights.shape, begun.shape, strict=True)):
                    raise ModelFolderError(
                        f"{self.name}: {path} is {weights.shape}, at most {begun.shape} fit"
                    )
                begun[len(weights) :] = 0  # rows that the origin lacks: the way out of a new unit
                begun[tuple(slice(size) for size in weights.shape)] = weights
            elif path.endswith(_WAY_OUT):
                begun[:] = 0
            variable.assign(begun)
