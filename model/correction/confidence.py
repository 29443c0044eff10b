"""Chooses among the candidates for a stretch of text, and says how sure the choice is.

The network reads characters and has no list of words, so it can be as sure of a non-word as of a word. Small decision trees
therefore combine its probabilities with counts from the training sentences (``features.py``). If these trees are in doubt, second trees
are asked, which also know morphemes and the norm, and take longer. The likeliest candidate is proposed. In about one sentence of 25 that
is not what the network wrote (``Change.instead_of``). Then one more pass gives its probabilities and its trace, so that every picture
shows a pass over the text on the screen.

The trees are fitted on development pairs by ``python -m training confidence``. They are data: ``confidence.json`` holds the trees,
``words.txt.gz`` and ``ngrams.npz`` the counts. Without these files the network's own answer and confidence are used.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.correction.candidates import Stretch
from model.correction.features import (
    FIRST,
    SECOND,
    Features,
    Rated,
    SecondFeatures,
    features,
    second_features,
)
from model.correction.morphemes import load_kiwi
from model.correction.ngrams import NGrams
from model.correction.trees import Trees
from model.correction.words import Words
from model.norm import article_of
from model.stored.folder import CONFIDENCE_FILE, NGRAMS_FILE, WORDS_FILE

DOUBT = math.log(0.98 / 0.02)  # log odds up to which, either way, the second trees are asked
# ``is_another_word`` lets a candidate pass if the network's probability reaches the first, or if its morphemes are so much more usual
# (the second, a natural logarithm).
PROBABILITY_OF_ANOTHER_WORD, A_MILLION = 0.75, math.log(1e6)


class Chosen(NamedTuple):
    """What is proposed for a stretch, and how sure that is."""

    stretch: Stretch
    text: str
    confidence: float


@dataclass(frozen=True)
class Confidence:
    """``trees`` rate every candidate by its ``Features``. Where they are in doubt, ``second`` rate again, with ``SecondFeatures``, too.

    They are asked only then, because they take more time than all the rest. None if a folder has no second trees.
    """

    words: Words
    ngrams: NGrams
    trees: Trees
    second: Trees | None = None

    @classmethod
    def read(cls, folder: Path) -> "Confidence | None":
        """What a model folder holds; None where it has none. Raises OSError or ValueError where a file is damaged."""
        if not (folder / CONFIDENCE_FILE).is_file():
            return None
        values = json.loads((folder / CONFIDENCE_FILE).read_text("utf-8"))
        trees = Trees.parse(FIRST, values)
        second = Trees.parse(SECOND, values["second"]) if "second" in values else None
        return cls(Words.read(folder / WORDS_FILE), NGrams.read(folder / NGRAMS_FILE), trees, second)

    def to_json(self) -> str:
        """All trees as ``read`` takes them."""
        second = "" if self.second is None else f',\n"second": {self.second.to_json()}'
        return f"{self.trees.to_json()[:-1]}{second}}}\n"

    def warm_up(self) -> None:
        """Load Kiwi and the norm, which the second trees ask, so that the first question does not wait for them."""
        if self.second is not None:
            load_kiwi()
            article_of("몇일", "며칠", "", "")

    def choose(self, source: str, stretches: Sequence[Stretch]) -> list[Chosen]:
        """The likeliest candidate for each stretch. Where the network changed nothing, a candidate is chosen only if it is likelier right
        than wrong.
        """
        rated = features(source, stretches, self.words, self.ngrams)
        best: dict[int, tuple[float, str]] = {}
        for log_odds, each in zip(self._log_odds(source, stretches, rated), rated, strict=True):
            if each.stretch not in best or log_odds > best[each.stretch][0]:
                best[each.stretch] = float(log_odds), each.text
        return [
            Chosen(stretches[number], text, 1 / (1 + math.exp(-min(max(log_odds, -50.0), 50.0))))
            for number, (log_odds, text) in best.items()
            if log_odds > 0 or stretches[number].is_changed
        ]

    def _log_odds(self, source: str, stretches: Sequence[Stretch], rated: Sequence[Rated]) -> np.ndarray:
        log_odds = self.trees.log_odds([each.features for each in rated])
        doubtful = np.flatnonzero(np.abs(log_odds) < DOUBT)
        if self.second is not None and len(doubtful):
            asked = [rated[i] for i in doubtful.tolist()]
            more = second_features(source, stretches, asked)
            log_odds[doubtful] = self.second.log_odds(
                [(*a.features, *m) for a, m in zip(asked, more, strict=True)]
            )
            replaced = [is_another_word(a.features, m) for a, m in zip(asked, more, strict=True)]
            log_odds[doubtful] = np.where(replaced, np.minimum(log_odds[doubtful], 0.0), log_odds[doubtful])
        return log_odds


def is_another_word(first: Features, second: SecondFeatures) -> bool:
    """Whether a candidate replaces words of the lexicon by other letters, in a sentence without another mistake, with nothing to
    support it: no article of the norm, no better shape of a particle, no far more usual morphemes, and no sure network.

    The trees are too sure of such candidates. They learned from sentences with several mistakes, where a rare word mostly is one more
    mistake. Such a candidate may be offered, but its confidence is at most one half.
    """
    return (
        first.changes <= 1
        and first.spaces == 0
        and first.fix < math.log(PROBABILITY_OF_ANOTHER_WORD)
        and second.unknown_kept == 0
        and second.morphemes_kept < A_MILLION
        and second.norm <= 0
        and second.misshapen >= 0
    )
