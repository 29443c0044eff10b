"""Which worker a question belongs to: the one that corrects, or the laboratory's, which has Keras (``engine/laboratory.py``)."""

from pathlib import Path

from engine.questions import CORRECT, QUESTIONS
from engine.versions import LIVE, ModelKey
from model.graph.files import can_answer
from model.stored.folder import ModelFolderError, read_config


def needs_keras(key: ModelKey, kind: str, arguments: tuple = ()) -> bool:
    """Whether Keras answers this question about a model. Never about a ``model.TracedModel``, which brings its own library.

    >>> from assets import FOLDER
    >>> from engine.asked import model_key
    >>> keys = [model_key(FOLDER / name) for name in ("transformer", "seq2seq")]
    >>> [needs_keras(key, "correct") for key in keys], [needs_keras(key, "projections") for key in keys]
    ([False, False], [False, True])
    """
    if key.fingerprint == LIVE:
        return False
    asked = QUESTIONS.get(kind, QUESTIONS[CORRECT])  # an unknown kind is refused by the worker
    if asked.in_keras(arguments) or not can_answer(Path(key.path)):
        return True
    return bool(asked.in_numpy) and not _is_transformer(key)  # the only kind of network that NumPy computes


def _is_transformer(key: ModelKey) -> bool:
    """Whether a folder holds a Transformer. True also if it cannot be read: the worker says what is wrong with it."""
    try:
        return read_config(Path(key.path)).architecture == "transformer"
    except ModelFolderError:
        return True
