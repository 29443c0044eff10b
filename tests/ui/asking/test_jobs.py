"""``Jobs``: background jobs over uploaded files, and those that stay in memory."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

import pytest

from ui.asking.files import Job, Jobs

NETWORK = SimpleNamespace(fingerprint="0")
SECONDS = 30


class Waiting(Job):
    """Is over when it may be."""

    def __init__(self):
        self.may_end = Event()
        super().__init__(NETWORK)

    @property
    def is_over(self):
        return self.may_end.is_set()

    def work(self):
        self.may_end.wait(SECONDS)


@pytest.fixture
def jobs():
    found = Jobs(lambda content, name, network, column: Waiting(), kept=2)
    yield found
    for each in found._jobs.values():
        each.result().may_end.set()


def dropped(jobs: Jobs, number: int) -> Waiting:
    return jobs.job(b"%d" % number, "a.txt", NETWORK)


def test_a_file_under_way_stays_however_many_come(jobs):
    begun = [dropped(jobs, number) for number in range(5)]
    assert [dropped(jobs, number) for number in range(5)] == begun


def test_of_those_that_are_over_the_last_ones_stay(jobs):
    first, *others = [dropped(jobs, number) for number in range(4)]
    for each in others:
        each.may_end.set()
    assert dropped(jobs, 1) is others[0]  # requested again, so number 2 is the oldest now
    dropped(jobs, 4)
    assert [dropped(jobs, number) for number in (0, 1, 3)] == [first, others[0], others[2]]
    assert dropped(jobs, 2) is not others[1]


def test_nobody_waits_while_another_file_is_read():
    may_read, reads = Event(), Event()

    def begin(content, name, network, column):
        if content == b"large":
            reads.set()
            assert may_read.wait(SECONDS)
        return Waiting()

    jobs = Jobs(begin)
    with ThreadPoolExecutor(3) as pool:
        large = pool.submit(jobs.job, b"large", "a.txt", NETWORK)
        assert reads.wait(SECONDS)
        again = pool.submit(jobs.job, b"large", "a.txt", NETWORK)
        small = pool.submit(jobs.job, b"small", "a.txt", NETWORK)
        try:
            small.result(SECONDS).may_end.set()
            assert not large.done()
        finally:
            may_read.set()
        assert large.result(SECONDS) is again.result(SECONDS)  # read once
        large.result().may_end.set()


def test_a_file_that_cannot_be_read_is_forgotten():
    jobs = Jobs(lambda content, name, network, column: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            dropped(jobs, 0)
    assert not jobs._jobs
