from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, Thread

import pytest

from engine import EngineBusyError, EngineError
from engine.desk import FEW, HANDS, TOGETHER, Desk, DeskClosedError
from engine.questions import QUESTIONS
from engine.traced import TracedConfig
from model.correction.correction import Correction
from model.stored.config import ABILITIES


class SlowCorrector:
    """Answers when it may, and remembers what it was asked together."""

    config = TracedConfig(frozenset(ABILITIES))

    def __init__(self):
        self.may_answer, self.has_begun, self.asked = Event(), Event(), []

    def correct_batch(self, texts):
        self.asked.append(list(texts))
        if len(self.asked) >= HANDS:
            self.has_begun.set()
        assert self.may_answer.wait(30)
        if "bad" in texts:
            raise ValueError("bad")
        return [Correction(text, ()) for text in texts]


@pytest.fixture
def corrector():
    return SlowCorrector()


@pytest.fixture
def desk(corrector):
    desk = Desk(corrector, limit=40)
    yield desk
    corrector.may_answer.set()
    desk.close()
    desk.join()


def occupy(desk, pool, corrector):
    """Give every hand something to do; what is asked from now on waits."""
    busy = [pool.submit(desk.ask, "correct", (f"first {i}",)) for i in range(HANDS)]
    assert corrector.has_begun.wait(30)
    return busy


def waiting(desk, count):
    """Return once so many questions wait."""
    with desk._changed:
        assert desk._changed.wait_for(lambda: len(desk._waiting) == count, 30)


@pytest.mark.parametrize("texts", [[f"text {i}" for i in range(20)], ["a", "bad", *"cdefg"]])
def test_what_waits_is_answered_together_and_everybody_gets_his_own(desk, corrector, texts):
    with ThreadPoolExecutor(40) as pool:
        occupy(desk, pool, corrector)
        asked = {text: pool.submit(desk.ask, "correct", (text,)) for text in texts}
        waiting(desk, len(texts))
        corrector.may_answer.set()
        for text, answer in asked.items():
            if text == "bad":
                assert str(answer.exception(30)) == "bad"
            else:
                assert answer.result(30).source == text
    together = max(map(len, corrector.asked))
    assert FEW < together <= TOGETHER


def test_long_texts_are_not_answered_together(desk, corrector):
    with ThreadPoolExecutor(40) as pool:
        occupy(desk, pool, corrector)
        asked = [pool.submit(desk.ask, "correct", (f"{i}" * 900,)) for i in range(9)]
        waiting(desk, 9)
        corrector.may_answer.set()
        assert {len(each.result(30).source) for each in asked} == {900}
    assert max(map(len, corrector.asked)) == 2


def test_whoever_comes_when_too_many_wait_is_told_at_once(desk, corrector):
    with ThreadPoolExecutor(60) as pool:
        occupy(desk, pool, corrector)
        asked = [pool.submit(desk.ask, "correct", (f"text {i}",)) for i in range(40)]
        waiting(desk, 40)
        with pytest.raises(EngineBusyError, match="40 questions are waiting"):
            desk.ask("correct", ("one more",))
        corrector.may_answer.set()
        assert all(each.result(30) for each in asked)


def test_an_unknown_question_and_a_closed_desk(desk, corrector):
    with pytest.raises(EngineError, match="'oracle'"):
        desk.ask("oracle", ())
    desk.close()
    with pytest.raises(DeskClosedError):
        desk.ask("correct", ("가",))


@pytest.mark.parametrize("arguments", [(), (3,), ("가", "나"), (("가",),)])
def test_a_correction_of_anything_but_one_text_is_refused(desk, corrector, arguments):
    corrector.may_answer.set()
    with pytest.raises(EngineError, match="one str"):
        desk.ask("correct", arguments)
    assert corrector.asked == []


def test_closing_answers_what_waits(corrector):
    desk = Desk(corrector, limit=40)
    with ThreadPoolExecutor(10) as pool:
        asked = occupy(desk, pool, corrector)
        asked += [pool.submit(desk.ask, "correct", ("last",))]
        waiting(desk, 1)
        desk.close()
        corrector.may_answer.set()
        assert all(each.result(30) for each in asked)
    end = Thread(target=desk.join)
    end.start()
    end.join(30)
    assert not end.is_alive()


def test_corrections_do_not_wait_for_the_laboratory(desk, corrector, monkeypatch):
    may_end = Event()
    waits = replace(QUESTIONS["head_effects"], answer=lambda corrector, number: may_end.wait(30))
    monkeypatch.setitem(QUESTIONS, "head_effects", waits)
    corrector.may_answer.set()
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(desk.ask, "head_effects", (number,)) for number in range(5)]
        waiting(desk, 4)
        assert desk.ask("correct", ("가",)).source == "가"
        may_end.set()
        assert all(each.result(30) for each in asked)


def test_idle_is_when_nobody_has_asked_for_a_while(desk, corrector):
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(desk.ask, "correct", (str(i),)) for i in range(HANDS)]
        assert corrector.has_begun.wait(30)
        idle = pool.submit(desk.wait_until_idle, 0.0)
        assert not idle.done()
        corrector.may_answer.set()
        assert idle.result(30)
        assert (desk._waiting, desk._under_way) == ([], 0)
        assert all(each.result(30) for each in asked)
        never = pool.submit(desk.wait_until_idle, 3600.0)
        desk.close()
        assert not never.result(30)
