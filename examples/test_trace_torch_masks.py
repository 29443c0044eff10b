"""Padding and sparse attention of networks of PyTorch.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from examples.torch_networks import HEADS, READ, SOURCE, VOCABULARY, WIDTH, Fused, OfTransformer, seeded
from model.adapters.torch import trace_torch
from viz import explore


@pytest.mark.parametrize("padded", [1, 2])
def test_an_encoder_whose_padding_is_told_by_a_mask_alone_stays_an_encoder(padded):
    encoder = seeded(
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, HEADS, 16, batch_first=True), 2)
    )
    hidden = torch.arange(5)[None] >= 5 - padded
    trace = trace_torch(encoder, torch.randn(1, 5, WIDTH), src_key_padding_mask=hidden)
    trace.check()
    assert trace.kinds == ("encoder_attention",) and trace.source_tokens == tuple("12345")
    assert not trace.encoder_attention[..., 5 - padded :].any()


def test_an_id_of_padding_inside_a_text_is_a_token_and_is_told():
    model, ids = seeded(Fused), torch.tensor([[3, 0, 4, 0, 0]])
    with pytest.warns(UserWarning, match="the source: the id of padding, 0, stands before .* pad=None"):
        trace = trace_torch(model, ids)
    assert trace.target_padding == (False, False, True, True, True)  # the row of 4 produces padding
    whole = trace_torch(model, ids, pad=None, token="p s e a b".split())
    assert not any(whole.target_padding) and whole.decoder_input_tokens == ("a", "p", "b", "p", "p")


class Sparse(nn.Module):
    """An encoder of two layers: the first sees one token to either side, the second every other one."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    def forward(self, ids):
        state, places = self.embedding(ids), torch.arange(ids.shape[1])
        self.hidden = (places - places[:, None]).abs() > 1, ((places - places[:, None]) % 2).bool()
        state = self.attention(state, state, state, attn_mask=self.hidden[0], key_padding_mask=ids == 0)[0]
        heads = state.reshape(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        return functional.scaled_dot_product_attention(heads, heads, heads, ~self.hidden[1])


def test_sparse_attention_is_masked_layer_by_layer():
    model = seeded(Sparse)
    trace = trace_torch(model, SOURCE)
    trace.check()
    near, strided = (hidden.numpy() for hidden in model.hidden)
    near[4] = near[:, 4] = False  # padding is no sparse attention
    np.testing.assert_array_equal(trace.masked("encoder_attention", 0), near)
    strided[4] = strided[:, 4] = False
    np.testing.assert_array_equal(trace.masked("encoder_attention", 1), strided)
    assert b'"sparse"' in explore(trace).page
    assert trace_torch(seeded(OfTransformer), SOURCE, READ).encoder_masked is None
