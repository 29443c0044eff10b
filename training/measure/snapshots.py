"""``python -m training snapshots``: how well each snapshot of a run corrects, as one table beside them."""

import csv
import io
from pathlib import Path

import click

from model.stored.folder import find_model_folder, snapshot_steps, write_atomically
from training.measure.evaluate import evaluate, load_corrector, open_corpus, sample_pairs
from training.run.record import read_history

TABLE_FILE = "snapshots.csv"
FROM_HISTORY = ("pairs", "loss")
SCORES = ("exact_match", "cer_after", "f0.5", "clean_untouched")
COLUMNS = ("step", *FROM_HISTORY, *SCORES)


def history_at(rows: list[dict[str, str]], step: int) -> dict[str, str]:
    """Pairs and running loss of the last row of a history that is not later than ``step``; empty before it."""
    earlier = [row for row in rows if int(row["step"]) <= step]
    return {name: earlier[-1][name] if earlier else "" for name in FROM_HISTORY}


@click.command("snapshots")
@click.argument("model")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(min=1), default=400, show_default=True, help="Rows of FILE.")
@click.option("--seed", default=0, show_default=True)
def command(model, file, limit, seed):
    """Measure every snapshot of MODEL on FILE, and write snapshots.csv into its folder.

    All changes count, however unsure: a young network would otherwise seem to do nothing.
    """
    folder = find_model_folder(model)
    pairs = sample_pairs(open_corpus(file), seed, limit)
    history = read_history(folder)
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, COLUMNS)
    writer.writeheader()
    for step in snapshot_steps(folder):
        scores = evaluate(load_corrector(folder, 0.0, step), pairs).total.as_json()
        row = {"step": step, **history_at(history, step), **{name: scores[name] for name in SCORES}}
        writer.writerow(row)
        click.echo(", ".join(f"{name} {value}" for name, value in row.items()))
    write_atomically(folder / TABLE_FILE, lambda out: out.write(buffer.getvalue().encode()))
