"""Networks in JAX opened by one line: Flax (``nnx`` and ``linen``), Equinox, attention by hand.

Run by `pytest examples`; see requirements-examples.txt.
"""

from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import equinox
import jax.numpy as jnp
from flax import linen, nnx

from model import AttentionTrace, trace_jax
from model.trace.strict_npz import TraceError
from viz import explore

VOCABULARY, WIDTH, HEADS = 12, 8, 2
SOURCE, READ = jnp.array([[5, 3, 9, 4]]), jnp.array([[1, 7, 8]])
WORDS = "p s e a b c d e f g h i".split()
KINDS = ("encoder_attention", "decoder_attention", "cross_attention")
CAUSAL = jnp.tri(3, dtype=bool)


class OfNnx(nnx.Module):
    """An encoder-decoder of Flax's layers, which is called with a batch."""

    def __init__(self, rngs):
        self.embedding, self.out = (
            nnx.Embed(VOCABULARY, WIDTH, rngs=rngs),
            nnx.Linear(WIDTH, VOCABULARY, rngs=rngs),
        )
        self.attentions = nnx.List(
            nnx.MultiHeadAttention(HEADS, WIDTH, decode=False, rngs=rngs) for _ in range(3)
        )

    def __call__(self, source, read):
        reading, writing, looking = self.attentions
        memory, state = self.embedding(source), self.embedding(read)
        memory = memory + reading(memory)
        state = state + writing(state, mask=jnp.tri(read.shape[1], dtype=bool))
        return self.out(state + looking(state, memory, memory))


class OfLinen(linen.Module):
    """An encoder, two layers in a loop of Flax that JAX would compile."""

    @linen.compact
    def __call__(self, ids):
        state = linen.Embed(VOCABULARY, WIDTH)(ids)
        for _ in range(2):
            state = state + linen.MultiHeadDotProductAttention(HEADS)(state, mask=(ids > 0)[:, None, None])
        return state.mean(1)


class OfEquinox(equinox.Module):
    """A decoder alone for one sentence; its heads are computed by ``vmap``."""

    embedding: equinox.nn.Embedding
    attention: equinox.nn.MultiheadAttention
    out: equinox.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 3)
        self.embedding = equinox.nn.Embedding(VOCABULARY, WIDTH, key=keys[0])
        self.attention = equinox.nn.MultiheadAttention(HEADS, WIDTH, key=keys[1])
        self.out = equinox.nn.Linear(WIDTH, VOCABULARY, key=keys[2])

    def __call__(self, ids):
        state = jax.vmap(self.embedding)(ids)
        state = self.attention(state, state, state, mask=jnp.tri(len(ids), dtype=bool))
        return jax.vmap(self.out)(state)


def opened(trace: AttentionTrace) -> AttentionTrace:
    trace.check()
    assert b"data-component" in explore(trace).page
    return trace


def test_flax_nnx():
    model = OfNnx(nnx.Rngs(0))
    trace = opened(trace_jax(model, SOURCE, READ, token=WORDS))
    assert [trace.shape(kind) for kind in KINDS] == [(1, HEADS)] * 3
    assert trace.source_tokens == ("c", "a", "g", "b") and trace.target_tokens[:2] == ("e", "f")
    first = model.attentions[0]
    memory = model.embedding(SOURCE)
    query, key = first.query(memory), first.key(memory)  # (1, S, H, D/H)
    scores = jnp.einsum("qhd,khd->hqk", query[0], key[0]) / (WIDTH / HEADS) ** 0.5
    np.testing.assert_allclose(trace.encoder_attention[0], jax.nn.softmax(scores), atol=1e-6)
    logs = jax.nn.log_softmax(model(SOURCE, READ)[0])
    np.testing.assert_allclose(trace.log_probabilities[:2], logs[jnp.arange(2), READ[0, 1:]], atol=1e-5)


