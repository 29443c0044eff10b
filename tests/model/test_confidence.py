import numpy as np
import pytest

from model import Corrector
from model.changes import find_changes
from model.corrector import confidence, keep_confident


def logs(*probabilities):
    return np.log(np.array(probabilities, np.float32))


@pytest.mark.parametrize(
    ("source", "target", "probabilities", "expected"),
    [
        ("감배", "담배", (0.8, 0.9, 1.0), 0.8),  # of the one token that was replaced
        ("손니미", "손님이", (1.0, 0.5, 0.4, 1.0), 0.2),  # of both
        ("할수", "할 수", (1.0, 0.7, 0.9, 1.0), 0.7),  # of what was inserted
        ("가 는", "가는", (1.0, 0.6, 1.0), 0.6),  # nothing was written: of what came instead
        ("가.", "가", (1.0, 0.3), 0.3),  # the end mark came instead
    ],
)
def test_the_confidence_of_a_change(source, target, probabilities, expected):
    (change,) = find_changes(source, target)
    assert confidence(change, logs(*probabilities)) == pytest.approx(expected)


def test_only_changes_below_the_minimum_are_left_undone():
    source, target, written = "감배 할수", "담배 할 수", logs(0.8, 1, 1, 1, 0.6, 1, 1)
    assert keep_confident(source, target, written, 0.0) == target
    assert keep_confident(source, target, written, 0.7) == "담배 할수"
    assert keep_confident(source, target, written, 0.9) == source


def test_a_corrector_that_must_be_certain_changes_nothing(tiny_folder, tiny_corrector):
    texts = ["전 오래 씂 수 깄는 겍 필요해요.", "손니미 왔는데 방이 없으면"]
    certain = Corrector.load(tiny_folder, minimum_confidence=1.0)
    assert any(correction.changes for correction in tiny_corrector.correct_batch(texts))
    assert [correction.text for correction in certain.correct_batch(texts)] == texts
    assert tiny_corrector.minimum_confidence == tiny_corrector.config.minimum_confidence == 0.0


def test_a_confidence_is_a_probability(tiny_folder):
    with pytest.raises(ValueError, match="received 1.5"):
        Corrector.load(tiny_folder, minimum_confidence=1.5)
