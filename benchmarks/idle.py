"""When a machine has nothing else to do."""

import time
from pathlib import Path


def wait_until_idle(share: float = 0.9, seconds: float = 3.0, patience: float = 300.0) -> None:
    """Until the processors have been idle for ``share`` of some ``seconds``: a worker compiles lengths and makes the
    laboratory's graphs for a minute or two. Raises TimeoutError on a machine with other work."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        before = _processor_times()
        time.sleep(seconds)
        spent = [now - then for now, then in zip(_processor_times(), before, strict=True)]
        if spent[3] > share * sum(spent):
            return
    raise TimeoutError("the processors have other work")


def _processor_times() -> list[int]:
    """User, nice, system, idle and further times of all processors, as proc(5) counts them."""
    line = Path("/proc/stat").read_text("ascii").splitlines()[0]
    return [int(part) for part in line.split()[1:]]
