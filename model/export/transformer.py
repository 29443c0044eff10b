"""ONNX graphs of the Transformer's encoder and decoder, with all attention as outputs.

It needs ``onnx``.

An opened graph (``opened=True``) is for the site, whose laboratory runs in the browser. It takes
interventions as inputs, too: factors (L, H) of the outputs of heads, by kind of attention, and in the decoder
``left_out`` (P + T,), 1 for a token to which no query may attend; a source token is left out as padding. Its
further outputs are the queries of all heads, and those keys and values that are no outputs of a plain graph.

B batch, L layers, H heads, S source, T target and P cached tokens, Q queries and K keys, D d_model, V
vocabulary. Between attentions the tokens of all sentences are N = B * Q rows, so that a linear layer is one
product of two matrices.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from model.export.operators import GraphWriter
from model.stored.config import ATTENTION_PATHS, MASKED_LOGIT, POSITIONS, TransformerConfig
from model.text.hangul import SYLLABLE_COUNT
from model.trace.interventions import EPSILON

LENGTHS = {"source": "source", "ids": "target"}  # what the tokens of an input are called among the sizes

Projected = tuple[str, str, str]  # (B, H, Q, D/H), two of (B, H, K, D/H)


class _AttentionNames(NamedTuple):
    """One attention of a block: where its weights are stored, its keys and values, its mask."""

    kind: str
    path: str  # of its weights, in those of the block
    around: str  # the same for the residual connection around it
    # (path of its weights, its input, number of the layer) -> query, keys, values
    projected: Callable[[str, str, int], Projected]
    mask: str  # broadcastable to (B, H, Q, K), added to the logits


class _HalfWriter:
    """The common parts of encoder and decoder."""

    def __init__(self, config: TransformerConfig, side: str, ids: str, opened: bool):
        self.config, self.side, self.opened, self.graph = config, side, opened, GraphWriter()
        self.insides: dict[str, list[str]] = {}  # (B, H, Q, D/H) of each layer by name, of an opened graph
        self._gates: dict[str, list[str]] = {}  # (1, H) of each layer by kind
        self.head = config.d_model // config.num_heads
        self.ids = self.graph.input(ids, ("batch", LENGTHS[ids]), "int")

    def embed(self, first: str, end: str, left_out: str = "") -> str:
        """(B, Q) ids at the positions first..end-1 -> the residual stream (N, D).

        ``left_out`` (end,): 1 for a token of which only its position remains.
        """
        graph, config = self.graph, self.config
        vectors = graph.weight("embedding/vectors", (config.vocab_size + SYLLABLE_COUNT, config.d_model))
        tokens = graph("Gather", vectors, self.ids)
        tokens = graph("Mul", tokens, graph.constant(math.sqrt(config.d_model)))
        table = graph.weight("positions", (POSITIONS, config.d_model))
        places = graph("Range", first, end, graph.constant(1))
        if left_out:
            kept = graph("Sub", graph.constant(1.0), graph("Gather", left_out, places))
            tokens = graph("Mul", tokens, graph("Unsqueeze", kept, graph.constant([1])))
        return self.rows(graph("Add", tokens, graph("Gather", table, places)))

    def walk(self, x: str, looks: list[_AttentionNames]) -> tuple[str, list[list[str]]]:
        """The residual stream (N, D) through all blocks, and the weights of all layers.

        The weights are lists by layer, one for each of ``looks``.
        """
        maps: list[list[str]] = [[] for _ in looks]
        for n in range(self.config.num_layers):
            block = f"{self.side}_{n + 1}"
            for look, weights in zip(looks, maps, strict=True):
                attend = partial(self.attend, look, f"{block}/{look.path}", n, weights)
                x = self.around(x, f"{block}/{look.around}/norm", attend)
            x = self.around(
                x, f"{block}/around_feed_forward/norm", partial(self.feed_forward, f"{block}/feed_forward")
            )
        return (self.norm(x, f"{self.side}_norm") if self.config.norm_first else x), maps

    def around(self, x: str, norm: str, sublayer: Callable[[str], str]) -> str:
        """A sub-layer inside its residual connection, normalised before it or after."""
        if self.config.norm_first:
            return self.graph("Add", x, sublayer(self.norm(x, norm)))
        return self.norm(self.graph("Add", x, sublayer(x)), norm)

    def norm(self, x: str, name: str) -> str:
        scale, shift = (
            self.graph.weight(f"{name}/{part}", (self.config.d_model,)) for part in ("gamma", "beta")
        )
        return self.graph("LayerNormalization", x, scale, shift, epsilon=EPSILON)

    def attend(self, look: _AttentionNames, name: str, layer: int, maps: list[str], x: str) -> str:
        """(N, D) -> (N, D); ``maps`` gets the weights (B, H, Q, K)."""
        graph = self.graph
        query, keys, values = look.projected(name, x, layer)
        logits = graph("MatMul", query, graph("Transpose", keys, perm=[0, 1, 3, 2]))
        logits = graph("Mul", logits, graph.constant(1 / math.sqrt(self.head)))
        weights = graph("Softmax", graph("Add", logits, look.mask), axis=-1)
        if self.opened:
            weights = self.only_seen(weights, look.mask)
        maps.append(weights)
        found = graph("MatMul", weights, values)
        if self.opened:
            found = graph("Mul", found, self.gates(look.kind, layer))
            self.note(look.kind, query, keys, values)
        found = graph("Transpose", found, perm=[0, 2, 1, 3])  # (B, H, Q, D/H) -> (B, Q, H, D/H)
        return self.dense([f"{name}/output"], self.rows(found))

    def projected(self, name: str, x: str, _layer: int = 0) -> Projected:
        """Query, keys and values (B, H, Q, D/H) of ``x`` (N, D), for attention of a sentence to itself."""
        query, keys, values = self.heads([f"{name}/{part}" for part in ("query", "key", "value")], x, 3)
        return query, keys, values

    def heads(self, names: Sequence[str], x: str, arrays: int) -> list[str]:
        """Linear layers of (N, D), split into heads: equal ``arrays`` of (B, heads, Q, D/H)."""
        graph = self.graph
        shape = graph("Concat", graph("Shape", self.ids), graph.constant([-1, self.head]), axis=0)
        split = graph("Transpose", graph("Reshape", self.dense(names, x), shape), perm=[0, 2, 1, 3])
        return graph.several("Split", arrays, split, axis=1) if arrays > 1 else [split]

    def feed_forward(self, name: str, x: str) -> str:
        width, inner = self.config.d_model, self.config.dff
        hidden = self.graph("Relu", self.graph.linear(x, [f"{name}/hidden"], (width, inner)))
        return self.graph.linear(hidden, [f"{name}/output"], (inner, width))

    def dense(self, names: Sequence[str], x: str) -> str:
        return self.graph.linear(x, names, (self.config.d_model, self.config.d_model))

    def rows(self, x: str) -> str:
        """(B, Q, D), or its heads (B, Q, H, D/H) -> (N, D)."""
        return self.graph.reshape(x, (-1, self.config.d_model))

    def layers(self, name: str, arrays: list[str], queries: str, keys: str) -> None:
        """Hand out (B, L, H, Q, K) of the (B, H, Q, K) of each layer."""
        shape = ("batch", self.config.num_layers, self.config.num_heads, queries, keys)
        self.graph.output(name, self.graph.stacked(arrays, axis=1), shape)

    def vectors(self, name: str, arrays: Sequence[str], length: str) -> None:
        """Make an output (B, L, H, K, D/H) of the (B, H, K, D/H) of each layer, or of all in one array."""
        shape = (self.config.num_layers, self.config.num_heads, length, self.head)
        joined = self.graph("Concat", *arrays, axis=1) if len(arrays) > 1 else arrays[0]
        whole = self.graph.reshape(joined, (0, *shape[:2], -1, self.head))
        self.graph.output(name, whole, ("batch", *shape))

    def gates(self, kind: str, layer: int) -> str:
        """The factors of the outputs of one layer's heads: (1, H, 1, 1)."""
        if kind not in self._gates:
            shape = (self.config.num_layers, self.config.num_heads)
            given = self.graph.input(f"{kind}_gates", shape)
            self._gates[kind] = self.graph.several("Split", shape[0], given, axis=0)
        return self.graph.reshape(self._gates[kind][layer], (1, self.config.num_heads, 1, 1))

    def only_seen(self, weights: str, mask: str) -> str:
        """(B, H, Q, K): a row with nothing to look at is all 0, as in Keras."""
        seen = self.graph("Greater", mask, self.graph.constant(MASKED_LOGIT / 2))
        return self.graph("Mul", weights, self.graph.cast(seen, "float"))

    def note(self, kind: str, *arrays: str) -> None:
        for part, array in zip(("query", "key", "value"), arrays, strict=True):
            self.insides.setdefault(f"{kind}_{part}", []).append(array)


