"""Standard input as a command reads it: line by line, as the lines come."""

import sys
from collections.abc import Iterator
from queue import Queue
from threading import Thread

from model.correction.corrector import KEPT_CHARACTERS
from model.correction.mending import BATCH_SENTENCES


def input_lines() -> Iterator[str]:
    """Each line as text: UTF-8, or the Korean code page if the first Hangul is written in that."""
    # Only "\n" ends a line: whatever else a line holds (form feeds, U+2028), it stays one line.
    is_cp949 = None  # decided by the first line with a letter beyond ASCII
    for line in sys.stdin:
        if is_cp949 is None and not line.isascii():
            is_cp949 = _in_cp949(line) is not None
        yield ((_in_cp949(line) if is_cp949 else None) or line).removesuffix("\n")


def _in_cp949(line: str) -> str | None:
    """The line whose bytes were no UTF-8, read in the Korean code page; None where they are none of that either."""
    if not any("\udc80" <= character <= "\udcff" for character in line):
        return None
    try:
        return line.encode("utf-8", "surrogateescape").decode("cp949")
    except UnicodeDecodeError:
        return None


def waiting(lines: Iterator[str]) -> Iterator[list[str]]:
    """The lines that came while those before them were answered. So a program that waits for each answer gets it at once,
    and the lines of a file are corrected many together: at most ``BATCH_SENTENCES``, and no more than ``KEPT_CHARACTERS`` but
    for the last of them, since beyond that the passes, which hold the attention, are not kept."""
    come: Queue[str | None] = Queue(2 * BATCH_SENTENCES)

    def read() -> None:
        try:
            for line in lines:
                come.put(line)
        finally:
            come.put(None)

    Thread(target=read, daemon=True).start()
    batch: list[str] = []
    while (line := come.get()) is not None:
        batch.append(line)
        if come.empty() or len(batch) == BATCH_SENTENCES or sum(map(len, batch)) >= KEPT_CHARACTERS:
            yield batch
            batch = []
    yield batch
