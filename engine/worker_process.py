"""``WorkerProcess``: a worker that this process starts; ``SharedWorker``: one in a folder.

``subprocess`` and not ``multiprocessing.Process``, which would run the main module of the starting process
again in the worker. Under Streamlit that is the page. Workers that several page processes share have their
sockets and their secret in one folder that only its owner may enter: ``secret`` and ``0.sock``, ``1.sock``,
… This needs Unix sockets.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from engine.records import EngineDiedError, ModelKey

_ROOT = Path(__file__).resolve().parents[__name__.count(".")]  # of a checkout, or site-packages
_SECONDS_TO_END = 5.0
_LONGEST_FOLDER = 75  # bytes: the path of a Unix socket below it may have about 100
# Of the C library of Linux; elsewhere nothing reads them. Without them each thread keeps its freed memory: 60
# of 500 MB after loading.
_FRUGAL = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": str(4 * 2**20)}

# Several questions are answered at once, so each matrix product of NumPy keeps to one core. With more cores
# its threads wait for each other, and it takes three times as long.
_ONE_CORE = {"OPENBLAS_NUM_THREADS": "1"}


class Orders(NamedTuple):
    """The orders of a worker, in the first line of its standard input."""

    models: tuple[ModelKey, ...]  # loaded at once, in this order
    models_in_memory: int
    questions: int  # that may wait for one model
    ahead: bool = True  # whether it prepares the laboratory while it is idle; else the first questions do
    socket: str | None = None  # the path of its Unix socket; None makes one in a new private folder


class WorkerProcess:
    """A running worker: ``address`` and ``secret`` are the arguments of
    ``multiprocessing.connection.Client``.

    Raises EngineDiedError where it ends before it listens.
    """

    def __init__(self, orders: Orders, secret: bytes | None = None, command: Sequence[str] = ()):
        self.secret = secret or secrets.token_bytes(32)
        self._folder: str | None = None
        address: str | tuple[str, int]
        if orders.socket is not None:
            address = orders.socket
            Path(address).unlink(missing_ok=True)  # a worker that was killed leaves its socket behind
        elif hasattr(socket, "AF_UNIX") and len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_FOLDER:
            self._folder = tempfile.mkdtemp(prefix="attention-")  # only this user may enter
            address = os.path.join(self._folder, "worker")
        else:
            address = ("127.0.0.1", 0)
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self.process = subprocess.Popen(
            # -P: the working folder, which may hold a ``model.py``, does not come first in the path.
            command or [sys.executable, "-P", "-m", f"{__package__}.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**_FRUGAL, **_ONE_CORE, **os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for this process alone, which then ends the worker
        )
        assert self.process.stdin and self.process.stdout, "both are pipes"
        self._orders, self._answer = self.process.stdin, self.process.stdout
        self.address = self._introduce(orders._asdict() | {"address": address, "secret": self.secret.hex()})

    def stop(self) -> None:
        """End it within seconds; nothing happens where it has ended."""
        with suppress(OSError):  # closing flushes to a process that may have gone
            self._orders.close()
        try:
            self.process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _introduce(self, orders: dict[str, Any]) -> str | tuple[Any, ...]:
        try:
            self._orders.write(json.dumps(orders).encode() + b"\n")
            self._orders.flush()
            answer = self._answer.readline()
        except OSError:
            answer = b""
        self._answer.close()
        if not answer:
            self.stop()
            raise EngineDiedError(f"a worker ended at its start, with code {self.process.returncode}")
        address = json.loads(answer)
        return address if isinstance(address, str) else tuple(address)


_SECRET = "secret"


class SharedWorker(NamedTuple):
    """A worker of another process."""

    address: str
    secret: bytes

    def stop(self) -> None:
        """Does nothing: the worker goes on for the others."""


def prepare_folder(folder: Path, workers: int) -> list[SharedWorker]:
    """Make the folder in which so many workers shall listen, with a new secret.

    Raises OSError if the folder cannot be made or written to.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    part = folder / f".{_SECRET}"
    part.unlink(missing_ok=True)
    part.touch(mode=0o600)
    part.write_text(secrets.token_hex(32))
    part.replace(folder / _SECRET)
    return [find_worker(folder, number) for number in range(workers)]


def find_worker(folder: Path, number: int) -> SharedWorker:
    """Where the worker of this number listens, from 0. Raises EngineDiedError where none has been started."""
    try:
        secret = bytes.fromhex((folder / _SECRET).read_text())
    except (OSError, ValueError) as error:
        raise EngineDiedError(f"no engine has been started in {folder}") from error
    return SharedWorker(str(folder.absolute() / f"{number}.sock"), secret)
