"""Loss, speed and time left of a running training, on standard error."""

import time
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

PRINT_SECONDS = 30  # how often a line is written where the output is no terminal


class ProgressLine:
    """A live bar on a terminal, else a plain line now and then. Use as a context manager."""

    def __init__(self, total_steps: int, first_step: int):
        self.console = Console(stderr=True)
        self.total, self.first = total_steps, first_step
        self.started = self.printed = time.monotonic()
        self.first_pairs = None
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=self.console, disable=not self.console.is_terminal)
        self.task = self.bar.add_task("", total=total_steps, completed=first_step)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_) -> None:
        self.bar.stop()

    def show(self, progress, mean_loss: float) -> None:
        """Take the state after a step: ``training.run.checkpoint.RunState`` and the running mean loss."""
        now = time.monotonic()
        if self.first_pairs is None:
            self.first_pairs, self.started = progress.pairs, now
        elapsed = max(now - self.started, 1e-6)
        speed = (progress.pairs - self.first_pairs) / elapsed
        text = f"loss {mean_loss:.3f} · {speed:,.0f} pairs/s"
        self.bar.update(self.task, completed=progress.step, description=text)
        if not self.console.is_terminal and (
            now - self.printed >= PRINT_SECONDS or progress.step == self.total
        ):
            self.printed = now
            left = elapsed / max(progress.step - self.first - 1, 1) * (self.total - progress.step)
            self.console.print(
                f"step {progress.step:,}/{self.total:,} · {text} · {left / 60:.0f} min left", highlight=False
            )
