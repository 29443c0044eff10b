"""Fixtures: a tiny Keras Transformer, normalising first or last, and its ``Corrector``."""

from dataclasses import replace

import pytest

from model.correction.corrector import Corrector
from tests.random_weights import equal_networks


@pytest.fixture(scope="session", params=[True, False], ids=["norm first", "norm last"])
def network(request, tiny_network, tiny_tokenizer):
    """A Keras Transformer with random weights, normalising before and after its sub-layers."""
    return equal_networks(replace(tiny_network.config, norm_first=request.param), tiny_tokenizer)[0]


@pytest.fixture(scope="session")
def corrector(network, tiny_tokenizer):
    return Corrector("tiny", network, tiny_tokenizer, "0")
