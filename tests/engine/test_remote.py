"""``RemoteLink``: HTTP client of an engine on other machines; errors and repeats."""

import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine import questions, remote
from engine import remote as wire
from engine.client import Engine
from engine.records import PREPARE, EngineBusyError, EngineDiedError, EngineSlowError, Progress
from engine.remote import RemoteLink
from model import ModelFolderError

READY = Progress("ready")


class Answers(BaseHTTPRequestHandler):
    """Gives ``server.answers`` in order; then (200, ready) to PREPARE."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        _, kind, _ = asked = wire.read_question(body, {"tiny": self.server.folder})
        self.server.asked.append(asked)
        if kind == PREPARE and not self.server.answers:
            status, answer = 200, wire.write_answer(READY)
        else:
            status, answer = self.server.answers.pop(0)
        if status == "hang":
            self.server.may_end.wait(30)
            status = 200
        if status == "break":
            self.close_connection = True
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tiny_folder, monkeypatch):
    monkeypatch.setattr(remote, "_NOTICED", 0.1)
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.answers, server.asked, server.folder = [], [], tiny_folder
        server.may_end = threading.Event()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.may_end.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def engine(server, monkeypatch):
    monkeypatch.setenv("ATTENTION_ENGINE", f"http://127.0.0.1:{server.server_port}")
    with Engine.from_environment() as engine:
        yield engine


@pytest.fixture
def model(engine, tiny_folder):
    return engine.open(tiny_folder)


def test_it_asks_by_the_models_name_and_keeps_answers(server, model, tiny_folder):
    assert model.prepare() == READY
    server.answers += [(200, wire.write_answer(7))]
    assert (model.ask(questions.num_parameters), model.ask(questions.num_parameters)) == (7, 7)
    assert [kind for _, kind, _ in server.asked] == [PREPARE, "num_parameters"]
    assert server.asked[-1][0] == model.key
    assert str(tiny_folder) not in wire.write_question(*server.asked[-1]).decode()


def test_what_the_engine_raises_is_raised_here(server, model):
    server.answers += [(422, wire.write_error(ValueError("too long"))), (503, b"full"), (422, b"nonsense")]
    with pytest.raises(ValueError, match="too long"):
        model.correct("가")
    with pytest.raises(EngineBusyError):
        model.correct("가")
    with pytest.raises(wire.WireError):
        model.correct("가")
    server.answers += [(422, wire.write_error(ModelFolderError("knows another")))]
    with pytest.raises(ModelFolderError, match="another"):
        model.prepare()
    assert model.prepare() == READY


@pytest.mark.parametrize("loss", [("break", b""), (500, b"a replica was killed")])
def test_a_question_that_was_lost_is_asked_once_more(server, model, loss):
    server.answers += [loss, (200, wire.write_answer(7))]
    assert model.ask(questions.num_parameters) == 7
    server.answers += [loss] * 2
    with pytest.raises(EngineDiedError):
        model.ask(questions.weight_sizes)
    assert model.prepare() == READY  # the page asks again, and all is well


def test_an_answer_that_does_not_come(server, model):
    server.answers += [("hang", wire.write_answer(READY))]
    assert not model.prepare().is_ready
    model._engine._patience = 0.1
    server.answers += [("hang", wire.write_answer(7))]
    with pytest.raises(EngineSlowError):
        _ = model.ask(questions.num_parameters)


@pytest.mark.parametrize("name", ["", "me:secret@"])
def test_where_nobody_listens(server, tiny_folder, name):
    with Engine.connect(f"http://{name}127.0.0.1:9") as engine:
        with pytest.raises(EngineDiedError, match="127.0.0.1:9") as raised:
            engine.open(tiny_folder).prepare()
        assert "secret" not in str(raised.value)
        assert engine.is_lost
        with pytest.raises(EngineDiedError):
            engine.open(tiny_folder).correct("가")


def test_closing_while_another_thread_takes_the_last_connection():
    class Taken(deque):
        """Its last connection is taken between the look and the pop."""

        def __bool__(self):
            return True

    link = RemoteLink("http://127.0.0.1:9")
    link._idle = Taken()
    link.close()


@pytest.mark.parametrize("address", ["http://", "https:///path", "ray://head:10001"])
def test_an_address_without_a_host(address):
    with pytest.raises(ValueError, match="should begin with"):
        RemoteLink(address)
