"""The same network written twice, once in Keras and once in NumPy: both see and write the same."""

from dataclasses import replace

import numpy as np
import pytest

from tests.random_weights import equal_networks


@pytest.mark.parametrize("norm_first", [True, False])
def test_both_compute_the_same(tiny_network, tiny_tokenizer, norm_first):
    config = replace(tiny_network.config, norm_first=norm_first)
    network, plain = equal_networks(config, tiny_tokenizer)
    rng = np.random.default_rng(0)
    # Half of them are syllables outside the vocabulary, which have a meaning by their jamo alone.
    source = rng.integers(4, 2 * config.vocab_size, (3, 9)).astype(np.int32)
    source[1, 5:] = source[2, 1:] = 0  # padding
    target = rng.integers(1, config.vocab_size, (3, 7)).astype(np.int32)
    expected = network.full_pass(source, target)
    memory, read = plain.encode(source)
    logits, written = plain.decode(target, memory)
    np.testing.assert_allclose(logits, expected.logits, atol=1e-5)
    for kind, weights in {**read, **written}.items():
        np.testing.assert_allclose(weights, getattr(expected, kind), atol=1e-5)
