"""``trace_torch``: PyTorch layers, attention by hand, single heads, masks, refusals.

Run by `pytest examples`; see requirements-examples.txt.
"""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention

from model.adapters.torch import trace_torch
from model.trace.strict_npz import TraceError
from viz import explore

VOCABULARY, WIDTH, HEADS = 12, 8, 2
SOURCE, READ = torch.tensor([[5, 3, 9, 4, 0]]), torch.tensor([[1, 7, 8]])
KINDS = ("encoder_attention", "decoder_attention", "cross_attention")
Attention = partial(nn.MultiheadAttention, WIDTH, HEADS, batch_first=True)


class OfTransformer(nn.Module):
    """``nn.Transformer`` between an embedding and a linear layer; it makes its masks itself."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.transformer = nn.Transformer(WIDTH, HEADS, 2, 3, 16, dropout=0.5, batch_first=True)

    def forward(self, source, read):
        later = nn.Transformer.generate_square_subsequent_mask(read.shape[1])
        hidden = {"src_key_padding_mask": source == 0, "memory_key_padding_mask": source == 0}
        state = self.transformer(self.embedding(source), self.embedding(read), tgt_mask=later, **hidden)
        return self.out(state)


class Network(nn.Module):
    """``attend`` (1, N, D) between an embedding and a linear layer, whose logits ``end`` changes."""

    def __init__(self, attend, end=lambda logits: logits):
        super().__init__()
        self.embedding, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.attend, self.end = attend, end

    def forward(self, ids):
        return self.end(self.out(self.attend(self.embedding(ids))))


def split(state):
    """(1, N, D) -> (1, H, N, D/H)."""
    return state.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def fused(state, attn_mask=None):
    """Fused attention of all heads to themselves, causal without a mask."""
    heads, is_causal = split(state), attn_mask is None
    mixed = functional.scaled_dot_product_attention(heads, heads, heads, attn_mask, is_causal=is_causal)
    return mixed.transpose(1, 2).flatten(2)


def causal(scores):
    return scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def model():
    return OfTransformer()


def test_a_transformer_of_pytorch(model):
    trace = trace_torch(model, SOURCE, READ, token="p s e a b c d e f g h i".split())
    trace.check()
    assert [trace.shape(kind) for kind in KINDS] == [(2, HEADS), (3, HEADS), (3, HEADS)]
    assert trace.source_padding == (False,) * 4 + (True,) and not trace.cross_attention[..., 4].any()
    assert trace.decoder_input_tokens == ("s", "e", "f") and trace.target_tokens[:2] == ("e", "f")
    assert trace.encoder_masked is None
    with torch.no_grad():
        logs = model.eval()(SOURCE, READ)[0].log_softmax(-1)
    np.testing.assert_allclose(trace.log_probabilities[:2], logs[[0, 1], [7, 8]].numpy(), atol=1e-5)
    assert b"data-component" in explore(trace).page
    compiled = trace_torch(torch.compile(model, backend="eager"), SOURCE, READ)
    np.testing.assert_array_equal(compiled.cross_attention, trace.cross_attention)


@pytest.mark.parametrize(("source", "read"), [(3, 3), (1, 3), (1, 1), (3, 1)])
def test_sides_of_equal_length_and_of_one_token_have_all_their_kinds(model, source, read):
    trace = trace_torch(model, SOURCE[:, :source], READ[:, :read])
    trace.check()
    assert [trace.shape(kind) for kind in KINDS] == [(2, HEADS), (3, HEADS), (3, HEADS)]
    other = trace_torch(model, SOURCE[:, :source], READ[:, :2])
    np.testing.assert_allclose(trace.encoder_attention, other.encoder_attention, atol=1e-6)
    first, same = (each.cross_attention[:, :, : min(read, 2)] for each in (trace, other))
    np.testing.assert_allclose(first, same, atol=1e-6)


@pytest.mark.parametrize(("padded", "batch_first"), [(0, False), (1, True), (2, True)])
def test_an_encoder_of_vectors_names_its_tokens_by_place_and_is_told_its_padding(padded, batch_first):
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 16, batch_first=batch_first)
    vectors = torch.randn((1, 5, WIDTH) if batch_first else (5, 1, WIDTH))
    hidden = torch.arange(5)[None] >= 5 - padded
    trace = trace_torch(nn.TransformerEncoder(layer, 2).eval(), vectors, src_key_padding_mask=hidden)
    trace.check()
    assert trace.kinds == ("encoder_attention",) and trace.source_tokens == tuple("12345")
    assert trace.shape("encoder_attention") == (2, HEADS)
    assert not trace.encoder_attention[..., 5 - padded :].any()


def test_fused_attention_is_spelled_out():
    model, ids = Network(fused), SOURCE[:, :4]
    trace = trace_torch(model, ids)
    trace.check()
    with torch.no_grad():
        heads = split(model.embedding(ids))[0]
        expected = causal(heads @ heads.mT / (WIDTH // HEADS) ** 0.5).softmax(-1)
        logs = model(ids)[0].log_softmax(-1)
    np.testing.assert_allclose(trace.decoder_attention[0], expected.numpy(), atol=1e-6)
    np.testing.assert_allclose(trace.log_probabilities[:3], logs[range(3), ids[0, 1:]].numpy(), atol=1e-5)


class Mixed(nn.Module):
    """Three layers of a decoder, each with attention by another name."""

    def __init__(self):
        super().__init__()
        self.last = torch.softmax

    def forward(self, state):
        state = state + functional.scaled_dot_product_attention(state, state, state, is_causal=True)
        state = state + scaled_dot_product_attention(state, state, state, is_causal=True)
        return state + self.last(causal(state @ state.mT), -1) @ state


def test_attention_is_captured_by_any_name_and_all_is_afterwards_as_it_was():
    functions = scaled_dot_product_attention, functional.softmax, torch.softmax, torch.Tensor.softmax
    own, model = "softmax" in vars(torch.Tensor), Network(Mixed())
    assert trace_torch(model, SOURCE, heads=1).shape("decoder_attention") == (3, 1)
    assert model.training and torch.backends.mha.get_fastpath_enabled()
    assert functional.scaled_dot_product_attention is scaled_dot_product_attention is functions[0]
    assert (functional.softmax, torch.softmax, torch.Tensor.softmax) == functions[1:]
    assert ("softmax" in vars(torch.Tensor)) == own


def test_the_caller_gets_the_weights_that_it_asked_for():
    attention, seen = Attention(), []

    def averaging(state):
        output, weights = attention(state, state, state)
        seen.append(weights.shape)
        return output

    assert trace_torch(Network(averaging), SOURCE[:, :4]).shape("encoder_attention") == (1, HEADS)
    assert {*seen} == {(1, 4, 4)}


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_probabilities_in_half_precision_are_not_taken_for_logits(kind):
    model = Network(fused, lambda logits: (4 * logits).softmax(-1)).to(kind)
    ids = torch.arange(12).repeat(3)[None]
    trace = trace_torch(model, ids, pad=None)
    with torch.no_grad():
        logs = model(ids)[0].float().log()
    assert kind != torch.bfloat16 or (logs.exp().sum(-1) - 1).abs().max() > 1e-3  # this used to mislead it
    np.testing.assert_allclose(trace.log_probabilities[:-1], logs[range(35), ids[0, 1:]].numpy(), atol=0.1)


def test_the_output_that_holds_the_logits_can_be_named():
    model = Network(fused)
    plain = trace_torch(model, SOURCE)
    model.end = lambda logits: (torch.flip(logits, [-1]), logits)
    second = trace_torch(model, SOURCE, output=lambda returned: returned[1])
    np.testing.assert_array_equal(second.log_probabilities, plain.log_probabilities)
    assert (trace_torch(model, SOURCE).log_probabilities != plain.log_probabilities).any()
    assert trace_torch(model, SOURCE, output=lambda _: None).log_probabilities is None


class Head(nn.Linear):
    """One head of a decoder without projections of keys and values."""

    def weights(self, state):
        return causal(super().forward(state) @ state.mT).softmax(-1)

    def forward(self, state):
        return self.weights(state) @ state[..., :4]


class SeveralHeads(nn.ModuleList):
    def forward(self, state):
        return torch.cat([head(state) for head in self], -1)


def test_heads_in_modules_of_their_own_are_one_layer():
    layers = [SeveralHeads([Head(WIDTH, WIDTH) for _ in range(2)]) for _ in range(3)]
    model = Network(nn.Sequential(*layers))
    trace = trace_torch(model, SOURCE[:, :4])
    trace.check()
    assert trace.shape("decoder_attention") == (3, 2)
    with torch.no_grad():
        expected = torch.cat([head.weights(model.embedding(SOURCE[:, :4])) for head in layers[0]])
    np.testing.assert_allclose(trace.decoder_attention[0], expected.numpy(), atol=1e-6)


def test_heads_in_a_loop_are_asked_for():
    def looping(state):
        for _ in range(3):
            heads = state.split(4, -1)
            state = torch.cat([causal(head @ head.mT).softmax(-1) @ head for head in heads], -1)
        return state

    model, ids = Network(looping), SOURCE[:, :4]
    with pytest.warns(UserWarning, match="6 softmaxes of one head each are drawn as 6 layers.* heads=…"):
        apart = trace_torch(model, ids)
    together = trace_torch(model, ids, heads=2)
    assert together.shape("decoder_attention") == (3, 2)
    np.testing.assert_array_equal(together.decoder_attention.reshape(6, 1, 4, 4), apart.decoder_attention)
    with pytest.raises(TraceError, match="layers of 4 softmaxes of one head, received 6 softmaxes"):
        trace_torch(model, ids, heads=4)


def test_an_id_of_padding_inside_a_text_is_a_token_and_is_told():
    model, ids = Network(fused), torch.tensor([[3, 0, 4, 0, 0]])
    with pytest.warns(UserWarning, match="the source: the id of padding, 0, stands before .* pad=None"):
        trace = trace_torch(model, ids)
    assert trace.target_padding == (False, False, True, True, True)  # the row of 4 produces padding
    whole = trace_torch(model, ids, pad=None, token="p s e a b".split())
    assert not any(whole.target_padding) and whole.decoder_input_tokens == ("a", "p", "b", "p", "p")


def test_sparse_attention_is_masked_layer_by_layer():
    """The first layer sees one token to either side, the second every other one."""
    away = (torch.arange(5) - torch.arange(5)[:, None]).abs()
    attention, near, strided = Attention(), away > 1, (away % 2).bool()

    def sparse(state):
        hidden = torch.arange(5)[None] == 4  # padding
        state = attention(state, state, state, attn_mask=near, key_padding_mask=hidden)[0]
        return fused(state, ~strided)

    trace = trace_torch(Network(sparse), SOURCE)
    trace.check()
    for layer, mask in enumerate((near, strided)):
        mask[4] = mask[:, 4] = False  # padding is no sparse attention
        np.testing.assert_array_equal(trace.masked("encoder_attention", layer), mask.numpy())
    assert b'"sparse"' in explore(trace).page


def flexible(state):
    state = functional.scaled_dot_product_attention(state, state, state)
    return flex_attention.flex_attention(state[:, None], state[:, None], state[:, None])[:, 0]


def turned(state):
    """Heads in the place of rows."""
    heads = state.unflatten(-1, (HEADS, -1))
    weights = torch.einsum("bqhd,bkhd->bqhk", heads, heads).softmax(-1)
    return torch.einsum("bqhk,bkhd->bqhd", weights, heads).flatten(2)


STATES = torch.zeros(1, 5, WIDTH)
OTHER = "attention should be captured, received softmaxes of the shapes"
MODULE = "should be a module of PyTorch, .* Give the module itself"
REFUSED = [
    (lambda: nn.Embedding(VOCABULARY, WIDTH), (SOURCE,), "should be captured, received no softmax"),
    (OfTransformer, (SOURCE.repeat(2, 1), READ), r"should be one sentence, .*\(2, 5\). .* as in ids\[:1\]"),
    (OfTransformer, (SOURCE, torch.zeros(1, 0, WIDTH)), "target should have at least one token"),
    (lambda: Network(fused), (SOURCE[:, :1],), "two tokens or more, received 1. .* encoder or a decoder"),
    (lambda: Network(turned), (SOURCE[:, :2],), OTHER),
    (lambda: Network(turned), (SOURCE[:, :3],), OTHER),
    (
        lambda: Network(flexible),
        (SOURCE,),
        r"captured in each layer, received 1 softmaxes. flex_attention, after 1 captured .* fused",
    ),
    (Attention, (STATES, STATES, STATES), r"received query, key and value. .* key=x, value=x\)"),
    (lambda: lambda ids: ids, (SOURCE,), MODULE),
    (lambda: torch.jit.trace(nn.Linear(2, 2), torch.zeros(2)), (SOURCE,), MODULE),
]


@pytest.mark.parametrize(("make", "inputs", "why"), REFUSED)
def test_a_refusal_names_the_reason(make, inputs, why):
    with torch.no_grad(), pytest.raises(TraceError, match=why):
        trace_torch(make(), *inputs)


def test_a_layer_of_attention_takes_key_and_value_by_name():
    states = torch.randn(1, 5, WIDTH)
    assert trace_torch(Attention(), states, key=states, value=states).shape("encoder_attention") == (1, HEADS)
