import random

import pytest

from training.corpus.corpus import Sentence
from training.corpus.selection import copies, read_weights, weight_of

WEIGHTS = {"law": 0.25, "mt": 0.5, "news": 2.0}


def test_weights_are_read_from_names_and_numbers():
    assert read_weights(("law=0.25", "a=b=2")) == {"law": 0.25, "a=b": 2.0}
    assert read_weights(()) == {}


@pytest.mark.parametrize("text", ["law", "=1", "law=-1", "law=nan", "law=many"])
def test_what_is_no_weight_is_refused(text):
    with pytest.raises(ValueError):
        read_weights((text,))


def test_the_weights_that_name_a_sentence_are_multiplied():
    assert weight_of(Sentence("가", "someone/law-kr"), WEIGHTS) == 0.25
    assert weight_of(Sentence("가", "someone/law-kr", True), WEIGHTS) == 0.125
    assert weight_of(Sentence("가", "mt-news"), WEIGHTS) == 2.0  # mt is no part of a name
    assert weight_of(Sentence("가", "other"), WEIGHTS) == 1.0


def test_sentences_come_as_often_as_their_weight_says():
    rng = random.Random(0)

    def mean(source, **weights):
        return sum(copies(Sentence("가", source), weights, rng) for _ in range(2000)) / 2000

    assert mean("law", law=0.25) == pytest.approx(0.25, abs=0.04)
    assert mean("news", news=2.0) == 2
    assert mean("news", news=1.5) == pytest.approx(1.5, abs=0.04)
    assert mean("law", law=0.0) == 0
