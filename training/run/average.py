"""``python -m training average``: makes one model by averaging the weights of several that were trained from the same start."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from model.network.loading import build_network
from model.stored.folder import ModelFolderError, find_model_folder, save_model_folder, snapshot_steps
from training.run.origin import Origin
from training.run.record import Record, hardware


@click.command("average")
@click.argument("models", nargs=-1, required=True)
@click.option("--out", required=True, type=click.Path(file_okay=False), help="The new model's folder.")
@click.option(
    "--share",
    default=0.5,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Of two models: of the second in each of the new weights; the rest is the first.",
)
@click.option("--last", type=click.IntRange(min=2), help="Of one model: its last so many snapshots.")
def command(models, out, share, last):
    """Average the weights of MODELS, where the later ones were trained on from the earlier, into a new model.

    Between such weights the loss often has no hill, and a point between them may correct better than each of them (Wortsman et
    al. 2022, "Robust fine-tuning of zero-shot models"). The mean of many late weights of one run works like a lower learning rate
    (Izmailov et al. 2018). The new model keeps the record of the last one, with this step added. Three or more models, and snapshots,
    count equally.
    """
    if last is None and len(models) < 2 or last is not None and len(models) != 1:
        raise click.UsageError("give two models or more, or one model and --last")
    try:
        origins = _snapshots(models[0], last) if last else [Origin.load(model) for model in models]
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    end = origins[-1]
    for model, origin in zip(models, origins, strict=False):
        if origin.config != end.config or origin.tokenizer.characters != end.tokenizer.characters:
            raise click.UsageError(f"{model} and {models[-1]} differ in shape or vocabulary")
    shares = [1 - share, share] if len(models) == 2 else [1 / len(origins)] * len(origins)
    network = build_network(end.config, end.tokenizer)
    end._replace(weights=_mean([origin.weights for origin in origins], shares)).put_into(network)
    save_model_folder(Path(out), network, end.tokenizer)
    names = [origin.name.rpartition(" ")[0] for origin in origins][: len(models)]  # the fingerprint follows
    options = ["--last", str(last)] if last else ["--share", str(share)] if len(models) == 2 else []
    record = Record(Path(out), end.past)
    record.open_history(0)
    record.write_run(
        {
            "command": f"python -m training average {shlex.join([*names, *options, '--out', Path(out).name])}",
            "hardware": hardware(),
            "taken": {"steps": 0, "pairs": 0, "tokens": 0, "seconds": 0},
            "network": end.config.to_dict(),
            "init": end.name,
            "averaged_with": origins[0].name if len(models) == 2 else [each.name for each in origins[:-1]],
            "share": shares[-1],
        }
    )
    click.echo(out)


def _snapshots(model: str, last: int) -> list[Origin]:
    steps = snapshot_steps(find_model_folder(model))
    if len(steps) < last:
        raise ModelFolderError(f"{model} keeps {len(steps)} snapshots, {last} are asked for")
    return [Origin.load(model, step) for step in steps[-last:]]


def _mean(sets: list[Mapping[str, np.ndarray]], shares: list[float]) -> dict[str, np.ndarray]:
    """The weighted mean of several sets of arrays, array by array; ``shares`` are the weights."""
    return {
        name: np.asarray(sum(share * weights[name] for share, weights in zip(shares, sets, strict=True)))
        for name in sets[-1]
    }
