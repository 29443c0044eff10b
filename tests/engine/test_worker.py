"""The queue of questions and the model cache of a worker, without any network."""

import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from weakref import ref

import pytest

from engine import questions, worker
from engine.question import QUESTIONS
from engine.records import EngineBusyError, EngineError, ModelChangedError, ModelKey, Progress
from engine.worker import THREADS, ModelCache, QuestionQueue
from model import ModelFolderError
from model.correction.correction import Correction
from model.stored.config import ABILITIES, TracedConfig
from tests.waiting import wait_until


class SlowCorrector:
    """Answers when it may, and keeps its texts."""

    config = TracedConfig(frozenset(ABILITIES))

    def __init__(self):
        self.may_answer, self.has_begun, self.asked = Event(), Event(), []

    def correct(self, text):
        self.asked.append(text)
        if len(self.asked) >= THREADS:
            self.has_begun.set()
        assert self.may_answer.wait(30)
        if text == "bad":
            raise ValueError("bad")
        return Correction(text, ())


@pytest.fixture
def corrector():
    return SlowCorrector()


@pytest.fixture
def desk(corrector):
    desk = QuestionQueue(corrector, limit=40)
    yield desk
    corrector.may_answer.set()
    desk.close()


def occupy(desk, pool, corrector):
    """Occupy all threads; later questions wait."""
    busy = [pool.submit(desk.ask, "correct", (f"first {i}",)) for i in range(THREADS)]
    assert corrector.has_begun.wait(30)
    return busy


def waiting(desk, count):
    """Return once so many questions wait."""
    with desk._changed:
        assert desk._changed.wait_for(lambda: sum(desk._waiting.values()) == count, 30)


def test_everybody_gets_his_own_answer_or_error_in_order(desk, corrector):
    texts = ["a", "bad", *"cdefg"]
    with ThreadPoolExecutor(40) as pool:
        occupy(desk, pool, corrector)
        asked = {}
        for number, text in enumerate(texts, 1):
            asked[text] = pool.submit(desk.ask, "correct", (text,))
            waiting(desk, number)
        corrector.may_answer.set()
        assert str(asked.pop("bad").exception(30)) == "bad"
        assert all(answer.result(30).source == text for text, answer in asked.items())
    answered = corrector.asked[THREADS:]
    assert sorted(answered) == sorted(texts)
    assert all(abs(answered.index(text) - place) < THREADS for place, text in enumerate(texts))


def test_whoever_comes_when_too_many_wait_is_told_at_once(desk, corrector):
    with ThreadPoolExecutor(60) as pool:
        occupy(desk, pool, corrector)
        asked = [pool.submit(desk.ask, "correct", (f"text {i}",)) for i in range(40)]
        waiting(desk, 40)
        with pytest.raises(EngineBusyError, match="40 questions are waiting"):
            desk.ask("correct", ("one more",))
        corrector.may_answer.set()
        assert all(each.result(30) for each in asked)


def test_closing_answers_what_waits(corrector):
    desk = QuestionQueue(corrector, limit=40)
    with ThreadPoolExecutor(10) as pool:
        asked = occupy(desk, pool, corrector)
        asked += [pool.submit(desk.ask, "correct", ("last",))]
        waiting(desk, 1)
        desk.close()
        corrector.may_answer.set()
        assert all(each.result(30) for each in asked)


def test_corrections_do_not_wait_for_the_laboratory(desk, corrector, monkeypatch):
    may_end = Event()
    waits = replace(questions.head_effects, answer=lambda corrector, number: may_end.wait(30))
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
        asked = [pool.submit(desk.ask, "correct", (str(i),)) for i in range(THREADS)]
        assert corrector.has_begun.wait(30)
        idle = pool.submit(desk.wait_until_idle, 0.0)
        assert not idle.done()
        corrector.may_answer.set()
        assert idle.result(30)
        assert (sum(desk._waiting.values()), desk._under_way) == (0, 0)
        assert all(each.result(30) for each in asked)
        never = pool.submit(desk.wait_until_idle, 3600.0)
        desk.close()
        assert not never.result(30)


KEY = ModelKey("somewhere", None, "0")


class Quick(SlowCorrector):
    """A model that is ready at once."""

    class config:
        architecture = "recurrent"

    def warm_up(self):
        pass

    warm_up_doubts = warm_up


@pytest.fixture
def tries(monkeypatch):
    """Outcomes of the tries to load the model: an error to raise, or None for success."""
    outcomes = []

    def load(key, reached):
        if (error := outcomes.pop(0)) is not None:
            raise error
        return Quick()

    monkeypatch.setattr(worker, "_open", load)
    return outcomes


def test_a_load_that_failed_for_want_of_memory_is_tried_again(tries, monkeypatch):
    tries += [MemoryError("full"), None]
    models = ModelCache(room=1, questions=8)
    for _ in range(2):  # not at once: each try costs memory and a core
        with pytest.raises(MemoryError):
            models.queue(KEY)
    told = models.begin(KEY)
    assert (type(told.problem), told.may_be_tried_again) == (EngineError, True)
    monkeypatch.setattr(worker, "AGAIN", 0.0)
    assert models.begin(KEY).problem is None
    models.queue(KEY).close()
    assert tries == []


@pytest.mark.parametrize("error", [ModelFolderError, ModelChangedError])
def test_a_damaged_or_changed_folder_is_not_tried_again_by_itself(tries, error):
    tries += [error("damaged")]
    models = ModelCache(room=1, questions=8)
    with pytest.raises(error):
        models.queue(KEY)
    told = models.begin(KEY)
    assert isinstance(told.problem, error)
    assert not told.may_be_tried_again
    assert not Progress().may_be_tried_again


@pytest.mark.parametrize("seconds", [0.0, 3600.0])
def test_the_analyser_is_loaded_once_nobody_asks(tries, monkeypatch, seconds):
    begun = Event()
    monkeypatch.setattr(worker, "IDLE", seconds)
    monkeypatch.setattr(Quick, "warm_up_doubts", lambda self: begun.set())
    tries.append(None)
    desk = ModelCache(room=1, questions=8).queue(KEY)
    assert begun.wait(30 if not seconds else 0.1) == (not seconds)
    desk.close()


def test_a_model_that_leaves_the_memory_is_gone_at_once(monkeypatch):
    """Networks hold circles of references, which wait for Python's collector."""

    class Network:
        def __init__(self):
            self.itself = self

        def warm_up(self):
            pass

        warm_up_doubts = warm_up

    monkeypatch.setattr(worker, "_open", lambda key, reached: Network())
    monkeypatch.setattr(worker, "IDLE", 0.0)
    models = ModelCache(room=1, questions=8)
    first = ref(models.queue(KEY).corrector)
    gc.disable()
    try:
        models.queue(KEY._replace(fingerprint="another"))
        wait_until(lambda: first() is None)
    finally:
        gc.enable()
