"""Builds a network from a model folder: its shape from ``config.json``, its weights from ``weights.npz``.

The networks are imported inside the function that builds one, because they load TensorFlow, which takes seconds.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from model.stored.config import NetworkConfig
from model.stored.folder import assign_weights, fingerprint, read_description, weights_path
from model.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    import keras


def build_network(config: NetworkConfig, tokenizer: Tokenizer) -> keras.Model:
    """An untrained, built network of the config's kind."""
    from model.network.seq2seq import Seq2Seq
    from model.network.transformer import Transformer

    kinds = {"transformer": Transformer, "seq2seq": Seq2Seq}
    network = kinds[config.architecture](config, tokenizer.features())
    network.build()
    return network


def load_model_folder(folder: Path, snapshot: int | None = None) -> tuple[keras.Model, Tokenizer, str]:
    """(network, tokenizer, fingerprint) from a folder. Raises ModelFolderError with the reason.

    ``snapshot`` is one of ``snapshot_steps``; None takes ``weights.npz``. The fingerprint is of all files that decide an
    answer; see ``fingerprint``.
    """
    path = weights_path(folder, snapshot)
    found = fingerprint(folder, path)
    config, tokenizer = read_description(folder)
    network = build_network(config, tokenizer)
    assign_weights(network, path)
    return network, tokenizer, found
