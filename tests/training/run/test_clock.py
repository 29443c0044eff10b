from training.run.run import Clock


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_a_limit_the_schedule_follows_the_steps():
    time = Time()
    clock = Clock(None, 0, 1000, time)
    time.now = 1e9
    assert not clock.is_over()
    assert clock.step_of_schedule(7) == 7


def test_with_a_limit_it_follows_what_is_further_along():
    time = Time()
    clock = Clock(60, 400, 1000, time)  # resumed after 400 steps
    assert clock.step_of_schedule(401) == 401
    time.now += 30
    assert clock.step_of_schedule(500) == 700
    assert clock.step_of_schedule(900) == 900
    assert not clock.is_over()
    time.now += 31
    assert clock.step_of_schedule(500) == 1000
    assert clock.is_over()


def test_no_time_left_is_over_at_once():
    clock = Clock(-5, 0, 10)
    assert clock.is_over()
    assert clock.step_of_schedule(1) == 10
