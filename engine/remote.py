"""``RemoteLink``: an HTTP client of a remote engine, and the wire format of its messages.

The server is ``deploy/serve.py``.

Messages are JSON and plain arrays, never a pickle. Reading creates only tuples, dictionaries, numbers, texts,
arrays and the classes that a question declares as an argument or an answer. So a hostile message can hold
wrong data, but cannot run code.
"""

import io
import json
import time
import zipfile
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, get_args, get_type_hints
from urllib.parse import urlsplit

import numpy as np

from classroom.classroom import ClassroomError
from classroom.store import CALLS, AnyClassrooms
from engine import questions as _questions  # noqa: F401  they declare themselves
from engine.links import SCHEMES, AnyLink
from engine.question import QUESTIONS
from engine.records import (
    CLASSROOMS,
    PREPARE,
    EngineBusyError,
    EngineDiedError,
    EngineError,
    EngineSlowError,
    Message,
    ModelKey,
    Progress,
)
from model.stored.folder import ModelFolderError, model_name

# How a call of the classrooms begins.
CLASSROOM_CALL = json.dumps(["", None, "", CLASSROOMS])[:-1].encode("ascii")
_TREE = "tree"  # the name of the JSON in the archive; arrays are named by numbers


class WireError(EngineError):
    """The bytes from the network are no question, or no answer."""


@cache
def _types() -> dict[str, type[Any]]:
    """The classes of the questions' and classrooms' arguments and answers, and of their fields, by name."""
    found: dict[str, type[Any]] = {}

    def add(hint: Any) -> None:
        for part in get_args(hint):
            add(part)
        is_record = isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields"))
        if is_record and hint.__name__ not in found:
            found[hint.__name__] = hint
            for each in get_type_hints(hint).values():
                add(each)

    add(Progress)
    for declared in (
        *(each.answer for each in QUESTIONS.values()),
        *(getattr(AnyClassrooms, n) for n in CALLS),
    ):
        for hint in get_type_hints(declared).values():
            add(hint)
    return found


def _errors() -> dict[str, type[Exception]]:
    """The errors that keep their class, by name."""
    known: list[type[Exception]] = [ModelFolderError, ValueError]
    for base in (EngineError, ClassroomError):
        known += [base, *base.__subclasses__()]
    return {each.__name__: each for each in known}


def write_question(key: ModelKey, kind: str, arguments: tuple[Any, ...]) -> bytes:
    """A model is sent by name, because paths hold on one machine only.

    A call of the classrooms names no model.
    """
    name = model_name(Path(key.path)) if key.path else ""
    return json.dumps([name, key.snapshot, key.fingerprint, kind, _flatten(arguments, [])]).encode("ascii")


def read_question(data: bytes, models: dict[str, Path]) -> Message:
    """The message that ``write_question`` wrote. ``models``: the folders of the models it may name.

    Raises ModelFolderError for another model, WireError for anything that is no question.
    """
    try:
        name, snapshot, fingerprint, kind, tree = json.loads(data)
        arguments = _build(tree, {})
    except Exception as error:  # a dozen kinds, depending on which byte is wrong
        raise WireError("this is no question") from error
    right = isinstance(snapshot, int | None) and isinstance(arguments, tuple)
    if not right or not all(isinstance(each, str) for each in (name, fingerprint, kind)):
        raise WireError("this is no question")
    if name not in models:
        raise ModelFolderError(f"the engine knows the models {sorted(models)}, asked for another one")
    return Message(ModelKey(str(models[name]), snapshot, fingerprint), kind, arguments)


def read_call(data: bytes) -> tuple[Any, ...] | None:
    """The arguments of a call of the classrooms, if ``data`` is one that ``write_question`` wrote; else None.

    Raises WireError for bytes that only begin like one.
    """
    return read_question(data, {"": Path()}).arguments if data.startswith(CLASSROOM_CALL) else None


def write_answer(answer: Any) -> bytes:
    """The bytes of an answer. Raises TypeError for an object of a class that no question declares."""
    arrays: list[np.ndarray] = []
    tree = json.dumps(_flatten(answer, arrays)).encode("ascii")
    file = io.BytesIO()
    named = {str(number): array for number, array in enumerate(arrays)}
    np.savez(file, allow_pickle=False, **named, **{_TREE: np.frombuffer(tree, np.uint8)})
    return file.getvalue()


