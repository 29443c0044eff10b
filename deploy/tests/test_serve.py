"""Tests of the engine as a Ray Serve deployment, called as a page calls it."""

import json
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.error import HTTPError

import pytest
from ray import serve
from ray.serve.config import HTTPOptions, ProxyLocation

from benchmarks.server import free_port
from classroom.classroom import NotTheTeacherError, Poll
from deploy.serve import application
from engine import questions
from engine.client import Engine
from model import ModelFolderError
from tests.waiting import wait_until

SECONDS = 120


@pytest.fixture
def address(cluster, tiny_folder):
    port = free_port()
    serve.start(proxy_location=ProxyLocation.HeadOnly, http_options=HTTPOptions(host="127.0.0.1", port=port))
    serve.run(application(tiny_folder, replicas=2, least=2))
    yield f"http://127.0.0.1:{port}"
    serve.shutdown()


def test_a_node_killed_under_many_questions(cluster, address, tiny_folder, tiny_corrector):
    texts = [f"{a}{b} 가나다 {a}" for a in "전오래쓸수있" for b in "는게필요해요"]
    expected = {text: tiny_corrector.correct(text) for text in texts}
    with Engine.connect(address, patience=SECONDS) as engine, ThreadPoolExecutor(8) as pool:
        model = engine.open(tiny_folder)
        code, _ = engine.classrooms.open()
        wait_until(lambda: model.prepare().is_ready)
        found = []
        for number, correction in enumerate(pool.map(model.correct, texts)):
            found.append(correction)
            if number == len(texts) // 3:
                cluster.remove_node(cluster.workers[0], allow_graceful=False)
        assert dict(zip(texts, found, strict=True)) == expected
        trace = model.trace("가나", "가나")
        assert trace.cross_attention.shape == tiny_corrector.trace("가나", "가나").cross_attention.shape
        check_what_is_refused(engine, model, address, tiny_folder)
        assert engine.classrooms.state_of(code).present == 0  # the class is not gone with the node
    check_that_a_class_meets(address)


def check_what_is_refused(engine, model, address, folder):
    with pytest.raises(ValueError, match="40 characters, received 41"):
        model.trace("가" * 41, "가")
    with pytest.raises(ModelFolderError, match="knows the models"):
        engine.ask(model.key._replace(path="/etc"), questions.correct, "가")
    for body in (b"", b"\x80\x04K\x01.", json.dumps(["../tiny", None, "0", "correct", []]).encode()):
        with pytest.raises(HTTPError) as refused:
            urllib.request.urlopen(urllib.request.Request(address, body))
        assert refused.value.code == 422


def check_that_a_class_meets(address):
    """Page processes on other machines meet in one replica, whichever replica of the network takes their
    calls.
    """
    with Engine.connect(address, patience=SECONDS) as teachers, Engine.connect(address) as phones:
        code, key = teachers.classrooms.open()
        seat = phones.classrooms.join(code)
        teachers.classrooms.ask(code, key, Poll("where", ("가", "나"), 1, ()))
        phones.classrooms.answer(code, seat, 1, (1,))
        states = {phones.classrooms.state_of(code).answered for _ in range(8)}
        teachers.classrooms.reveal(code, key)
        assert states == {1} and phones.classrooms.state_of(code).counts == (0, 1)
        with pytest.raises(NotTheTeacherError):
            phones.classrooms.reveal(code, seat)