def encoder(config: TransformerConfig, *, opened: bool = False) -> GraphWriter:
    """source (B, S) ids -> encoder_attention (B, L, H, S, S), memory, and an empty cache.

    The memory is the keys and values (B, L, H, S, D/H) of each decoder layer, and the mask.
    """
    half = _HalfWriter(config, "encoder", "source", opened)
    graph, source, heads = half.graph, half.ids, (config.num_heads, half.head)
    mask = graph.padding(source)
    start = graph.constant(0)
    own = _AttentionNames("encoder_attention", *ATTENTION_PATHS["encoder_attention"], half.projected, mask)
    states, [maps] = half.walk(half.embed(start, graph.length(source, 1)), [own])
    half.layers("encoder_attention", maps, "source", "source")
    layers = [f"decoder_{n + 1}/cross_attention" for n in range(config.num_layers)]
    names = [f"{layer}/{part}" for part in ("key", "value") for layer in layers]
    for part, array in zip(("keys", "values"), half.heads(names, states, 2), strict=True):
        half.vectors(f"memory_{part}", [array], "source")
    graph.output("memory_mask", mask, ("batch", 1, 1, "source"))
    none = graph(
        "Concat",
        graph("Shape", source, start=0, end=1),
        graph.constant([config.num_layers, heads[0], 0, heads[1]]),
        axis=0,
    )
    for part in ("keys", "values"):
        graph.output(
            f"cache_{part}",
            graph("ConstantOfShape", none),
            ("batch", config.num_layers, heads[0], 0, heads[1]),
        )
    for name, inside in half.insides.items():
        half.vectors(name, inside, "source")
    return graph


