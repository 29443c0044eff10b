"""Random weights of a seed, and equal networks in Keras and in NumPy."""

import numpy as np


def fill_at_random(network, rng: np.random.Generator) -> None:
    """Give a built network small random weights; the scales of its normalisations lie around 1."""
    for variable in network.weights:
        start = 1.0 if variable.name == "gamma" else 0.0
        variable.assign(rng.normal(start, 0.3, variable.shape).astype(np.float32))


def equal_networks(config, tokenizer):
    """(Keras's network, the one in NumPy alone) with the same weights, in which everything does something."""
    from model.network.networks import build_network
    from tests.plain_transformer import PlainTransformer

    network = build_network(config, tokenizer)
    fill_at_random(network, np.random.default_rng(0))
    weights = {each.path: each.numpy() for each in network.weights}
    return network, PlainTransformer(config, tokenizer.features(), weights)
