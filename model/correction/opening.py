"""Opens the network of a model folder: its graph, which answers without TensorFlow, or the Keras network."""

from importlib.util import find_spec
from pathlib import Path
from typing import cast

from model.activations.token_network import AnswersInIds, OpenedNetwork
from model.graph.files import can_answer
from model.text.tokenizer import Tokenizer


def load_network(
    folder: Path, snapshot: int | None = None, beam_width: int = 1
) -> tuple[OpenedNetwork, Tokenizer, str]:
    """(network, tokenizer, fingerprint) of a folder.

    The network answers from the folder's graph if that can answer and ``beam_width`` is 1; else it is a keras.Model.
    Raises ModelFolderError with the reason, and ModuleNotFoundError if what it needs is not installed.
    """

    def in_keras() -> tuple[OpenedNetwork, Tokenizer, str]:
        if find_spec("keras") is None:
            raise ModuleNotFoundError(
                "this network is answered by its graph and ONNX Runtime, or by Keras; `pip install '.[app]'` brings both",
                name="keras",
            )
        from model.network.loading import load_model_folder

        return load_model_folder(folder, snapshot)

    if beam_width != 1 or not can_answer(folder):
        return in_keras()
    from model.graph.network import load_graph

    return load_graph(folder, snapshot, lambda: _compiled(*in_keras()[:2]))


def answering(network: OpenedNetwork, tokenizer: Tokenizer, beam_width: int) -> AnswersInIds:
    """What answers for ``network``: a GraphNetwork itself, a keras.Model in compiled halves."""
    if hasattr(network, "produce"):
        return cast("AnswersInIds", network)
    return _compiled(network, tokenizer, beam_width)


def _compiled(network: OpenedNetwork, tokenizer: Tokenizer, beam_width: int = 1) -> AnswersInIds:
    from model.network.compiled import CompiledNetwork  # loads TensorFlow

    return CompiledNetwork(network, tokenizer.encode_target(" ")[0], beam_width)
