"""Command line of ``python -m training``: ``train``, ``average``, ``evaluate`` and others."""

from importlib import import_module
from typing import Any

import click

# Where each command lives. A command is imported only when it is run: training needs a few seconds to
# load its network library, and evaluating a file of pairs should not wait for that.
COMMANDS = {
    "train": ("training.run.train", "train"),
    "average": ("training.run.record", "average"),
    "evaluate": ("training.measure.evaluate", "evaluate_command"),
    "confidence": ("training.measure.confidence", "confidence_command"),
    "hold-out": ("training.corpus.selection", "hold_out_command"),
    "pack": ("training.run.pack", "pack_command"),
    "recipe": ("training.run.pack", "recipe_command"),
    "sets": ("training.measure.sets", "sets"),
    "intact": ("training.intact.samples", "intact_command"),
    "heard": ("training.measure.heard", "heard_command"),
    "development": ("training.measure.sets", "development"),
    "pairs": ("training.measure.sets", "pairs"),
    "natural": ("training.measure.natural", "natural"),
    "unseen": ("training.measure.natural", "unseen"),
    "verdicts": ("training.measure.natural", "verdicts"),
    "agreement": ("training.measure.studies", "agreement_command"),
    "claims": ("training.measure.studies", "claims_command"),
    "stories": ("training.measure.studies", "stories"),
    "editing": ("training.measure.editing", "editing"),
    "editing-pairs": ("training.measure.editing", "editing_pairs"),
    "lesson": ("training.measure.lesson", "lesson_command"),
    "snapshots": ("training.measure.evaluate", "snapshots"),
    "ship": ("training.ship.command", "ship"),
    "documents": ("training.documents.render", "documents_command"),
}


class LazyGroup(click.Group):
    """A click group that imports a command's module on first use; ``places`` holds (module, attribute) by
    name.
    """

    def __init__(self, places: dict[str, tuple[str, str]], **named: Any):
        super().__init__(**named)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._places)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the names alone: for a line about each command all of them would have to be imported."""
        with formatter.section("Commands (COMMAND --help says more)"):
            formatter.write_text(", ".join(self._places))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return None
        module, attribute = self._places[cmd_name]
        return getattr(import_module(module), attribute)


main = LazyGroup(COMMANDS, name="training", help="Train a correction model, or measure one.")


if __name__ == "__main__":  # background processes import this module again, and must not start over
    main(prog_name="python -m training")
