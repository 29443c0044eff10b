"""Writes the graph of a model folder."""

from pathlib import Path

from onnx import ModelProto

from model.export import seq2seq, transformer
from model.export.operators import GraphWriter
from model.graph.files import GraphFiles, graph_shape, write_files
from model.stored.config import NetworkConfig, Seq2SeqConfig, TransformerConfig
from model.stored.folder import read_config


def write_graph(folder: Path) -> None:
    """Write ``graph/`` into a model folder, for the network that its config describes.

    Raises ModelFolderError for a folder without a readable config.
    """
    config = read_config(folder)
    write_files(folder, config, graph_of(config))


def graph_of(config: NetworkConfig, *, opened: bool = False) -> GraphFiles:
    """The graph of a network. It depends on nothing but its arguments::

        graph_of(TransformerConfig(vocab_size=100)).halves["encode"]  # an ONNX file, without weights

    ``opened``: for a Transformer, a graph that takes interventions and hands out queries, keys and values (``transformer.py``).
    """
    writers = dict(zip(("encode", "decode"), _halves(config, opened), strict=True))
    metadata = {name: str(value) for name, value in graph_shape(config).items()}
    models = {name: writer.model(name, metadata) for name, writer in writers.items()}
    return GraphFiles(
        {name: _deterministic(model) for name, model in models.items()},
        {name: writer.weights for name, writer in writers.items()},
    )


def _halves(config: NetworkConfig, opened: bool) -> tuple[GraphWriter, GraphWriter]:
    if isinstance(config, TransformerConfig):
        return transformer.encoder(config, opened=opened), transformer.decoder(config, opened=opened)
    if isinstance(config, Seq2SeqConfig) and not opened:
        return seq2seq.encoder(config), seq2seq.decoder(config)
    raise ValueError(f"there is no {'opened ' if opened else ''}graph of a {config.architecture}")


def _deterministic(model: ModelProto) -> bytes:
    return model.SerializeToString(deterministic=True)
