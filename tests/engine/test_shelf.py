"""Models that a worker loads, without any network."""

from threading import Event

import pytest

from engine import worker as shelf
from engine.records import EngineError, ModelKey, Progress
from engine.worker import ModelCache
from model import ModelFolderError
from tests.engine.test_desk import SlowCorrector

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
    """What each try to load the model does: raise this, or give it where it is None."""
    outcomes = []

    def load(key, reached):
        if (error := outcomes.pop(0)) is not None:
            raise error
        return Quick()

    monkeypatch.setattr(shelf, "_open", load)
    return outcomes


def test_a_load_that_failed_for_want_of_memory_is_tried_again(tries, monkeypatch):
    tries += [MemoryError("full"), None]
    models = ModelCache(room=1, questions=8)
    for _ in range(2):  # not at once: each try costs memory and a core
        with pytest.raises(MemoryError):
            models.queue(KEY)
    told = models.begin(KEY)
    assert (type(told.problem), told.may_be_tried_again) == (EngineError, True)
    monkeypatch.setattr(shelf, "AGAIN", 0.0)
    assert models.begin(KEY).problem is None
    models.queue(KEY).close()
    assert tries == []


def test_a_damaged_folder_is_not_tried_again_by_itself(tries):
    tries += [ModelFolderError("damaged")]
    models = ModelCache(room=1, questions=8)
    with pytest.raises(ModelFolderError):
        models.queue(KEY)
    told = models.begin(KEY)
    assert isinstance(told.problem, ModelFolderError)
    assert not told.may_be_tried_again
    assert not Progress().may_be_tried_again


@pytest.mark.parametrize("seconds", [0.0, 3600.0])
def test_the_analyser_is_loaded_once_nobody_asks(tries, monkeypatch, seconds):
    begun = Event()
    monkeypatch.setattr(shelf, "IDLE", seconds)
    monkeypatch.setattr(Quick, "warm_up_doubts", lambda self: begun.set())
    tries.append(None)
    desk = ModelCache(room=1, questions=8).queue(KEY)
    assert begun.wait(30 if not seconds else 0.1) == (not seconds)
    desk.close()
