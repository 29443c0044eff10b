"""The instrumented networks, and what turns a text into its correction.

``from model import Corrector`` is all most callers need. Importing this package loads no
TensorFlow; ``Corrector.load`` does, which takes seconds.
"""

from model.changes import Change
from model.corrector import Correction, Corrector, SentenceCorrection
from model.folder import ModelFolderError
from model.trace import ATTENTION_KINDS, AttentionTrace

__all__ = [
    "ATTENTION_KINDS",
    "AttentionTrace",
    "Change",
    "Correction",
    "Corrector",
    "ModelFolderError",
    "SentenceCorrection",
]
