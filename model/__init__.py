"""The instrumented networks, and what turns a text into its correction.

``from model import Corrector`` is all most callers need. Importing this package loads no
TensorFlow; ``Corrector.load`` does, which takes seconds. ``trace_keras`` opens a Keras network of your own.
"""

import os

from model.adapters.keras import trace_keras
from model.correction.correction import Correction, SentenceCorrection
from model.correction.corrector import Corrector
from model.stored.folder import ModelFolderError
from model.text.changes import Change
from model.trace.interventions import Intervention
from model.trace.strict_npz import TraceError
from model.trace.trace import ATTENTION_KINDS, AttentionTrace
from model.trace.traced import InterveningModel, TracedModel

__all__ = [
    "ATTENTION_KINDS",
    "AttentionTrace",
    "Change",
    "Correction",
    "Corrector",
    "InterveningModel",
    "Intervention",
    "ModelFolderError",
    "SentenceCorrection",
    "TraceError",
    "TracedModel",
    "trace_keras",
]

# TensorFlow reads it when it is imported. It leaves oneDNN off on processors without AVX-512, whose products
# took a quarter less of a training step and a sixth less of a batch of corrections there.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
