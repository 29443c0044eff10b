"""A run's model gets its graph, so that the app answers from it without TensorFlow."""

from importlib.util import find_spec
from pathlib import Path


def add_graph(folder: Path) -> None:
    """Write the graph of a model folder, where ``onnx`` is installed; without one the folder's model answers in Keras.
    ``python -m model export FOLDER`` adds it later."""
    if find_spec("onnx") is not None:
        from model.export.export import write_graph

        write_graph(folder)