def test_flax_linen_that_is_compiled():
    model = OfLinen()
    variables = model.init(jax.random.key(0), SOURCE)
    call = partial(model.apply, variables)
    trace = opened(trace_jax(jax.jit(call), jnp.array([[5, 3, 9, 0]]), token=WORDS))
    assert trace.shape("encoder_attention") == (2, HEADS)
    assert not trace.encoder_attention[..., 3].any() and trace.source_padding[3]
    other = trace_jax(call, jnp.array([[5, 3, 9, 0]]))
    np.testing.assert_allclose(other.encoder_attention, trace.encoder_attention, atol=1e-6)


def test_equinox_whose_heads_are_mapped():
    model = OfEquinox(jax.random.key(1))
    trace = opened(trace_jax(model, SOURCE[0], token=WORDS))
    assert trace.kinds == ("decoder_attention",) and trace.shape("decoder_attention") == (1, HEADS)
    query, key = (
        jax.vmap(each)(jax.vmap(model.embedding)(SOURCE[0])).reshape(4, HEADS, -1)
        for each in (model.attention.query_proj, model.attention.key_proj)
    )
    scores = jnp.where(jnp.tri(4, dtype=bool), jnp.einsum("qhd,khd->hqk", query, key) / 2, -jnp.inf)
    np.testing.assert_allclose(trace.decoder_attention[0], jax.nn.softmax(scores), atol=1e-6)
    assert trace.log_probabilities.shape == (4,)


def test_a_batch_that_is_mapped_is_one_sentence():
    model = OfEquinox(jax.random.key(1))
    trace = trace_jax(jax.vmap(model), SOURCE, token=WORDS)
    np.testing.assert_allclose(
        trace.decoder_attention, trace_jax(model, SOURCE[0]).decoder_attention, atol=1e-6
    )


def test_the_fused_function_and_its_window():
    def call(states):  # (1, S, D)
        heads = states.reshape(1, -1, HEADS, WIDTH // HEADS)
        return jax.nn.dot_product_attention(heads, heads, heads, is_causal=True, local_window_size=(1, 0))

    states = jax.random.normal(jax.random.key(2), (1, 4, WIDTH))
    trace = opened(trace_jax(call, states))
    assert not trace.decoder_attention[0, :, 2, 0].any() and trace.decoder_attention[0, :, 2, 1].all()
    np.testing.assert_array_equal(trace.masked("decoder_attention", 0), trace.decoder_attention[0, 0] == 0)
    mixed = jnp.einsum("hqk,khd->qhd", trace.decoder_attention[0], states.reshape(4, HEADS, -1))
    np.testing.assert_allclose(mixed, call(states)[0], atol=1e-5)


def test_a_mask_that_the_softmax_is_given():
    hidden = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) > 1

    def call(states):  # (1, S, D)
        scores = states @ states.mT
        return jax.nn.softmax(scores, axis=-1, where=~hidden) @ states

    for each in (call, jax.vmap(lambda states: call(states[None])[0])):
        trace = opened(trace_jax(each, jax.random.normal(jax.random.key(2), (1, 4, WIDTH))))
        np.testing.assert_array_equal(trace.masked("encoder_attention", 0), hidden)
    full = trace_jax(lambda states: jax.nn.softmax(states @ states.mT) @ states, jnp.ones((1, 4, WIDTH)))
    assert full.encoder_masked is None


def test_what_cannot_be_heard_is_said():
    with pytest.raises(TraceError, match="should be heard, received no softmax"):
        trace_jax(lambda ids: jnp.tanh(ids), SOURCE)
    with pytest.raises(TraceError, match=r"Of a batch give one row"):
        trace_jax(lambda ids: ids, jnp.array([[1, 2], [3, 4]]))


def test_everything_is_put_back():
    before = jax.nn.softmax, jax.nn.dot_product_attention
    test_the_fused_function_and_its_window()
    assert (jax.nn.softmax, jax.nn.dot_product_attention) == before
