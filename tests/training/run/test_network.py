"""Training loss and learning-rate schedules, with values worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from training.run.network import MaskedCrossEntropy
from training.run.settings import Schedule

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


def test_padding_alone_is_0_and_not_nan():
    assert loss(np.zeros((1, 3), np.int32), LOGITS) == 0


PAPER = Schedule("paper", peak=1.0, warmup=4000, steps=100_000, decay=0.25, d_model=512)
TRAPEZOID = Schedule("trapezoid", peak=1e-3, warmup=10, steps=100, decay=0.25, d_model=512)


CORNERS = [(1, 1e-4), (10, 1e-3), (76, 1e-3), (77, 0.96e-3), (101, 0)]


@pytest.mark.parametrize(
    ("schedule", "step", "rate"),
    [
        (PAPER, 1, 1.746928e-7),  # 512^-0.5 * 4000^-1.5
        (PAPER, 4000, 6.987712e-4),  # the peak: 512^-0.5 * 4000^-0.5
        (replace(PAPER, peak=2.0), 4000, 2 * 6.987712e-4),
        (PAPER, 16_000, 3.493856e-4),  # four times the steps, half the rate
        *((TRAPEZOID, *corner) for corner in CORNERS),
        (replace(TRAPEZOID, decay=0.0), 100, 1e-3),  # the plateau lasts to the end
    ],
)
def test_a_schedule_has_the_rates_worked_out_by_hand(schedule, step, rate):
    assert schedule(step) == pytest.approx(rate, rel=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [(("cosine", 1, 1, 1, 0, 8), "'cosine'"), (("paper", 1, 0, 1, 0, 8), "warmup=0")]
    + [(("paper", 1, 1, 0, 0, 8), "steps=0"), (("paper", 1, 1, 1, 1.5, 8), "decay=1.5")],
)
def test_impossible_schedules_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Schedule(*settings)
