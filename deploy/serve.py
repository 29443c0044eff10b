"""Ray Serve deployment: replicas of the engine on other machines, one for classrooms.

    pip install -r requirements-serve.txt
    RAY_USAGE_STATS_ENABLED=0 serve run deploy.serve:app
    ATTENTION_ENGINE=http://127.0.0.1:8000 streamlit run app.py

A replica is an ``engine.worker.ModelCache``, so it answers as a worker does (``engine.worker``). Ray's
``serve.batch`` is not used, because every text would wait for others. Replicas are added and taken away with
the number of questions, up to ATTENTION_REPLICAS. They know the models of assets/.

Questions and answers are JSON and arrays (``engine.remote``). Nothing that was typed reaches a log of Ray:
every error is an answer, and requests are not logged.
"""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ray import serve
from ray.serve.handle import DeploymentHandle
from starlette.requests import Request
from starlette.responses import Response

from classroom.store import Classrooms
from engine import remote as wire
from engine.client import MODELS_IN_MEMORY, MOST_QUESTIONS, model_key
from engine.records import PREPARE, EngineError
from engine.remote import REFUSED
from engine.worker import ModelCache
from model.stored.folder import ASSETS, DEFAULT_MODEL, model_folders, model_name

MOST_BYTES = 16 * 2**20  # of a question: 48 rows of a file, each as long as a cell of XLSX may be
AT_ONCE = 4  # questions under way for each replica; more of them add a replica
HEAD = "node:__internal_head__"  # a resource of the head node of a Ray cluster alone
REPLICAS = int(os.environ.get("ATTENTION_REPLICAS") or 4)


def answer(shelf: ModelCache, models: dict[str, Path], body: bytes) -> tuple[int, bytes]:
    """(status, body) for one request: 200 with the answer, or REFUSED with the error. Raises nothing."""
    try:
        key, kind, arguments = wire.read_question(body, models)
        if kind != PREPARE:
            return 200, wire.write_answer(shelf.ask(key, kind, arguments))
        told = shelf.begin(key)
        if told.problem is not None:
            raise told.problem
        return 200, wire.write_answer(told)
    except Exception as error:  # noqa: BLE001  the caller gets it
        return REFUSED, wire.write_error(error)


class Together:
    """The classrooms of all page processes, in the memory of one replica: a class that meets has to meet in
    one place.

    It runs on the head node. If that ends, everything ends; if another node ends, the class goes on.
    """

    def __init__(self) -> None:
        self._rooms = Classrooms()

    def call(self, body: bytes) -> tuple[int, bytes]:
        """(status, body) for one call; raises nothing."""
        try:
            return 200, wire.write_answer(self._rooms.call(*(wire.read_call(body) or ())))
        except Exception as error:  # noqa: BLE001  the caller gets it
            return REFUSED, wire.write_error(error)


class Replica:
    """One replica. It is ready for questions when the first model of ``folders`` is loaded.

    Raises the error of loading that model.
    """

    def __init__(self, together: DeploymentHandle, *folders: Path):
        self._together = together
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        self._models = {model_name(folder): folder for folder in folders}
        self._shelf = ModelCache(MODELS_IN_MEMORY, MOST_QUESTIONS)
        self._threads = ThreadPoolExecutor(MOST_QUESTIONS)
        self._shelf.queue(model_key(folders[0]))

    async def __call__(self, request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                error = EngineError(f"a question may have at most {MOST_BYTES:,} bytes, received more")
                return Response(wire.write_error(error), REFUSED)
        if body.startswith(wire.CLASSROOM_CALL):
            status, found = await self._together.call.remote(body)
        else:
            loop = asyncio.get_running_loop()
            status, found = await loop.run_in_executor(self._threads, answer, self._shelf, self._models, body)
        return Response(found, status, media_type="application/octet-stream")


def application(
    *folders: Path, replicas: int = REPLICAS, least: int = 1, cores: float = 1
) -> serve.Application:
    """The deployment for the models in ``folders``: ``least`` to ``replicas`` of them, ``cores`` each."""
    on_the_head = {"num_cpus": 0, "resources": {HEAD: 0.001}}
    scaling = {"min_replicas": least, "max_replicas": replicas, "target_ongoing_requests": AT_ONCE}
    declare: Any = serve.deployment
    together = declare(Together).options(num_replicas=1, ray_actor_options=on_the_head).bind()
    return (
        declare(Replica)
        .options(
            autoscaling_config=scaling,
            max_ongoing_requests=MOST_QUESTIONS,
            max_queued_requests=MOST_QUESTIONS,  # beyond that the page says that the server is busy
            ray_actor_options={"num_cpus": cores},
            logging_config={"enable_access_log": False},
        )
        .bind(together, *folders)
    )


def shipped() -> list[Path]:
    """The folders of assets/, that of the first page's model first."""
    return sorted(model_folders(ASSETS), key=lambda folder: folder.name != DEFAULT_MODEL)


app = application(*shipped())
