"""``Confidence`` that knows three words, and a sentence with two stretches, for tests."""

import math

from model.correction.candidates import Stretch
from model.correction.confidence import Confidence, Trees
from model.correction.counts import NGrams, Words
from model.correction.features import (
    FIRST,
    Features,
)

WORDS = Words({"학교에": 30, "집에": 20, "갔다": 8})
NGRAMS = NGrams.count(["학교에 갔다", "집에 갔다"])
KNOWN, NETWORK = (Features._fields.index(name) for name in ("right_count", "network"))
TREES = ((KNOWN, 1.0, -2.0, 1.0), (NETWORK, 0.5, -1.0, (KNOWN, 3.0, 0.0, 0.5)))
CONFIDENCE = Confidence(WORDS, NGRAMS, Trees(FIRST, 0.25, TREES))


def stretch(source, kept, **probabilities):
    """The span of ``kept`` in ``source``, and the network's probability of each text, its output first."""
    start = source.index(kept)
    logs = {text: math.log(probability) for text, probability in probabilities.items()}
    return Stretch(start, start + len(kept), kept, logs)


def probability(odds):
    return 1 / (1 + math.exp(-odds))


SOURCE = "하꾜에 갓다"
FIRST_STRETCH = stretch(SOURCE, "하꾜", 학교=0.7, 하꾜=0.1, 학꾜=0.05)
SECOND_STRETCH = stretch(SOURCE, "갓", 갔=0.9, 갓=0.05)
