"""Reader of the tests' example files: a text and its result in each line, by section."""

import re
from collections.abc import Iterator
from pathlib import Path


def examples(path: Path) -> Iterator[tuple[str, str, str]]:
    """(section, text, result) of each line; a line without an arrow stays as it is.

    A section begins with its name in brackets, ``[liaison]``. Lines with ``# `` are comments.
    """
    section = ""
    for line in path.read_text("utf-8").splitlines():
        if re.fullmatch(r"\[[^\[\]]+\]", line):
            section = line.strip("[]")
        elif line and not line.startswith("# "):
            text, _, becomes = line.partition(" → ")
            yield section, text, becomes or text
