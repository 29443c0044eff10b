"""``python -m training train``, ``average``, ``evaluate`` and the other commands."""

from importlib import import_module

import click

# Where each command lives. A command is imported only when it is asked for: training needs a few seconds to
# load its network library, and evaluating a file of pairs should not wait for that.
COMMANDS = {
    "train": ("training.run.train", "train"),
    "average": ("training.run.average", "command"),
    "evaluate": ("training.measure.evaluate", "command"),
    "confidence": ("training.measure.confidence", "command"),
    "hold-out": ("training.corpus.hold_out", "command"),
    "pack": ("training.run.pack", "command"),
    "recipe": ("training.run.recipe", "command"),
    "sets": ("training.measure.sets", "command"),
    "intact": ("training.intact.command", "command"),
    "heard": ("training.measure.heard", "command"),
    "snapshots": ("training.measure.snapshots", "command"),
    "ship": ("training.ship.command", "command"),
    "documents": ("training.documents.command", "command"),
}


class LazyGroup(click.Group):
    """A click group that imports a command's module on first use."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute = COMMANDS[name]
        return getattr(import_module(module), attribute)


@click.group(cls=LazyGroup)
def main() -> None:
    """Train a correction model, or measure one."""


if __name__ == "__main__":  # background processes import this module again, and must not start over
    main(prog_name="python -m training")
