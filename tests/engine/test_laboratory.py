"""What needs TensorFlow has a worker of its own, which comes when it is asked and goes when nobody asks. Needs /proc (Linux)."""

import shutil
import time
from pathlib import Path

import pytest

from engine import Engine, EngineDiedError
from engine.laboratory import Laboratory
from engine.questions import QUESTIONS
from model.graph.files import GRAPH_FOLDER

SECONDS = 60


def libraries(link) -> str:
    return Path(f"/proc/{link.endpoint.pid}/maps").read_text()


def test_the_worker_that_corrects_loads_no_tensorflow(tiny_folder):
    with Engine.start([tiny_folder], ahead=False) as engine:
        model = engine.open(tiny_folder)
        model.correct("가나")
        model.trace("가나", "가나")
        model.embeddings("가나")
        assert (model.num_parameters, model.progress.is_ready) == (sum(model.weight_sizes().values()), True)
        assert engine._laboratory.link is None
        assert model.projections("가나", "가나").keys() == set(model.config.attention_kinds)
        (link,) = engine._links
        assert "onnxruntime" in libraries(link) and "tensorflow" not in libraries(link)
        assert "tensorflow" in libraries(engine._laboratory.link)


def test_a_model_without_a_graph_is_answered_by_the_laboratory(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "own", ignore=shutil.ignore_patterns(GRAPH_FOLDER))
    with Engine.start([], ahead=False) as engine:
        own = engine.open(folder)
        deadline = time.monotonic() + SECONDS
        while not own.prepare().is_ready:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert own.correct("").text == ""
        assert "tensorflow" not in libraries(engine._links[0])


def test_correcting_and_attention_are_never_asked_of_keras():
    light = {kind for kind, question in QUESTIONS.items() if not question.in_keras}
    assert {"correct", "trace", "table", "grown", "embeddings"} <= light
    assert not {"projections", "head_effects", "taps"} & light


class Closing:
    """A link that only knows whether it has been closed."""

    is_closed = False

    def close(self):
        self.is_closed = True


def test_it_begins_when_asked_and_rests_when_nobody_asks():
    laboratory = Laboratory(Closing, rest=0.05)
    assert laboratory.link is None
    with laboratory.awake() as link, laboratory.awake() as same:
        assert link is same is laboratory.link
        time.sleep(0.1)
        assert not link.is_closed  # somebody still waits for an answer
    deadline = time.monotonic() + SECONDS
    while not link.is_closed:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert laboratory.link is None
    with laboratory.awake() as other:
        assert other is not link
    laboratory.close()
    assert other.is_closed
    with pytest.raises(EngineDiedError, match="closed"), laboratory.awake():
        pass
