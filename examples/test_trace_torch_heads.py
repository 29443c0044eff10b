"""Heads that a network of PyTorch computes one by one, opened as the layers that they are.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch
from torch import nn

from examples.torch_networks import HEADS, SOURCE, VOCABULARY, WIDTH, Fused, seeded
from model.adapters.torch import trace_torch
from model.trace.strict_npz import TraceError


class Head(nn.Module):
    """One head of a decoder, as lectures write it; its softmax may be a layer."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, 4, bias=False) for _ in range(3))
        self.softmax = nn.Softmax(-1)

    def forward(self, state):
        later = torch.ones(state.shape[1], state.shape[1]).triu(1).bool()
        scores = (self.query(state) @ self.key(state).mT).masked_fill(later, -torch.inf)
        return self.softmax(scores) @ self.value(state)


class SeveralHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head() for _ in range(2)])

    def forward(self, state):
        return state + torch.cat([head(state) for head in self.heads], -1)


class Looping(nn.Module):
    """Its heads are computed in a loop."""

    def forward(self, state):
        later = torch.ones(state.shape[1], state.shape[1]).triu(1).bool()
        heads = state.split(4, -1)
        weights = [(head @ head.mT).masked_fill(later, -torch.inf).softmax(-1) for head in heads]
        return torch.cat([each @ head for each, head in zip(weights, heads, strict=True)], -1)


def of_layers(layer, count=3):
    return nn.Sequential(
        nn.Embedding(VOCABULARY, WIDTH), *[layer() for _ in range(count)], nn.Linear(WIDTH, VOCABULARY)
    )


def test_heads_in_modules_of_their_own_are_one_layer():
    model, seen = seeded(lambda: of_layers(SeveralHeads)), []
    trace = trace_torch(model, SOURCE[:, :4])
    trace.check()
    assert trace.shape("decoder_attention") == (3, 2)
    for layer in model[1:4]:
        for head in layer.heads:
            head.softmax.register_forward_hook(lambda *called: seen.append(called[-1].detach()))
    model(SOURCE[:, :4])
    np.testing.assert_allclose(trace.decoder_attention.reshape(6, 4, 4), torch.cat(seen).numpy(), atol=1e-6)


def test_heads_in_a_loop_are_asked_for():
    model = seeded(lambda: of_layers(Looping))
    with pytest.warns(UserWarning, match="6 softmaxes of one head each are drawn as 6 layers.* heads=…"):
        apart = trace_torch(model, SOURCE[:, :4])
    together = trace_torch(model, SOURCE[:, :4], heads=2)
    assert together.shape("decoder_attention") == (3, 2)
    np.testing.assert_array_equal(together.decoder_attention.reshape(6, 1, 4, 4), apart.decoder_attention)
    with pytest.raises(TraceError, match="layers of 4 softmaxes of one head, received 6 softmaxes"):
        trace_torch(model, SOURCE[:, :4], heads=4)


def test_heads_in_the_place_of_rows_are_refused():
    class Turned(Fused):
        def forward(self, ids):
            heads = self.embedding(ids).reshape(1, -1, HEADS, WIDTH // HEADS)
            weights = torch.einsum("bqhd,bkhd->bqhk", heads, heads).softmax(-1)
            return self.out(torch.einsum("bqhk,bkhd->bqhd", weights, heads).reshape(1, -1, WIDTH))

    for length in (2, 3):
        with pytest.raises(
            TraceError, match="attention should be captured, received softmaxes of the shapes"
        ):
            trace_torch(seeded(Turned), SOURCE[:, :length])
