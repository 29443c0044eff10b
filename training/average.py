"""``python -m training average``: one model of two, one of which was trained on from the other."""

import shlex
from pathlib import Path

import click

from model.folder import ModelFolderError, build_network, save_model_folder
from training.record import Record, hardware
from training.settings import Origin


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
        one, other = Origin.load(first), Origin.load(second)
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    if one.config != other.config or one.tokenizer.characters != other.tokenizer.characters:
        raise click.UsageError(f"{first} and {second} differ in shape or vocabulary")
    network = build_network(one.config, one.tokenizer)
    pairs = zip(one.weights, other.weights, strict=True)
    network.set_weights([(1 - share) * a + share * b for a, b in pairs])
    save_model_folder(Path(out), network, one.tokenizer)
    names = [origin.name.rpartition(" ")[0] for origin in (one, other)]  # the fingerprint follows
    arguments = shlex.join([*names, "--share", str(share), "--out", Path(out).name])
    record = Record(Path(out), other.past)
    record.open_history(0)
    record.write_run(
        {
            "command": f"python -m training average {arguments}",
            "hardware": hardware(),
            "taken": {"steps": 0, "pairs": 0, "tokens": 0, "seconds": 0},
            "network": one.config.to_dict(),
            "init": other.name,
            "averaged_with": one.name,
            "share": share,
        }
    )
    click.echo(out)
