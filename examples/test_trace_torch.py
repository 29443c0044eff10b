"""PyTorch's own layers and attention by hand, opened by one line.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from examples.torch_networks import (
    HEADS,
    KINDS,
    READ,
    SOURCE,
    VOCABULARY,
    WIDTH,
    Fused,
    OfTransformer,
    seeded,
)
from model.adapters.torch import trace_torch
from viz import explore


def test_a_transformer_of_pytorch():
    model = seeded(OfTransformer)
    trace = trace_torch(model, SOURCE, READ, token="p s e a b c d e f g h i".split())
    trace.check()
    assert [trace.shape(kind) for kind in KINDS] == [(2, HEADS), (3, HEADS), (3, HEADS)]
    assert trace.source_padding == (False,) * 4 + (True,) and not trace.cross_attention[..., 4].any()
    assert trace.decoder_input_tokens == ("s", "e", "f") and trace.target_tokens[:2] == ("e", "f")
    with torch.no_grad():
        logs = model.eval()(SOURCE, READ)[0].log_softmax(-1)
    np.testing.assert_allclose(trace.log_probabilities[:2], logs[[0, 1], [7, 8]].numpy(), atol=1e-5)
    assert b"data-component" in explore(trace).page


def test_equal_lengths_are_told_apart():
    model = seeded(OfTransformer)
    same, other = trace_torch(model, SOURCE[:, :3], READ), trace_torch(model, SOURCE[:, :3], READ[:, :2])
    np.testing.assert_allclose(same.encoder_attention, other.encoder_attention, atol=1e-6)
    np.testing.assert_allclose(same.cross_attention[:, :, :2], other.cross_attention, atol=1e-6)


def test_vectors_are_called_by_their_places():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, HEADS, 16), 2)  # (S, B, D)
    trace = trace_torch(encoder.eval(), torch.randn(4, 1, WIDTH))
    trace.check()
    assert trace.source_tokens == ("1", "2", "3", "4") and trace.shape("encoder_attention") == (2, HEADS)


def test_what_is_fused_is_spelled_out():
    model = seeded(Fused)
    trace = trace_torch(model, SOURCE[:, :4])
    trace.check()
    heads = model.embedding(SOURCE[0, :4]).detach().reshape(4, HEADS, -1).transpose(0, 1)
    scores = heads @ heads.transpose(1, 2) / (WIDTH // HEADS) ** 0.5
    expected = scores.masked_fill(torch.ones(4, 4).triu(1).bool(), -torch.inf).softmax(-1)
    np.testing.assert_allclose(trace.decoder_attention[0], expected.numpy(), atol=1e-6)
    with torch.no_grad():
        logs = model(SOURCE[:, :4])[0].log_softmax(-1)
    np.testing.assert_allclose(trace.log_probabilities[:3], logs[range(3), SOURCE[0, 1:4]].numpy(), atol=1e-5)


class Mixed(nn.Module):
    """Three layers of a decoder, each with attention by another name."""

    def __init__(self, last=torch.softmax):
        super().__init__()
        self.embedding, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.last = last

    def forward(self, ids):
        state = self.embedding(ids)[:, None]
        state = state + functional.scaled_dot_product_attention(state, state, state, is_causal=True)
        state = state + scaled_dot_product_attention(state, state, state, is_causal=True)
        later = torch.ones(ids.shape[1], ids.shape[1]).triu(1).bool()
        scores = (state @ state.mT).masked_fill(later, -torch.inf)
        return self.out((state + self.last(scores, -1) @ state)[:, 0])


def test_a_layer_is_heard_under_whatever_name_its_file_knows_the_function():
    before = scaled_dot_product_attention
    assert trace_torch(seeded(Mixed), SOURCE, heads=1).shape("decoder_attention") == (3, 1)
    assert globals()["scaled_dot_product_attention"] is before


def test_the_caller_gets_the_weights_that_it_asked_for():
    attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

    class Averaging(nn.Module):
        def forward(self, state):
            _, weights = attention(state, state, state)
            assert weights.shape == (1, 4, 4)
            return weights

    assert trace_torch(Averaging(), torch.randn(1, 4, WIDTH)).shape("encoder_attention") == (1, HEADS)


def test_everything_is_afterwards_as_it_was():
    model, before = seeded(OfTransformer), (functional.softmax, torch.softmax, torch.Tensor.softmax)
    fused, own = functional.scaled_dot_product_attention, "softmax" in vars(torch.Tensor)
    trace_torch(model, SOURCE, READ)
    assert model.training and torch.backends.mha.get_fastpath_enabled()
    assert (functional.softmax, torch.softmax, torch.Tensor.softmax) == before
    assert functional.scaled_dot_product_attention is fused and ("softmax" in vars(torch.Tensor)) == own


def test_a_softmax_that_is_no_attention_is_none_where_the_shapes_agree():
    class Routed(Fused):
        def forward(self, ids):
            state = self.embedding(ids)[:, None]
            state = functional.scaled_dot_product_attention(state, state, state, is_causal=True)
            return self.out((state * state[..., :4].softmax(-1).sum(-1, keepdim=True))[:, 0])

    trace = trace_torch(seeded(Routed), SOURCE[:, :4])  # four experts, four tokens
    assert trace.kinds == ("decoder_attention",) and trace.shape("decoder_attention") == (1, 1)


@pytest.mark.parametrize(("source", "read"), [(1, 3), (1, 1), (3, 1)])
def test_a_side_of_one_token_has_all_its_kinds(source, read):
    trace = trace_torch(seeded(OfTransformer), SOURCE[:, :source], READ[:, :read])
    trace.check()
    assert [trace.shape(kind) for kind in KINDS] == [(2, HEADS), (3, HEADS), (3, HEADS)]


def test_a_compiled_module_is_heard_once():
    model = seeded(OfTransformer)
    compiled = trace_torch(torch.compile(model, backend="eager"), SOURCE, READ)
    np.testing.assert_array_equal(compiled.cross_attention, trace_torch(model, SOURCE, READ).cross_attention)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_probabilities_in_half_precision_are_not_taken_for_logits(kind):
    class Probabilities(Fused):
        def forward(self, ids):
            return (4 * super().forward(ids)).softmax(-1)

    model, ids = seeded(Probabilities).to(kind), torch.arange(12).repeat(3)[None]
    trace = trace_torch(model, ids, pad=None)
    with torch.no_grad():
        logs = model(ids)[0].float().log()
    assert kind != torch.bfloat16 or (logs.exp().sum(-1) - 1).abs().max() > 1e-3  # what used to mislead it
    np.testing.assert_allclose(trace.log_probabilities[:-1], logs[range(35), ids[0, 1:]].numpy(), atol=0.1)


def test_which_output_holds_the_logits_can_be_said():
    class Several(Fused):
        def forward(self, ids):
            logits = super().forward(ids)
            return torch.flip(logits, [-1]), logits

    model, plain = seeded(Several), trace_torch(seeded(Fused), SOURCE)
    second = trace_torch(model, SOURCE, output=lambda returned: returned[1])
    np.testing.assert_array_equal(second.log_probabilities, plain.log_probabilities)
    assert (trace_torch(model, SOURCE).log_probabilities != plain.log_probabilities).any()
    assert trace_torch(model, SOURCE, output=lambda _: None).log_probabilities is None
