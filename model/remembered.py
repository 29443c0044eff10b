"""One answer of a model, kept beside its weights, so that it can be shown before the network is loaded."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NoReturn

import numpy as np

from model.changes import Change
from model.config import NetworkConfig
from model.corrector import Correction, Corrector, SentenceCorrection
from model.folder import ModelFolderError, fingerprint, model_name, read_config, write_atomically
from model.tokenizer import normalise
from model.trace import AttentionTrace

FILE = "remembered.npz"  # in the model's folder: the arrays of the trace, and one of text
_WORDS = "words"  # JSON: whose answer it is, the sentence, and what the trace has besides arrays
_OF_SENTENCE = ("start", "source", "proposed", "minimum_confidence", "too_long")


class NotRememberedError(LookupError):
    """Only the network itself can answer this."""


class NotOneSentenceError(ValueError):
    """What should be remembered is not one sentence which the network can read."""


@dataclass(frozen=True)
class Remembered:
    """Stands in for a Corrector where it is asked about one text alone, and needs no TensorFlow.

    Asked for anything else, it raises NotRememberedError.
    """

    name: str
    fingerprint: str
    config: NetworkConfig
    correction: Correction  # of one sentence
    trace: Callable[[str, str], AttentionTrace]  # as Corrector.trace

    @property
    def minimum_confidence(self) -> float:
        return self.config.minimum_confidence

    def knows(self, text: str) -> bool:
        """Whether ``correct`` can answer this text."""
        return normalise(text) == self.correction.source

    def correct(self, text: str) -> Correction:
        if not self.knows(text):
            raise NotRememberedError(f"{self.correction.source!r} is remembered, received {text!r}")
        return self.correction

    def ask(self, kind: str, *arguments) -> NoReturn:
        """As ``engine.EngineCorrector.ask``."""
        raise NotRememberedError(f"only the network itself can answer {kind!r}")


def remember(corrector: Corrector, text: str, folder: Path) -> None:
    """Keep the answer to ``text`` in the folder of the ``corrector``, instead of an earlier one.

    Raises NotOneSentenceError for any other text than one sentence that the network can read.
    """
    correction = corrector.correct(text)
    if len(correction.sentences) != 1 or correction.sentences[0].too_long:
        limit = corrector.config.max_length
        raise NotOneSentenceError(f"should be one sentence of at most {limit} characters, received {text!r}")
    sentence = correction.sentences[0]
    seen = {field.name: getattr(sentence.trace, field.name) for field in fields(AttentionTrace)}
    arrays = {name: value for name, value in seen.items() if isinstance(value, np.ndarray)}
    words = {
        "fingerprint": corrector.fingerprint,
        "typed": correction.source,
        "sentence": {name: getattr(sentence, name) for name in _OF_SENTENCE}
        | {"proposed": [asdict(change) for change in sentence.proposed]},
        "tokens": {name: value for name, value in seen.items() if isinstance(value, tuple)},
    }
    arrays[_WORDS] = np.array(json.dumps(words, ensure_ascii=False))
    write_atomically(folder / FILE, lambda file: np.savez_compressed(file, **arrays))


def recall(folder: Path) -> Remembered | None:
    """What ``remember`` left in a model folder; None where that is nothing, or the answer of other weights
    than those that lie there now. Raises ModelFolderError where a file is damaged."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        words = json.loads(arrays.pop(_WORDS).item())
        return _build(folder, words, arrays) if words["fingerprint"] == fingerprint(folder) else None
    except Exception as error:  # a dozen kinds, depending on which byte is wrong
        raise ModelFolderError(f"{path} is damaged or holds something else: {error}") from error


def _build(folder: Path, words: dict, arrays: dict[str, np.ndarray]) -> Remembered:
    tokens = words["tokens"]
    tokens["alternatives"] = map(tuple, tokens["alternatives"])
    attention = AttentionTrace(**arrays, **{name: tuple(value) for name, value in tokens.items()})

    def look(source: str, target: str) -> AttentionTrace:
        if (source, target) != (sentence.source, sentence.text):
            known, asked = (sentence.source, sentence.text), (source, target)
            raise NotRememberedError(f"the attention of {known} is remembered, asked for that of {asked}")
        return attention

    kept = words["sentence"]
    kept["proposed"] = tuple(Change(**change) for change in kept["proposed"])
    sentence = SentenceCorrection(**kept, _look=look)
    correction = Correction(words["typed"], (sentence,))
    return Remembered(model_name(folder), words["fingerprint"], read_config(folder), correction, look)
