"""Reads ``agreement.json``: how well each attribution method agrees with really leaving characters out, over many edits.

``python -m training agreement`` writes the file into a model's folder. It holds numbers and no text.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from model.stored.folder import ModelFolderError, write_atomically

AGREEMENT_FILE = "agreement.json"


class Agreed(NamedTuple):
    """How well one method agrees with leaving out: means, each with half the width of its 95% interval."""

    first: float  # in 0..1: how often it names the same source character first
    first_margin: float
    correlation: float  # in -1..1: rank correlation over the source characters
    correlation_margin: float


@dataclass(frozen=True)
class CorpusAgreement:
    fingerprint: str  # of the weights that were asked: ``folder.of_weights``
    edits: int
    sentences: int
    methods: dict[str, Agreed]


def write_agreement(folder: Path, found: CorpusAgreement) -> None:
    text = json.dumps(asdict(found), indent=1)
    write_atomically(folder / AGREEMENT_FILE, lambda file: file.write(f"{text}\n".encode()))


def read_agreement(folder: Path) -> CorpusAgreement | None:
    """What lies in a model folder; None where nothing does. Raises ModelFolderError for a damaged file."""
    path = folder / AGREEMENT_FILE
    if not path.is_file():
        return None
    try:
        read = json.loads(path.read_text("utf-8"))
        methods = {name: Agreed(*map(float, each)) for name, each in read["methods"].items()}
        return CorpusAgreement(str(read["fingerprint"]), int(read["edits"]), int(read["sentences"]), methods)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ModelFolderError(f"{path} is no agreement of methods: {error!r}") from error
