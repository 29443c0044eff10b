from dataclasses import replace

import pytest

from model.correction.corrector import Corrector
from tests.plain_transformer import PlainNetwork
from tests.random_weights import equal_networks


@pytest.fixture(scope="module", params=[True, False], ids=["norm first", "norm last"])
def both(request, tiny_network, tiny_tokenizer):
    """(Keras's network, a corrector with it, a corrector with the network in NumPy alone) with the same random weights."""
    network, plain = equal_networks(replace(tiny_network.config, norm_first=request.param), tiny_tokenizer)
    plain = PlainNetwork(plain, tiny_tokenizer.encode_target(" ")[0])
    return network, *(Corrector("tiny", each, tiny_tokenizer, "0") for each in (network, plain))
