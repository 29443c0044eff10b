"""``python -m training train``, ``average``, ``evaluate`` and the other commands."""

from importlib import import_module

import click

# Where each command lives. It is imported when it is asked for, because training needs a few seconds to
# load its network library and evaluating a file of pairs should not depend on it.
COMMANDS = {
    "train": ("training.train", "train"),
    "average": ("training.average", "command"),
    "evaluate": ("training.evaluate", "command"),
    "confidence": ("training.confidence", "command"),
    "hold-out": ("training.hold_out", "command"),
    "pack": ("training.pack", "command"),
    "recipe": ("training.recipe", "command"),
    "sets": ("training.sets", "command"),
    "intact": ("training.intact.command", "command"),
    "snapshots": ("training.snapshots", "command"),
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
