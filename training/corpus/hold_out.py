"""``python -m training hold-out``: keeps a part of a corpus away from training, whole documents where the file allows it."""

import json
from collections import defaultdict
from operator import methodcaller
from pathlib import Path

import click

from model.stored.folder import write_atomically
from training.corpus.corpus import CorpusError

ONE_IN = 25


def held_lines(lines: list[str], one_in: int) -> set[int]:
    """The numbers, from 0, of the last ``1/one_in`` of the rows of each source.

    Where a source's documents follow one another in the file, whole documents are held out, but for one that may be cut.
    Raises CorpusError for a line that is no JSON object.
    """
    rows = defaultdict(list)
    for number, line in enumerate(lines):
        rows[_source(number, line)].append(number)
    return {number for own in rows.values() for number in own[len(own) - len(own) // one_in :]}


def _source(number: int, line: str) -> str:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise CorpusError(f"line {number + 1} should be a JSON object")
    return str(row.get("source") or "")


@click.command("hold-out")
@click.argument("corpus", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--rest", required=True, type=click.Path(dir_okay=False, path_type=Path), help="To train on.")
@click.option("--held", required=True, type=click.Path(dir_okay=False, path_type=Path), help="To measure on.")
@click.option("--one-in", default=ONE_IN, show_default=True, type=click.IntRange(min=2))
def command(corpus, rest, held, one_in):
    """Divide CORPUS, JSON Lines with a source in each row, into two files; always in the same way."""
    with corpus.open(encoding="utf-8", newline="\n") as file:  # splitlines would end a line at U+2028, too
        lines = list(file)
    try:
        apart = held_lines(lines, one_in)
    except CorpusError as error:
        raise click.ClickException(f"{corpus}: {error}") from error
    for path, wanted in ((rest, False), (held, True)):
        text = "".join(line for number, line in enumerate(lines) if (number in apart) == wanted)
        write_atomically(path, methodcaller("write", text.encode()))
    click.echo(f"{len(lines) - len(apart):,} rows in {rest}, {len(apart):,} in {held}")
