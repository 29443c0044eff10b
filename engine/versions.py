"""Notices when the files of a model change, so that it is read again."""

import os
from pathlib import Path
from typing import NamedTuple

LIVE = "live"  # instead of the fingerprint of files, where a model has none


class ModelKey(NamedTuple):
    """One set of weights. ``path`` is the folder, ``snapshot`` a number of training steps or None, and
    ``fingerprint`` what ``model.stored.folder.fingerprint`` says of the files.

    Of a ``model.TracedModel``, ``path`` is the "package.module:factory" and ``fingerprint`` is LIVE."""

    path: str
    snapshot: int | None
    fingerprint: str


# The model, the kind (a name in ``engine.questions.QUESTIONS``) and the arguments, as it goes to a worker.
Question = tuple[ModelKey, str, tuple]


def version_on_disk(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """(name, time of change in ns, size in bytes) of a model's files; none where there is no folder.

    Tables are left out: a training that is going on adds to its history every few seconds.

    >>> version_on_disk(Path("no such folder"))
    ()
    """
    try:
        with os.scandir(folder) as found:
            files = [
                (each.name, each.stat())
                for each in found
                if each.name[0] != "." and not each.name.endswith(".csv")
            ]
        return tuple(sorted((name, told.st_mtime_ns, told.st_size) for name, told in files))
    except OSError:
        return ()
