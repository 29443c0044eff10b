"""Keras attention layer at its limits: masked cells, a single key, indivisible d_model.

``tests/model/trace/test_interventions.py`` compares whole passes with a network in plain NumPy.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model.network.layers import MultiHeadAttention, scaled_dot_product_attention

ROOT = Path(__file__).parents[3]
BATCH, HEADS, QUERIES, KEYS = 2, 4, 5, 7


def normal(*shape, seed=0, scale=1.0):
    return np.random.default_rng(seed).normal(0, scale, shape).astype(np.float32)


def test_masked_cells_are_exactly_0_and_rows_sum_to_1():
    mask = np.random.default_rng(3).random((BATCH, 1, QUERIES, KEYS)) < 0.6
    mask[..., 0] = True
    # Large logits: a masked cell must not win even where every open cell has a very negative logit.
    query, key = normal(BATCH, HEADS, QUERIES, 3, scale=40), normal(BATCH, HEADS, KEYS, 3, seed=1, scale=40)
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    weights = np.asarray(weights)
    closed = np.broadcast_to(~mask, weights.shape)
    assert closed.any()
    assert (weights[closed] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)


def test_d_model_must_be_a_multiple_of_num_heads():
    with pytest.raises(ValueError, match="d_model 10 .* num_heads 4"):
        MultiHeadAttention(10, 4)


def test_a_single_key_is_no_reason_for_a_warning():
    code = """
import numpy as np
from model.network.layers import scaled_dot_product_attention
one = np.ones((1, 1, 1, 4), "float32")
scaled_dot_product_attention(one, one, one)
"""
    command = [sys.executable, "-W", "error:You are using a softmax:UserWarning", "-c", code]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