def read_answer(data: bytes) -> Any:
    """The answer that ``write_answer`` wrote. Raises WireError for other bytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise WireError("an answer should not be compressed")
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _build(json.loads(arrays.pop(_TREE).tobytes()), arrays)
    except WireError:
        raise
    except Exception as error:  # a dozen kinds, depending on which byte is wrong
        raise WireError(f"this is no answer: {type(error).__name__}") from error


def write_error(error: Exception) -> bytes:
    """The error's name and message.

    Of an unexpected error only the name, because the message may hold a visitor's text.
    """
    name, message = type(error).__name__, str(error)
    if name not in _errors():
        name, message = EngineError.__name__, f"{name} in the engine"
    return json.dumps([name, message]).encode("ascii")


def read_error(data: bytes) -> Exception:
    """The error that ``write_error`` wrote, to be raised. A WireError for other bytes."""
    try:
        name, message = json.loads(data)
        return _errors()[name](str(message))
    except (ValueError, TypeError, KeyError, RecursionError):
        return WireError("this is no error of an engine")


_CONTAINERS: dict[str, type[Any]] = {each.__name__: each for each in (tuple, frozenset, dict)}


def _flatten(value: Any, arrays: list[np.ndarray]) -> Any:
    """``value`` for JSON: a type that JSON lacks becomes an object with the type's name as its only key."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case np.generic():
            return value.item()
        case list():  # an argument; it arrives as a tuple
            return _flatten(tuple(value), arrays)
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
    name = type(value).__name__
    if type(value) is not _CONTAINERS.get(name, _types().get(name)):
        raise TypeError(f"a {name} does not travel")
    parts: Iterable[Any]
    if isinstance(value, dict):
        parts = value.items()
    elif is_dataclass(value):
        parts = [getattr(value, field.name) for field in fields(value)]
    else:
        parts = value
    return {name: [_flatten(each, arrays) for each in parts]}


def _build(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((name, parts),) = tree.items()
    if name == "array":
        return arrays[str(parts)]
    built = [_build(each, arrays) for each in parts]
    if name in _CONTAINERS:
        return _CONTAINERS[name](built)
    made = _types()[name]
    if not is_dataclass(made):
        return made(*built)
    return made(**dict(zip((field.name for field in fields(made)), built, strict=True)))


REFUSED = 422  # the status of an error that ``write_error`` wrote
_BUSY = 503  # Ray Serve's own status, if more questions wait than its queue takes
_MOST_BYTES = 256 * 2**20  # the largest answer that is read
_NOTICED = 1.0  # seconds that a page waits to hear how far a model is, and between two tries
_IDLE = 64  # open connections that are kept for the next questions


class RemoteLink(AnyLink):
    """Asks ``address`` as ``engine.links.Link`` asks a worker. It starts and ends nothing there.

    Safe to use from threads. Raises ValueError for text that is not an address.
    """

    def __init__(self, address: str):
        parts = urlsplit(address)
        if not address.startswith(SCHEMES) or not parts.hostname:
            raise ValueError(f"an engine's address should begin with one of {SCHEMES}, received {address!r}")
        super().__init__()
        self._make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._address, self._path = parts.netloc.rpartition("@")[2], parts.path or "/"
        self._idle: deque[HTTPConnection] = deque(maxlen=_IDLE)

    @property
    def is_lost(self) -> bool:
        """Whether the last question got no answer."""
        return self.problem is not None

    def prepare(self, key: ModelKey) -> None:
        """Have the model loaded, and learn how far it is; waits for a second at most."""
        if self.has(key):
            return
        try:
            told, _ = self.ask(Message(key, PREPARE, ()), time.monotonic() + _NOTICED)
        except (EngineBusyError, EngineSlowError):  # a replica is being started
            told = self.progress.get(key, Progress())
        except OSError:  # ``problem`` says it
            return
        except Exception as error:  # noqa: BLE001  raised later, by each question about this model
            told = Progress(problem=error)
        self.progress = {**self.progress, key: told}

    def _ask(self, message: Message, deadline: float) -> tuple[Any, int]:
        try:
            status, data = self._exchange(write_question(*message), deadline)
            if status not in (200, REFUSED, _BUSY):  # such as 500, where a replica was killed
                raise ConnectionError(f"the engine answered with status {status}")
        except OSError:
            self._lose()
            raise
        self.problem = None
        if status == REFUSED:
            raise read_error(data)
        if status == _BUSY:
            raise EngineBusyError("the engine's queue is full")
        return read_answer(data), len(data)

    def wait_for_loss(self) -> None:
        """Wait a second before the second try, while another replica takes over."""
        time.sleep(_NOTICED)

    def close(self) -> None:
        """Close the connections. The engine goes on for others."""
        with suppress(IndexError):  # none is left; other threads take some, too
            while True:
                self._idle.pop().close()

    def _lose(self) -> None:
        self.close()
        self.progress = {}
        self.problem = EngineDiedError(f"no engine answers at {self._address}")

    def _exchange(self, body: bytes, deadline: float) -> tuple[int, bytes]:
        # The other side closes connections that are idle for long.
        with suppress(IndexError, ConnectionError):
            return self._send(self._idle.pop(), body, deadline)
        return self._send(self._make(self._address), body, deadline)

    def _send(self, connection: HTTPConnection, body: bytes, deadline: float) -> tuple[int, bytes]:
        rest = deadline - time.monotonic()
        if rest <= 0:
            raise EngineSlowError("no answer came in time")
        is_whole = False
        try:
            connection.timeout = rest
            if connection.sock is not None:
                connection.sock.settimeout(rest)
            connection.request("POST", self._path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read(_MOST_BYTES + 1)
            is_whole = len(data) <= _MOST_BYTES
        except TimeoutError as error:
            raise EngineSlowError("no answer came in time") from error
        except HTTPException as error:
            raise ConnectionError("the engine broke off its answer") from error
        finally:
            if not is_whole:
                connection.close()
        if not is_whole:
            raise EngineError(f"an answer may have at most {_MOST_BYTES:,} bytes, received more")
        self._idle.append(connection)
        return response.status, data
