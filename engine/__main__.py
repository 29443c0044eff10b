"""Command ``python -m engine FOLDER``: start workers that several page processes share."""

import signal
from functools import partial
from pathlib import Path
from threading import Event

import click

from engine.client import MODELS_IN_MEMORY, MOST_QUESTIONS, Engine, model_key, own_model, works_ahead
from engine.links import Link
from engine.worker_process import Orders, WorkerProcess, prepare_folder
from model.stored.folder import DEFAULT_MODEL, ModelFolderError, find_model_folder


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--model", "models", multiple=True, default=(own_model() or DEFAULT_MODEL,), show_default=True)
@click.option("--questions", type=click.IntRange(min=1), default=MOST_QUESTIONS, show_default=True)
def main(folder: Path, workers: int, models: tuple[str, ...], questions: int) -> None:
    """Answer until Ctrl-C or SIGTERM. Pages find the workers with ATTENTION_ENGINE=FOLDER.

    --questions is how many may wait for one model of one worker; the next gets the answer that the server is
    busy.
    """
    try:
        keys = tuple(
            model_key(model if model == own_model() else find_model_folder(model)) for model in models
        )
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    orders = Orders(keys, max(MODELS_IN_MEMORY, len(keys)), questions, works_ahead())
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    places = prepare_folder(folder, workers)
    starts = [partial(WorkerProcess, orders._replace(socket=each.address), each.secret) for each in places]
    with Engine([Link(start) for start in starts]):
        click.echo(f"{workers} workers answer in {folder}")
        ended.wait()


if __name__ == "__main__":
    main(prog_name="python -m engine")
