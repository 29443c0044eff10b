"""ONNX graphs of both networks, and the encoder and decoder of the recurrent one.

It needs ``onnx``. ``model/export/transformer.py`` has the halves of the Transformer,
``model/network/networks.py`` both networks in Keras.

B batch, S source, T target, D d_model, V vocabulary; L = H = 1 of the only attention of the recurrent
network.
"""

import math
from pathlib import Path

from model.export import transformer
from model.export.operators import GraphWriter
from model.graph.files import GraphFiles, graph_shape, write_files
from model.stored.config import NetworkConfig, Seq2SeqConfig, TransformerConfig
from model.stored.folder import read_config
from model.text.hangul import SYLLABLE_COUNT
from model.text.tokenizer import PAD_ID


def write_graph(folder: Path) -> None:
    """Write ``graph/`` into a model folder, for the network that its config describes.

    Raises ModelFolderError for a folder without a readable config.
    """
    config = read_config(folder)
    write_files(folder, config, graph_of(config))


def graph_of(config: NetworkConfig, *, opened: bool = False) -> GraphFiles:
    """The graph of a network. It depends on nothing but its arguments::

        graph_of(TransformerConfig(vocab_size=100)).halves["encode"]  # an ONNX file, without weights

    ``opened``: for a Transformer, a graph that takes interventions and hands out queries, keys and values
    (``transformer.py``).
    """
    writers = dict(zip(("encode", "decode"), _halves(config, opened), strict=True))
    metadata = {name: str(value) for name, value in graph_shape(config).items()}
    models = {name: writer.model(name, metadata) for name, writer in writers.items()}
    return GraphFiles(
        {name: model.SerializeToString(deterministic=True) for name, model in models.items()},
        {name: writer.weights for name, writer in writers.items()},
    )


def _halves(config: NetworkConfig, opened: bool) -> tuple[GraphWriter, GraphWriter]:
    if isinstance(config, TransformerConfig):
        return transformer.encoder(config, opened=opened), transformer.decoder(config, opened=opened)
    if isinstance(config, Seq2SeqConfig) and not opened:
        return _recurrent_encoder(config), _recurrent_decoder(config)
    raise ValueError(f"there is no {'opened ' if opened else ''}graph of a {config.architecture}")


def _recurrent_encoder(config: Seq2SeqConfig) -> GraphWriter:
    """source (B, S) ids -> keys and values (B, S, D), the mask, and the first cache.

    The cache is the state (B, D) of each layer.
    """
    graph, width = GraphWriter(), config.d_model
    source = graph.input("source", ("batch", "source"), "int")
    x = _embed(graph, config, source)
    real = graph.cast(graph("Greater", source, graph.cast(graph.constant(PAD_ID), "int")), "int")
    lengths = graph("ReduceSum", real, graph.constant([1]), keepdims=0)  # (B,) int32
    for n in range(1, config.num_layers + 1):
        paths = [f"encoder_{n}/{direction}_gru/gru_cell" for direction in ("forward", "backward")]
        states, last = recurrence(graph, x, paths, (width, width // 2), (lengths, ""))
        # (S, 2, B, D/2) -> (B, S, D); (2, B, D/2) -> (B, D)
        x = graph.reshape(graph("Transpose", states, perm=[2, 0, 1, 3]), (0, 0, width))
        last = graph.reshape(graph("Transpose", last, perm=[1, 0, 2]), (0, width))
        graph.output(
            f"cache_{n}", graph("Tanh", graph.dense(last, f"bridge_{n}", (width, width))), ("batch", width)
        )
    for part, name in (("keys", "key"), ("values", "value")):
        graph.output(f"memory_{part}", graph.dense(x, name, (width, width)), ("batch", "source", width))
    mask = graph("Squeeze", graph.padding(source), graph.constant([1]))
    graph.output("memory_mask", mask, ("batch", 1, "source"))
    return graph


def _recurrent_decoder(config: Seq2SeqConfig) -> GraphWriter:
    """ids (B, T) after a cache -> logits (B, T, V), cross_attention (B, 1, 1, T, S), states."""
    graph, width = GraphWriter(), config.d_model
    ids = graph.input("ids", ("batch", "target"), "int")
    keys, values = (graph.input(f"memory_{part}", ("batch", "source", width)) for part in ("keys", "values"))
    mask = graph.input("memory_mask", ("batch", 1, "source"))
    x = _embed(graph, config, ids)
    for n in range(1, config.num_layers + 1):
        state = graph("Unsqueeze", graph.input(f"cache_{n}", ("batch", width)), graph.constant([0]))
        states, last = recurrence(graph, x, [f"decoder_{n}/gru_cell"], (width, width), ("", state))
        # (T, 1, B, D) -> (B, T, D).
        x = graph("Transpose", graph("Squeeze", states, graph.constant([1])), perm=[1, 0, 2])
        graph.output(f"next_{n}", graph("Squeeze", last, graph.constant([0])), ("batch", width))
    query = graph.dense(x, "query", (width, width))
    logits = graph("MatMul", query, graph("Transpose", keys, perm=[0, 2, 1]))
    logits = graph("Mul", logits, graph.constant(1 / math.sqrt(width)))
    weights = graph("Softmax", graph("Add", logits, mask), axis=-1)
    joined = graph("Concat", graph("MatMul", weights, values), x, axis=-1)
    joined = graph("Tanh", graph.dense(joined, "join", (2 * width, width)))
    logits = graph("MatMul", joined, graph.weight("embedding/vocabulary", (width, config.vocab_size)))
    logits = graph("Add", logits, graph.weight("embedding/output_bias", (config.vocab_size,)))
    graph.output("logits", logits, ("batch", "target", config.vocab_size))
    shape = ("batch", 1, 1, "target", "source")
    graph.output("cross_attention", graph("Unsqueeze", weights, graph.constant([1, 2])), shape)
    return graph


def _embed(graph: GraphWriter, config: Seq2SeqConfig, ids: str) -> str:
    vectors = graph.weight("embedding/vectors", (config.vocab_size + SYLLABLE_COUNT, config.d_model))
    return graph("Mul", graph("Gather", vectors, ids), graph.constant(math.sqrt(config.d_model)))


def recurrence(
    graph: GraphWriter, x: str, paths: list[str], sizes: tuple[int, int], given: tuple[str, str] = ("", "")
) -> list[str]:
    """Gated recurrent units over x (B, T, width), one direction for each of the N ``paths``.

    Returns the states (T, N, B, units) of all steps, and the last state (N, B, units).

    ``sizes``: width and units. ``given``: the lengths (B,) of the rows without padding, and the state before
    the first step; "" for none. Keras and ONNX have the gates in the same order; "linear_before_reset" is
    Keras's ``reset_after``.
    """
    width, units = sizes
    kernels: list[str] = []
    recurrent: list[str] = []
    biases: list[str] = []
    for path in paths:
        for names, kernel, size in ((kernels, "kernel", width), (recurrent, "recurrent_kernel", units)):
            names.append(graph("Transpose", graph.weight(f"{path}/{kernel}", (size, 3 * units)), perm=[1, 0]))
        biases.append(graph.reshape(graph.weight(f"{path}/bias", (2, 3 * units)), (6 * units,)))
    stacked = [graph.stacked(names, axis=0) for names in (kernels, recurrent, biases)]
    steps = graph("Transpose", x, perm=[1, 0, 2])  # (B, T, width) -> (T, B, width)
    direction = "bidirectional" if len(paths) == 2 else "forward"
    options = {"hidden_size": units, "linear_before_reset": 1, "direction": direction}
    return graph.several("GRU", 2, steps, *stacked, *given, **options)
