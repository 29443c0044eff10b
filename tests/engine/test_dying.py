"""Worker processes that are killed or cannot start; engines whose process ends.

Needs process descriptors (Linux).
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from engine import questions
from engine.client import Engine, model_key
from engine.links import Link
from engine.records import EngineDiedError, EngineError, ModelKey, Progress
from engine.worker_process import Orders, WorkerProcess
from tests.own_model import RIGHT, WRONG
from tests.waiting import wait_until

SPELLER = "tests.own_model:Speller"  # without TensorFlow, which takes seconds to start
ROOT = Path(__file__).parents[2]
SECONDS = 60


def end_of(pid: int) -> int:
    """A descriptor that can be read once the process has ended."""
    return os.pidfd_open(pid)


def has_ended(descriptor: int, seconds: float = SECONDS) -> bool:
    return bool(select.select([descriptor], [], [], seconds)[0])


def next_worker(engine: Engine, old: int | None = None) -> int:
    """The process id of the worker, once it differs from ``old``."""
    (link,) = engine._links
    with link._state:
        assert link._state.wait_for(lambda: link.endpoint and link.endpoint.process.pid != old, SECONDS)
        return link.endpoint.process.pid


def hold(pid: int) -> None:
    """Stop the worker and wait for it: on a busy machine it goes on for a while after the signal."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED)


def under_way(engine: Engine) -> None:
    (link,) = engine._links
    while not link.under_way:  # it counts before it waits, so this lasts as long as a thread's start
        os.sched_yield()


def test_a_worker_killed_in_the_middle_of_a_question():
    with Engine.start([SPELLER]) as engine, ThreadPoolExecutor(1) as pool:
        model = engine.open(SPELLER)
        assert model.correct(RIGHT).text == RIGHT
        pid = next_worker(engine)
        hold(pid)  # it gets the question and does not answer
        asked = pool.submit(model.correct, WRONG)
        under_way(engine)
        os.kill(pid, signal.SIGKILL)
        assert asked.result(SECONDS).text == RIGHT
        assert next_worker(engine) != pid


# A worker that ends at the first question.
MORTAL = """
import json, os, sys
from multiprocessing.connection import Listener
orders = json.loads(sys.stdin.readline())
listener = Listener(orders["address"], authkey=bytes.fromhex(orders["secret"]))
print(json.dumps(listener.address), flush=True)
watcher = listener.accept()
watcher.recv()
listener.accept().recv()
os._exit(1)
"""


@pytest.fixture
def soon(monkeypatch):
    """Where workers end at once, the next start comes at once, too."""
    monkeypatch.setattr("engine.links._PAUSES", (0.0, 0.0, 0.0, 30.0))


@pytest.mark.usefixtures("soon")
def test_a_question_that_kills_two_workers_gets_an_error_with_a_name():
    orders = Orders((), 1, 1, ahead=False)
    mortal = partial(WorkerProcess, orders, command=[sys.executable, "-c", MORTAL])
    starts = iter([mortal, mortal, partial(WorkerProcess, orders)])
    with Engine([Link(lambda: next(starts)())]) as engine:
        model = engine.open(SPELLER)
        with pytest.raises(EngineDiedError, match="twice"):
            model.correct(WRONG)
        assert model.correct(WRONG).text == RIGHT


@pytest.mark.usefixtures("soon")
def test_a_worker_that_cannot_be_started_is_named():
    command = [sys.executable, "-c", "raise SystemExit(3)"]
    orders = Orders((), 1, 1)
    with Engine([Link(partial(WorkerProcess, orders, command=command))]) as engine:
        with pytest.raises(EngineDiedError, match="code 3"):
            engine.ask(ModelKey("nowhere", None, "0"), questions.weight_sizes)
        assert engine.is_lost


# A worker that begins to load a model and ends.
LOADING = MORTAL.replace(
    "listener.accept().recv()",
    """
import pickle
from engine.records import Progress
connection = listener.accept()
connection.recv()
connection.send_bytes(pickle.dumps((True, Progress("library"))))
""",
)


@pytest.mark.usefixtures("soon")
def test_workers_that_end_while_they_load_a_model_are_lost():
    command = [sys.executable, "-c", LOADING]
    with Engine([Link(partial(WorkerProcess, Orders((), 1, 1), command=command))]) as engine:
        model = engine.open(SPELLER)
        with pytest.raises(EngineDiedError, match="3 workers ended at their start"):
            wait_until(lambda: model.prepare().is_ready)


def test_a_worker_that_starts_at_last_answers(monkeypatch):
    monkeypatch.setattr("engine.links._PAUSES", (0.0,))

    def fail():
        raise EngineDiedError("not yet")

    starts = iter([fail, fail, fail, partial(WorkerProcess, Orders((), 1, 1))])
    link = Link(lambda: next(starts)())
    with Engine([link]) as engine:
        next_worker(engine)
        assert not engine.is_lost
        with pytest.raises(EngineError, match="oracle"):  # an error of the worker itself
            engine.ask(model_key(SPELLER), replace(questions.num_parameters, name="oracle"))
        assert engine.open(SPELLER).correct(WRONG).text == RIGHT
        assert (link.problem, link._is_well) == (None, True)


