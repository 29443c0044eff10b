"""Finds the workers that several page processes of one machine share.

Their sockets and the secret to speak with them lie in one folder that only its owner may enter:
``secret`` and ``0.sock``, ``1.sock``, … Needs Unix sockets.
"""

import secrets
from pathlib import Path
from typing import NamedTuple

from engine.errors import EngineDiedError

_SECRET = "secret"


class SharedWorker(NamedTuple):
    """A worker that somebody else runs."""

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
