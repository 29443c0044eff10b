"""Fixtures of the service's tests: the shipped corrector, a service on a port."""

import http.client
import json
import threading
import time
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
import uvicorn

from service.checker import KeepingCorrector
from service.languagetool import app_link
from service.server import Guard, Limits, Service, application

WRONG = "오늘은 할수있는 만큼 머거요. 🙂 몇일 뒤에 봬요."
APP = "http://127.0.0.1:8081/"


@pytest.fixture(scope="session")
def corrector():
    """The shipped corrector, which keeps its answers."""
    return KeepingCorrector.load()


class Answer(NamedTuple):
    """An answer of the service."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Running(NamedTuple):
    """A service that runs in a thread."""

    port: int
    service: Service

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body or None, named)
        found = connection.getresponse()
        answer = Answer(found.status, found.headers, found.read())
        connection.close()
        return answer

    def check(self, **fields: str) -> Answer:
        """The answer to a form; the language is Korean unless it is given."""
        return self.ask("POST", "/v2/check", urlencode({"language": "ko-KR", **fields}).encode())


@pytest.fixture(scope="session")
def start(corrector):
    """Starts a service: ``start(guard, limits)``."""
    servers = []

    def start(guard: Guard | None = None, limits: Limits | None = None) -> Running:
        service = Service(lambda: corrector, app_link(APP), limits or Limits(requests_a_minute=10_000))
        config = uvicorn.Config(
            application(service, guard or Guard()), port=0, access_log=False, log_level="error"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        servers.append((server, thread))
        return Running(server.servers[0].sockets[0].getsockname()[1], service)

    yield start
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="session")
def running(start):
    return start()