def decoder(config: TransformerConfig, *, opened: bool = False) -> GraphWriter:
    """ids (B, T) after P cached tokens -> logits (B, T, V), attention, and the next cache.

    Attention is decoder_attention (B, L, H, T, P + T) and cross_attention (B, L, H, T, S). A cache holds the
    keys and values (B, L, H, P, D/H) of all layers.
    """
    half = _HalfWriter(config, "decoder", "ids", opened)
    graph, layers = half.graph, config.num_layers

    def by_layer(name: str, length: str) -> list[str]:
        shape = ("batch", layers, config.num_heads, length, half.head)
        given = graph.input(name, shape)
        parts = graph("Shape", given, start=0, end=1), graph("Shape", given, start=3)
        heads = graph("Concat", parts[0], graph.constant([layers * config.num_heads]), parts[1], axis=0)
        return graph.several("Split", layers, graph("Reshape", given, heads, allowzero=1), axis=1)

    memory = [by_layer(f"memory_{part}", "source") for part in ("keys", "values")]
    mask = graph.input("memory_mask", ("batch", 1, 1, "source"))
    cache = [by_layer(f"cache_{part}", "past") for part in ("keys", "values")]
    new: list[list[str]] = [[], []]

    def with_cache(name: str, x: str, layer: int) -> Projected:
        query, *found = half.projected(name, x)
        for old, arrays, own in zip(cache, new, found, strict=True):
            arrays.append(graph("Concat", old[layer], own, axis=2))
        return query, new[0][-1], new[1][-1]

    def of_memory(name: str, x: str, layer: int) -> Projected:
        [query] = half.heads([f"{name}/query"], x, 1)
        return query, memory[0][layer], memory[1][layer]

    first = graph.length("cache_keys", 3)
    end = graph("Add", first, graph.length(half.ids, 1))
    look_ahead, left_out = _look_ahead(graph, first, end), ""
    if opened:
        left_out = graph.input("left_out", ("keys",))
        look_ahead = graph("Add", look_ahead, graph("Mul", left_out, graph.constant(MASKED_LOGIT)))
    own = _AttentionNames("decoder_attention", *ATTENTION_PATHS["decoder_attention"], with_cache, look_ahead)
    read = _AttentionNames("cross_attention", *ATTENTION_PATHS["cross_attention"], of_memory, mask)
    states, maps = half.walk(half.embed(first, end, left_out), [own, read])
    size = (config.d_model, config.vocab_size)
    vocabulary = graph.weight("embedding/vocabulary", size), graph.weight("embedding/output_bias", size[1:])
    shape = graph("Concat", graph("Shape", half.ids), graph.constant([config.vocab_size]), axis=0)
    logits = graph("Reshape", graph("Gemm", states, *vocabulary), shape)
    graph.output("logits", logits, ("batch", "target", config.vocab_size))
    half.layers("decoder_attention", maps[0], "target", "keys")
    half.layers("cross_attention", maps[1], "target", "source")
    for part, arrays in zip(("keys", "values"), new, strict=True):
        half.vectors(f"next_{part}", arrays, "keys")
    for name, arrays in half.insides.items():
        if name.endswith("_query"):  # keys and values are the memory's, and the next cache's
            half.vectors(name, arrays, "target")
    return graph


def _look_ahead(graph: GraphWriter, first: str, end: str) -> str:
    """(1, 1, T, P + T): 0 where the key is not later than the query, -1e9 where it is."""
    one = graph.constant(1)
    queries = graph("Unsqueeze", graph("Range", first, end, one), graph.constant([1]))
    later = graph("Greater", graph("Range", graph.constant(0), end, one), queries)
    mask = graph("Mul", graph.cast(later, "float"), graph.constant(MASKED_LOGIT))
    return graph("Unsqueeze", mask, graph.constant([0, 1]))