def test_an_answer_makes_a_worker_well_and_overwrites_no_news_of_the_watching_thread(monkeypatch):
    with monkeypatch.context() as patched, Engine.start() as engine:
        patched.setattr(Link, "_learn", lambda link, progress: None)  # only answers tell how it is
        next_worker(engine)
        (link,), key = engine._links, model_key(SPELLER)
        link.problem = EngineDiedError("of an earlier worker")
        assert engine.open(SPELLER).correct(WRONG).text == RIGHT
        assert (link.problem, link._is_well) == (None, True)
        link.problem, link._is_well = EngineDiedError("of this worker"), False
        # An earlier worker's answer says nothing about this one.
        link._keep(None, link._idle.pop(), is_well=True)
        assert (str(link.problem), link._is_well) == ("of this worker", False)
        patched.undo()

        def ask(question, deadline):
            link._learn({key: Progress("ready")})  # before the answer is here
            return Progress("library"), 0

        monkeypatch.setattr(link, "ask", ask)
        link.prepare(key)
        assert link.has(key)


def test_a_worker_that_ends_before_it_gets_its_orders_leaves_no_folder(tmp_path, monkeypatch):
    class Ended(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            super().wait(SECONDS)  # so that the orders meet a closed pipe

    monkeypatch.setattr("subprocess.Popen", Ended)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(EngineDiedError, match="code 3"):
        WorkerProcess(Orders((), 1, 1), command=[sys.executable, "-c", "raise SystemExit(3)"])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_whose_name_is_too_long_for_a_socket(tmp_path, monkeypatch):
    (long := tmp_path / ("x" * 120)).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    with Engine.start([SPELLER]) as engine:
        assert engine.open(SPELLER).correct(WRONG).text == RIGHT


def test_a_stranger_without_the_secret_gets_nothing_and_one_who_says_nothing_holds_up_nobody(monkeypatch):
    monkeypatch.setattr("engine.links._IDLE", 0)  # so that each question connects anew
    with Engine.start([SPELLER], patience=SECONDS / 6) as engine:
        next_worker(engine)
        (link,) = engine._links
        with pytest.raises(AuthenticationError):
            Client(link.endpoint.address, authkey=b"guessed")
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(link.endpoint.address)
            assert engine.open(SPELLER).correct(WRONG).text == RIGHT


# A shell's background process ignores Ctrl-C, and so would its children. With a folder, its model has
# answered: then the worker runs TensorFlow's threads.
START = """
import signal, sys, pathlib
signal.signal(signal.SIGINT, signal.default_int_handler)
from engine.client import Engine
engine = Engine.start()
for folder in map(pathlib.Path, sys.argv[1:]):
    engine.open(folder).correct("가나")
(link,) = engine._links
with link._state:
    link._state.wait_for(lambda: link.endpoint)
print(link.endpoint.process.pid, link.endpoint.address, flush=True)
sys.stdin.read()
"""


@contextmanager
def parent(*folders: Path) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(
        [sys.executable, "-c", START, *map(str, folders)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        yield process
        process.kill()


@pytest.mark.parametrize("end", ["SIGKILL", "Ctrl-C", "exit"])
def test_no_worker_outlives_who_started_it(end, tiny_folder):
    folders = [tiny_folder] if end == "SIGKILL" else []  # the hardest end for the worker that does the most
    with parent(*folders) as process:
        pid, address = process.stdout.readline().split()
        worker = end_of(int(pid))
        if end == "exit":
            process.stdin.close()
        elif end == "Ctrl-C":
            os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it to the group
        else:
            process.send_signal(signal.Signals[end])
        assert has_ended(worker)
        process.wait(SECONDS)
        assert not os.path.exists(os.path.dirname(address))


HIDDEN = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from engine.client import Engine
with Engine.start() as engine:
    print(engine.open(pathlib.Path(sys.argv[2])).correct("가나").text)
"""


def test_a_worker_finds_our_rooms_where_one_stands_beside_files_of_their_names(tmp_path, tiny_folder):
    for name in ("model.py", "engine.py", "numpy.py"):
        (tmp_path / name).write_text("raise SystemExit(name)")
    command = [sys.executable, "-P", "-c", HIDDEN, str(ROOT), str(tiny_folder)]
    assert subprocess.check_output(command, cwd=tmp_path, text=True, timeout=SECONDS).strip()


def test_a_worker_whose_starter_is_gone_ends_in_silence(tmp_path):
    """The pipe for its address is closed before it has one."""
    orders = json.dumps({**Orders((), 1, 1)._asdict(), "address": str(tmp_path / "worker"), "secret": "00"})
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [sys.executable, "-m", "engine.worker"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write)
    _, said = process.communicate(orders + "\n", timeout=SECONDS)
    assert (process.returncode, said) == (0, "")


def _sooner_or_later(ask, text: str):
    """The answer. Who came before the workers looks for them every second."""
    ends = time.monotonic() + 20
    while True:
        try:
            return ask(text)
        except EngineError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)


def test_workers_for_several_processes(tmp_path):
    command = [sys.executable, "-m", "engine", str(tmp_path / "at"), "--model", SPELLER]
    env = {**os.environ, "ATTENTION_MODEL": SPELLER}
    with Engine.connect(tmp_path / "at") as early:  # a page may be there long before its workers
        wait_until(lambda: early.is_lost)
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=env)
        try:
            assert "1 workers" in server.stdout.readline()
            with Engine.connect(tmp_path / "at") as other:
                for engine in (early, other):
                    assert _sooner_or_later(engine.open(SPELLER).correct, WRONG).text == RIGHT
            # The other one's end is not the worker's.
            assert early.open(SPELLER).correct("teh").text == "the"
            assert (tmp_path / "at").stat().st_mode & 0o077 == 0
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(SECONDS) == 0
