"""``trace_torch``: layers of PyTorch, attention by hand, single heads, masks, and its refusals.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention

from model.adapters.torch import trace_torch
from model.trace.strict_npz import TraceError
from viz import explore

VOCABULARY, WIDTH, HEADS = 12, 8, 2
SOURCE, READ = torch.tensor([[5, 3, 9, 4, 0]]), torch.tensor([[1, 7, 8]])
KINDS = ("encoder_attention", "decoder_attention", "cross_attention")


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


class Fused(nn.Module):
    """A decoder-only model with the fused function."""

    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        heads = self.embedding(ids).reshape(1, -1, HEADS, WIDTH // HEADS).transpose(1, 2)
        mixed = functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(1, -1, WIDTH))


def seeded(make):
    torch.manual_seed(0)
    return make()


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
    assert kind != torch.bfloat16 or (logs.exp().sum(-1) - 1).abs().max() > 1e-3  # this used to mislead it
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
