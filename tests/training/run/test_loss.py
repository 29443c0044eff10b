import math

import numpy as np
import pytest

from training.run.network import MaskedCrossEntropy

# Each position's logits are logarithms of 0.1, 0.2, 0.3, 0.4, so these are the probabilities.
LOGITS = np.log(np.tile([0.1, 0.2, 0.3, 0.4], (1, 3, 1))).astype(np.float32)
TARGET = np.array([[3, 1, 0]], np.int32)  # the last one is padding


def loss(target, logits, label_smoothing=0.0) -> float:
    return float(MaskedCrossEntropy(label_smoothing)(target, logits))


def test_a_value_worked_out_by_hand():
    assert loss(TARGET, LOGITS) == pytest.approx((-math.log(0.4) - math.log(0.2)) / 2, abs=1e-6)


def test_label_smoothing_mixes_in_the_uniform_distribution():
    uniform = -sum(map(math.log, (0.1, 0.2, 0.3, 0.4))) / 4
    expected = 0.9 * (-math.log(0.4) - math.log(0.2)) / 2 + 0.1 * uniform
    assert loss(TARGET, LOGITS, 0.1) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_padding_counts_for_nothing(label_smoothing):
    longer = np.concatenate([LOGITS, np.full((1, 5, 4), 7, np.float32)], axis=1)
    padded = np.concatenate([TARGET, np.zeros((1, 5), np.int32)], axis=1)
    wild = LOGITS.copy()
    wild[0, 2] = [-30, 30, 2, 1]
    expected = loss(TARGET, LOGITS, label_smoothing)
    assert loss(padded, longer, label_smoothing) == pytest.approx(expected, abs=1e-6)
    assert loss(TARGET, wild, label_smoothing) == pytest.approx(expected, abs=1e-6)


def test_every_real_token_weighs_the_same_whatever_its_sentence():
    target = np.array([[3, 3, 3], [1, 0, 0]], np.int32)
    expected = (-3 * math.log(0.4) - math.log(0.2)) / 4
    assert loss(target, np.repeat(LOGITS, 2, axis=0)) == pytest.approx(expected, abs=1e-6)


def test_padding_alone_is_0_and_not_nan():
    assert loss(np.zeros((1, 3), np.int32), LOGITS) == 0


def test_a_wrong_but_certain_answer_costs_its_logit():
    logits = np.array([[[0, 0, 1000.0, 0]]], np.float32)
    assert loss(np.array([[1]]), logits) == pytest.approx(1000, rel=1e-5)
