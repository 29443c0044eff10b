"""A worker: the process that holds the networks and answers. ``engine.link`` starts it.

It reads one line of JSON with its orders, writes one line with its address, and then answers connections of
``multiprocessing.connection``: a pickled question over a Unix socket, one at a time on each connection. It ends when its
standard input is closed. The operating system closes that when the starting process ends, even if it is killed, so no worker is
left behind.

What visitors type is held in memory only; none of it is printed or written to a file.
"""

import json
import logging
import os
import pickle
import sys
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from threading import Thread

from classroom import Classrooms
from engine import classrooms
from engine.errors import EngineError
from engine.progress import CLASSROOMS, PREPARE, WATCH
from engine.shelf import Shelf
from engine.versions import ModelKey, Question

LOOK_AGAIN = 2.0  # seconds after which a watcher that has gone is noticed
_ROOMS = Classrooms()  # of the page processes that share this worker


def main() -> None:
    sys.path.append(os.getcwd())  # where a model of one's own may lie
    orders = json.loads(sys.stdin.readline())
    address = orders["address"]
    listener = Listener(
        address if isinstance(address, str) else tuple(address), backlog=128
    )  # JSON has no tuples
    secret = bytes.fromhex(orders["secret"])
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # TensorFlow warns of functions that are traced for several models in turn, which is intended here.
    logging.getLogger("tensorflow").setLevel(logging.ERROR)
    shelf = Shelf(orders["models_in_memory"], orders["questions"], orders["ahead"])
    Thread(target=_accept, args=(listener, secret, shelf), daemon=True).start()
    with suppress(BrokenPipeError):  # the starting process has gone meanwhile
        print(json.dumps(listener.address), flush=True)
    os.dup2(2, 1)  # the line was all; whatever a library prints from here on goes to standard error
    for key in orders["models"]:
        Thread(target=_preload, args=(shelf, ModelKey(*key)), daemon=True).start()
    sys.stdin.read()
    if isinstance(listener.address, str) and os.path.exists(listener.address):
        os.unlink(listener.address)
        with suppress(OSError):  # the folder of workers that are shared holds more
            os.rmdir(os.path.dirname(listener.address))
    # At once: Python would wait for threads, or end them inside TensorFlow, which then aborts the process.
    os._exit(0)


def _preload(shelf: Shelf, key: ModelKey) -> None:
    try:
        shelf.desk(key)
    except Exception:  # noqa: BLE001  whoever asks about this model gets the error
        return


def _accept(listener: Listener, secret: bytes, shelf: Shelf) -> None:
    while True:
        try:
            connection = listener.accept()
        except OSError:  # gone already
            continue
        Thread(target=_serve, args=(connection, secret, shelf), daemon=True).start()


def _serve(connection: Connection, secret: bytes, shelf: Shelf) -> None:
    with connection:
        try:
            # Not in ``accept``: there somebody who connects and says nothing would hold up all others.
            deliver_challenge(connection, secret)
            answer_challenge(connection, secret)
            while (question := connection.recv()) != WATCH:
                connection.send_bytes(_answer(question, shelf))
            _tell(connection, shelf)
        except (AuthenticationError, EOFError, OSError):  # without the secret, or gone
            return


def _answer(question: Question, shelf: Shelf) -> bytes:
    """Pickled (True, the answer) or (False, the exception)."""
    try:
        key, kind, arguments = question
        if kind == PREPARE:
            return pickle.dumps((True, shelf.begin(key)))
        if kind == CLASSROOMS:
            return pickle.dumps((True, classrooms.answer(_ROOMS, arguments)))
        return pickle.dumps((True, shelf.ask(key, kind, arguments)), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # noqa: BLE001  whoever asked gets it
        try:
            pickle.loads(answer := pickle.dumps((False, error)))
        except Exception:  # noqa: BLE001  some exceptions cannot travel
            answer = pickle.dumps((False, EngineError(f"{type(error).__name__} in the worker")))
        return answer


def _tell(connection: Connection, shelf: Shelf) -> None:
    known = None
    while not connection.poll():  # a watcher says nothing more, so this is its end
        progress = shelf.progress(known, LOOK_AGAIN)
        if progress != known:
            connection.send(progress)
            known = progress


if __name__ == "__main__":
    main()
