"""``python -m training average``: one model of two, one of which was trained on from the other."""

import shlex
from dataclasses import replace
from pathlib import Path

import click

from model.folder import (
    ModelFolderError,
    build_network,
    find_model_folder,
    load_model_folder,
    model_name,
    save_model_folder,
)
from training.record import Past, Record, hardware


@click.command("average")
@click.argument("first")
@click.argument("second")
@click.option("--out", required=True, type=click.Path(file_okay=False), help="The new model's folder.")
@click.option(
    "--share",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Of SECOND in each of the new weights; the rest is FIRST.",
)
def command(first, second, out, share):
    """Average the weights of FIRST and of SECOND, which was trained on from it, into a new model.

    There is often no hill of the loss between such weights, and what lies between them may correct better than
    both (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). The record is SECOND's, and this step.
    """
    try:
        folders = [find_model_folder(model) for model in (first, second)]
        (one, tokenizer, one_is), (other, other_tokenizer, other_is) = map(load_model_folder, folders)
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    config = replace(one.config, minimum_confidence=0.0)  # chosen anew once the weights are known
    if config != replace(other.config, minimum_confidence=0.0) or (
        tokenizer.characters != other_tokenizer.characters
    ):
        raise click.UsageError(f"{first} and {second} differ in shape or vocabulary")
    network = build_network(config, tokenizer)
    pairs = zip(one.get_weights(), other.get_weights(), strict=True)
    network.set_weights([(1 - share) * a + share * b for a, b in pairs])
    save_model_folder(Path(out), network, tokenizer)
    names = [model_name(folder) for folder in folders]
    arguments = shlex.join([*names, "--share", str(share), "--out", Path(out).name])
    record = Record(Path(out), Past.read(folders[1]))
    record.open_history(0)
    record.write_run(
        {
            "command": f"python -m training average {arguments}",
            "hardware": hardware(),
            "taken": {"steps": 0, "pairs": 0, "tokens": 0, "seconds": 0},
            "network": config.to_dict(),
            "init": f"{names[1]} {other_is}",
            "averaged_with": f"{names[0]} {one_is}",
            "share": share,
        }
    )
    click.echo(out)
