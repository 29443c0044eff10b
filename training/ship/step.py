"""``Step`` of the release pipeline: inputs, outputs and commands; ``Journal``: the steps that are done."""

import ast
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from model.stored.folder import write_atomically

# Stands for the interpreter that runs ``ship``, so that a command reads as one would type it.
PYTHON = "python"


@dataclass(frozen=True)
class Step:
    """One step; ``steps_of`` in ``training/ship/steps.py`` has all of them.

    >>> outputs, commands = (Path("words.csv"),), ((PYTHON, "count.py"),)
    >>> count = Step("words", "count the words", inputs=(), outputs=outputs, commands=commands)
    >>> count.name, count.missing()
    ('words', [])
    """

    name: str
    purpose: str  # half a line
    inputs: tuple[Path, ...]  # files, and folders with all that is in them
    outputs: tuple[Path, ...]
    commands: tuple[tuple[str, ...], ...]  # run one after the other in the repository's folder
    once: bool = False  # it keeps files that later steps overwrite, so it must not be repeated afterwards

    def fingerprint(self) -> str:
        """A key that changes when a command or the content of an input changes.

        >>> len(Step("a", "", (), (), ()).fingerprint())
        12
        """
        key = json.dumps([self.commands, [digest(path) for path in self.inputs]])
        return hashlib.sha256(key.encode()).hexdigest()[:12]

    def missing(self) -> list[Path]:
        """The inputs that are not there.

        >>> Step("a", "", (Path("no such file"),), (), ()).missing()
        [PosixPath('no such file')]
        """
        return [path for path in self.inputs if not path.exists()]


def digest(path: Path) -> str | None:
    """12 digits for the content of a file, or of all files in a folder; None where there is neither.

    Content and not the time of change decides: git gives every file of a checkout a new time. Of Python files
    only the code counts, so that a better docstring asks for no new measurement.

    >>> digest(Path("no such file")) is None
    True
    """
    if not path.exists():
        return None
    found = hashlib.sha256()
    for file in _files(path):
        found.update(f"{file.relative_to(path)}\0".encode())
        if file.suffix == ".py":
            found.update(_code(file.read_text("utf-8")))
        else:
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return found.hexdigest()[:12]


@lru_cache(maxsize=1024)  # steps read the same files, and a step's are read again when it is done
def _code(text: str) -> bytes:
    """The code of a Python file: its syntax tree, which has no comments, and no docstrings here."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            del node.body[0]
    return ast.dump(tree).encode()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


class Journal:
    """The steps that are done, with digests of their inputs and outputs: ``ship.json`` beside a run."""

    def __init__(self, path: Path):
        self.path = path
        self._done: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def is_done(self, step: Step) -> bool:
        """Whether the step was made by these commands from these inputs, and its outputs are unchanged.

        >>> Journal(Path("no such file")).is_done(Step("a", "", (), (), ()))
        False
        """
        entry = self._done.get(step.name)
        if entry is None:
            return False
        if step.once:
            return True
        return entry["made_from"] == step.fingerprint() and entry["left"] == _left(step)

    def record(self, step: Step, seconds: float) -> None:
        """Note that the step was made, in so many seconds.

        Raises OSError where the journal cannot be written.
        """
        self._done[step.name] = {
            "made_from": step.fingerprint(),
            "left": _left(step),
            "seconds": round(seconds, 1),
        }
        text = json.dumps(self._done, indent=1) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, lambda file: file.write(text.encode()))

    def seconds(self, step: Step) -> float | None:
        """How long the step took when it was made last. In seconds; None for a step that was never made."""
        return self._done.get(step.name, {}).get("seconds")


def _left(step: Step) -> list[str | None]:
    return [digest(path) for path in step.outputs]
