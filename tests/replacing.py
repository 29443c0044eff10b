"""``Replacer``: stub of a corrector that makes given replacements."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from model.correction.correction import Correction, SentenceCorrection
from model.text.changes import find_changes


def corrected(source: str, target: str, confidence: float = 0.8, minimum: float = 0.5) -> Correction:
    """A correction of one sentence. All its changes have the same confidence."""
    changes = tuple(replace(each, known_confidence=confidence) for each in find_changes(source, target))
    return Correction(source, (SentenceCorrection(0, source, changes, minimum, False, lambda *_: None),))


def without_three_mistakes(text: str) -> str:
    return text.replace("안되요", "안 돼요").replace("날싸", "날씨").replace("할수", "할 수")


class Replacer:
    """In place of a Corrector. ``becomes``: the texts that change, or the result of any text."""

    name, fingerprint, confidence = "fake", "0f0f", None

    def __init__(
        self,
        becomes: Mapping[str, str] | Callable[[str], str] = without_three_mistakes,
        sure: float = 0.8,
        minimum_confidence: float = 0.5,
    ):
        self.becomes = becomes if callable(becomes) else lambda text: becomes.get(text, text)
        self.sure, self.minimum_confidence = sure, minimum_confidence
        self.asked: list[str] = []

    def correct_batch(self, texts: list[str]) -> list[Correction]:
        self.asked += texts
        return [corrected(text, self.becomes(text), self.sure, self.minimum_confidence) for text in texts]
