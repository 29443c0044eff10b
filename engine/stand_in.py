"""``StandIn``: corrects with the NumPy network while TensorFlow is still being imported."""

from pathlib import Path
from typing import NoReturn

from model.correction.confidence_files import load_confidence
from model.correction.corrector import Corrector
from model.plain.transformer import NotLoadedError, load_plain
from model.stored.config import TransformerConfig
from model.stored.folder import model_name, read_config

LONGEST = 200  # characters of a text: more would hold up the other pages of this process


class StandIn(Corrector):
    """The same answers as the folder's Corrector to texts of up to LONGEST characters, and nothing else.

    ``correct`` raises NotLoadedError for the few that need step-by-step decoding.
    """

    def answers(self, text: str) -> bool:
        """Whether ``correct`` may be asked about this text."""
        return len(text) <= LONGEST

    def ask(self, kind: str, *arguments) -> NoReturn:
        """As ``engine.EngineCorrector.ask``; raises NotLoadedError."""
        raise NotLoadedError(f"only the loaded network can answer {kind!r}")

    def known(self, kind: str, *arguments) -> None:
        """As ``engine.EngineCorrector.known``: nothing was asked before."""


def open_stand_in(folder: Path) -> StandIn | None:
    """What stands in for the network of this folder; None where that is no Transformer.

    Raises ModelFolderError where the folder is damaged.
    """
    if not isinstance(read_config(folder), TransformerConfig):
        return None
    network, tokenizer, fingerprint = load_plain(folder)
    confidence = load_confidence(folder)
    return StandIn(model_name(folder), network, tokenizer, fingerprint, confidence=confidence, folder=folder)
