"""What ``trace_torch`` refuses, and what it tells to do.

Run by `pytest examples`; see requirements-examples.txt.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional

from examples.torch_networks import HEADS, READ, SOURCE, VOCABULARY, WIDTH, Fused, OfTransformer, seeded
from model.adapters.torch import trace_torch
from model.trace.strict_npz import TraceError


def test_a_layer_that_cannot_be_heard_is_not_left_out_silently():
    from torch.nn.attention import flex_attention

    class Flexible(Fused):
        def forward(self, ids):
            state = self.embedding(ids)[:, None]
            state = functional.scaled_dot_product_attention(state, state, state)
            return self.out(flex_attention.flex_attention(state, state, state)[:, 0])

    message = r"captured in each layer, received 1 softmaxes. flex_attention, after 1 captured .* fused"
    with torch.no_grad(), pytest.raises(TraceError, match=message):
        trace_torch(seeded(Flexible), SOURCE)


def test_what_cannot_be_traced_is_told_why():
    with pytest.raises(TraceError, match="attention should be captured, received no softmax"):
        trace_torch(nn.Embedding(VOCABULARY, WIDTH), SOURCE)
    with pytest.raises(
        TraceError, match=r"the source should be one sentence, .*\(2, 5\). .* as in ids\[:1\]"
    ):
        trace_torch(seeded(OfTransformer), SOURCE.repeat(2, 1), READ)


def test_one_token_alone_shows_nothing():
    with pytest.raises(
        TraceError, match="source should have two tokens or more, received 1. .* encoder or a decoder"
    ):
        trace_torch(seeded(Fused), SOURCE[:, :1])


def test_what_is_no_module_of_this_kind_is_told():
    attention, states = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), torch.randn(1, 5, WIDTH)
    with pytest.raises(TraceError, match=r"received query, key and value. .* key=x, value=x\)"):
        trace_torch(attention, states, states, states)
    assert trace_torch(attention, states, key=states, value=states).shape("encoder_attention") == (1, HEADS)
    for other in (lambda ids: ids, torch.jit.trace(nn.Linear(2, 2), torch.zeros(2))):
        with pytest.raises(TraceError, match="should be a module of PyTorch, .* Give the module itself"):
            trace_torch(other, SOURCE)
    with pytest.raises(TraceError, match="target should have at least one token"):
        trace_torch(seeded(OfTransformer), SOURCE, torch.zeros(1, 0, WIDTH))
