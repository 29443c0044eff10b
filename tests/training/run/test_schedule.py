import pytest

from training.run.settings import Schedule

PAPER = Schedule("paper", peak=1.0, warmup=4000, steps=100_000, decay=0.25, d_model=512)
TRAPEZOID = Schedule("trapezoid", peak=1e-3, warmup=10, steps=100, decay=0.25, d_model=512)


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (1, 1.746928e-7),  # 512^-0.5 * 4000^-1.5
        (2000, 3.493856e-4),  # half way up
        (4000, 6.987712e-4),  # the peak: 512^-0.5 * 4000^-0.5
        (16_000, 3.493856e-4),  # four times the steps, half the rate
    ],
)
def test_the_schedule_of_the_paper(step, rate):
    assert PAPER(step) == pytest.approx(rate, rel=1e-5)


def test_peak_is_a_factor_of_the_papers_schedule():
    double = Schedule("paper", 2.0, 4000, 100_000, 0.25, 512)
    assert double(123) == pytest.approx(2 * PAPER(123))


@pytest.mark.parametrize(
    ("step", "rate"),
    [(1, 1e-4), (5, 5e-4), (10, 1e-3), (11, 1e-3), (76, 1e-3), (77, 0.96e-3), (100, 0.04e-3), (101, 0)],
)
def test_the_corners_of_the_trapezoid(step, rate):
    assert TRAPEZOID(step) == pytest.approx(rate)


def test_a_longer_run_has_the_same_beginning():
    longer = Schedule("trapezoid", 1e-3, 10, 200, 0.25, 512)
    assert [longer(step) for step in range(1, 77)] == [TRAPEZOID(step) for step in range(1, 77)]


@pytest.mark.parametrize("schedule", [PAPER, TRAPEZOID])
def test_a_rate_depends_on_the_step_alone(schedule):
    forward = [schedule(step) for step in range(1, 101)]
    assert [schedule(step) for step in range(100, 0, -1)] == forward[::-1]


def test_without_decay_the_plateau_lasts_to_the_end():
    assert Schedule("trapezoid", 1e-3, 10, 100, 0.0, 512)(100) == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [(("cosine", 1, 1, 1, 0, 8), "'cosine'"), (("paper", 1, 0, 1, 0, 8), "warmup=0")]
    + [(("paper", 1, 1, 0, 0, 8), "steps=0"), (("paper", 1, 1, 1, 1.5, 8), "decay=1.5")],
)
def test_impossible_schedules_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Schedule(*settings)
