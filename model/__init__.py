"""Correction of Korean spelling, and the attention of the network that corrects.

``from see_attention.model import Corrector`` is enough for most; in a checkout that is not installed the
package is ``model``. Importing it is quick: TensorFlow is loaded by ``Corrector.load`` only for a model
without a graph, and with the first activations of a recurrent network. ``trace_keras``, ``trace_torch`` and
``from_transformers`` trace networks of your own, and ``laboratory_of`` makes ``analysis`` work with them.

The folders build on each other: ``text`` and ``trace`` need nothing else; ``stored``, ``activations`` and
``network`` are the networks; ``correction`` uses them; ``analysis``, ``tables`` and ``survey`` use
corrections.

Example:
    >>> corrector.correct("머거요").text
    '먹어요'
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from model.correction.answers import Answers, Network
from model.correction.correction import Correction, SentenceCorrection
from model.correction.corrector import Corrector
from model.stored.folder import ModelFolderError
from model.text.changes import Change
from model.trace.interventions import Intervention
from model.trace.strict_npz import TraceError
from model.trace.trace import ATTENTION_KINDS, AttentionTrace, InterveningModel, TracedModel

if TYPE_CHECKING:
    from model.adapters import laboratory_of
    from model.adapters.keras import trace_keras
    from model.adapters.own_network import Vocabulary
    from model.adapters.torch import trace_torch
    from model.adapters.transformers import from_transformers

__all__ = [
    "ATTENTION_KINDS",
    "Answers",
    "AttentionTrace",
    "Change",
    "Correction",
    "Corrector",
    "InterveningModel",
    "Intervention",
    "ModelFolderError",
    "Network",
    "SentenceCorrection",
    "TraceError",
    "TracedModel",
    "Vocabulary",
    "from_transformers",
    "laboratory_of",
    "trace_keras",
    "trace_torch",
]

# TensorFlow reads this when it is imported. By itself it leaves oneDNN off on processors without AVX-512,
# although oneDNN saves a quarter of a training step and a sixth of a batch of corrections there.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

_ADAPTERS = {
    "Vocabulary": "model.adapters.own_network",
    "from_transformers": "model.adapters.transformers",
    "laboratory_of": "model.adapters",
    "trace_keras": "model.adapters.keras",
    "trace_torch": "model.adapters.torch",
}


def __getattr__(name: str) -> Any:
    """The adapters take a seventh of the time of this import, and most programs use none of them."""
    if name in _ADAPTERS:
        return getattr(import_module(_ADAPTERS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
