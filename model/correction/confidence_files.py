"""Reads and writes the files in a model's folder that ``confidence`` judges changes with."""

from pathlib import Path

from model.correction.confidence import Confidence
from model.stored.folder import (
    CONFIDENCE_FILE,
    CONFIDENCE_FILES,
    NGRAMS_FILE,
    WORDS_FILE,
    ModelFolderError,
    write_atomically,
)


def load_confidence(folder: Path) -> Confidence | None:
    """What judges the changes of a folder's network; None where the network judges them itself.

    Raises ModelFolderError where a file of it is missing or damaged.
    """
    try:
        return Confidence.read(folder)
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{folder}: {' and '.join(CONFIDENCE_FILES)} are damaged: {error}") from error


def save_confidence(folder: Path, confidence: Confidence) -> None:
    """Write the files that ``load_confidence`` reads."""
    write_atomically(folder / NGRAMS_FILE, confidence.ngrams.write)
    write_atomically(folder / WORDS_FILE, lambda file: file.write(confidence.words.to_bytes()))
    write_atomically(folder / CONFIDENCE_FILE, lambda file: file.write(confidence.to_json().encode()))
