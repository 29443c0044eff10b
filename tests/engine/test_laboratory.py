"""Worker with TensorFlow: starts on demand, ends when idle; TensorFlow not installed.

Needs /proc (Linux).
"""

import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine import questions
from engine.client import Engine, model_key
from engine.links import Link
from engine.questions import ROUNDS
from engine.records import EngineDiedError, LibraryMissingError, Message
from engine.worker_process import Orders, WorkerProcess
from model.analysis.attribution_methods import METHODS
from model.graph.files import GRAPH_FOLDER
from model.stored.folder import ASSETS
from model.trace.interventions import Head
from tests.waiting import wait_until

SPELLER = "tests.own_model:Speller"  # without TensorFlow, which takes seconds to start
SECONDS = 60


def libraries(link) -> str:
    return Path(f"/proc/{link.endpoint.process.pid}/maps").read_text()


def test_the_worker_that_corrects_loads_no_tensorflow(tiny_folder):
    with Engine.start([tiny_folder], ahead=False) as engine:
        model = engine.open(tiny_folder)
        model.correct("가나")
        model.trace("가나", "가나")
        model.ask(questions.embeddings, "가나")
        assert (model.ask(questions.num_parameters), model.progress.is_ready) == (
            sum(model.ask(questions.weight_sizes).values()),
            True,
        )
        assert model.ask(questions.projections, "가나", "가나").keys() == set(model.config.attention_kinds)
        assert len(model.ask(questions.head_effects, questions.Edit("가나", "가다", (1, 2))).heads) == 12
        assert engine._laboratory.endpoint is None
        rounds = [
            model.ask(questions.contributions, questions.Edit("가나", "가다", (1, 2)), number)[-1]
            for number in range(len(ROUNDS))
        ]
        assert {each.method for part in rounds for each in part} == METHODS.keys()
        assert engine._laboratory.endpoint is None
        (link,) = engine._links
        assert "onnxruntime" in libraries(link) and "tensorflow" not in libraries(link)


def test_a_model_without_a_graph_is_answered_by_the_laboratory(tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "own", ignore=shutil.ignore_patterns(GRAPH_FOLDER))
    with Engine.start([], ahead=False) as engine:
        own = engine.open(folder)
        wait_until(lambda: own.prepare().is_ready)
        assert own.correct("").text == ""
        assert "tensorflow" not in libraries(engine._links[0])
        assert "tensorflow" in libraries(engine._laboratory)


def test_it_begins_when_asked_and_rests_when_nobody_asks():
    link = Link(partial(WorkerProcess, Orders((), 1, 8, False)), rest=0.2)
    with Engine([], laboratory=link) as engine, ThreadPoolExecutor(2) as pool:
        ask = partial(link.ask, Message(model_key(SPELLER), "correct", ("가",)))
        assert link.endpoint is None
        assert ask(time.monotonic() + SECONDS)
        first = link.endpoint
        os.kill(first.process.pid, signal.SIGSTOP)
        asked = pool.submit(ask, time.monotonic() + SECONDS)
        time.sleep(0.5)
        assert link.endpoint is first  # a question still waits
        os.kill(first.process.pid, signal.SIGCONT)
        assert asked.result()
        wait_until(lambda: link.endpoint is None)
        wait_until(lambda: first.process.returncode == 0)
        assert link.problem is None
        assert ask(time.monotonic() + SECONDS)
        assert link.endpoint.process.pid != first.process.pid
        engine.close()
        with pytest.raises(EngineDiedError, match="closed"):
            ask(time.monotonic() + SECONDS)


def test_after_a_rest_no_start_of_before_is_held_against_a_question():
    orders, command = Orders((), 1, 8, False), ["false"]
    link = Link(lambda: WorkerProcess(orders, command=command), pauses=[0.01], rest=0.2)
    with Engine([], laboratory=link):
        ask = partial(link.ask, Message(model_key(SPELLER), "correct", ("가",)))
        with pytest.raises(EngineDiedError, match="ended at their start"):
            ask(time.monotonic() + SECONDS)
        wait_until(lambda: link.problem is None)
        command.clear()  # from now on it starts
        assert ask(time.monotonic() + SECONDS)


BLOCKED = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)\n"


@pytest.fixture
def without_tensorflow(tmp_path, monkeypatch):
    """Workers that are started now find neither TensorFlow nor Keras."""
    for library in ("tensorflow", "keras"):
        (tmp_path / f"{library}.py").write_text(BLOCKED)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.mark.usefixtures("without_tensorflow")
def test_a_worker_without_tensorflow(tmp_path):
    shipped = ASSETS / "growing-up"
    bare = shutil.copytree(
        shipped, tmp_path / "bare", ignore=shutil.ignore_patterns(GRAPH_FOLDER, "snapshots")
    )
    with Engine.start([shipped]) as engine:
        model = engine.open(shipped)
        (sentence,) = model.correct("머거도 되요").sentences
        assert sentence.trace.kinds == model.config.attention_kinds
        for kind in sentence.trace.kinds:
            np.testing.assert_allclose(sentence.trace.attention(kind).sum(axis=-1), 1, atol=1e-5)
        assert model.trace("머거도", "먹어도").target_tokens[:3] == ("먹", "어", "도")
        assert model.ask(questions.projections, "머거도", "먹어도").keys() == set(sentence.trace.kinds)
        assert model.ask(questions.ablate_heads, "머거도", ((Head("cross_attention", 0, 0),),))
        assert model.ask(questions.contributions, questions.Edit("머거도", "먹어도", (0, 2)), len(ROUNDS) - 1)
        with pytest.raises(LibraryMissingError, match="is not installed"):
            engine.open(bare).correct("머거도")
        assert model.correct("가").text  # as before
