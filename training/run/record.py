"""Record of a run beside its weights, the model it starts from, and the average of models.

``run.json`` says how a model was trained, ``history.csv`` how it went. A run that starts from another model
continues that model's record, so the files beside a shipped model tell everything since the first step from
nothing. ``Origin`` is the model that a run starts from; a larger network can begin as the same function.

``python -m training average`` makes one model by averaging the weights of several that were trained from the
same start.
"""

import csv
import json
import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from model.stored.config import NetworkConfig, TransformerConfig
from model.stored.folder import (
    ModelFolderError,
    find_model_folder,
    fingerprint,
    model_name,
    read_description,
    read_weights,
    save_model_folder,
    snapshot_steps,
    weights_path,
    write_atomically,
)
from model.text.tokenizer import Tokenizer
from training.corpus.corpus import write_table
from training.options import FOLDER, SHARE, command

RUN_FILE, HISTORY_FILE = "run.json", "history.csv"
COLUMNS = ("step", "loss", "learning_rate", "dev_loss", "dev_token_accuracy", "pairs", "seconds")
CUMULATIVE = ("step", "pairs", "seconds")


def hardware() -> dict[str, Any]:
    """Processor and library versions of this process; nothing that names the machine itself."""
    import keras

    return {
        "processor": platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "keras": version("keras"),
        "backend": keras.backend.backend(),
    }


def read_history(folder: Path) -> list[dict[str, str]]:
    """The rows of a model's ``history.csv``; none where it has no such file."""
    path = folder / HISTORY_FILE
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_runs(folder: Path) -> list[dict[str, Any]]:
    """The trainings a model went through, the first one first; none where they are not known.

    Each with "taken": steps, pairs, tokens and seconds.
    """
    path = folder / RUN_FILE
    return json.loads(path.read_text("utf-8"))["runs"] if path.exists() else []


@dataclass(frozen=True)
class Past:
    """The record of the model a run starts from."""

    runs: tuple[dict[str, Any], ...] = ()
    rows: tuple[dict[str, str], ...] = ()

    @classmethod
    def read(cls, folder: Path) -> "Past":
        """The record up to the model's weights.

        Later rows are left out, because a run writes rows more often than weights.
        """
        runs, rows = read_runs(folder), read_history(folder)
        steps = sum(run["taken"]["steps"] for run in runs)
        return cls(tuple(runs), tuple(row for row in rows if int(row["step"]) <= steps))

    def total(self, column: str) -> float:
        """How many steps, pairs or seconds had passed before."""
        return float(self.rows[-1][column]) if self.rows else 0.0


class Record:
    """Writes the two files of one run. Its own steps, pairs and seconds count from where ``past`` ended."""

    def __init__(self, folder: Path, past: Past):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.past = folder, past

    def write_run(self, run: dict[str, Any]) -> None:
        """``run``: plain data that describes this run. Raises OSError where the folder cannot be written."""
        text = json.dumps({"runs": [*self.past.runs, run]}, indent=2, ensure_ascii=False) + "\n"
        write_atomically(self.folder / RUN_FILE, lambda file: file.write(text.encode()))

    def open_history(self, step: int) -> None:
        """Keep the rows up to this run's ``step``: later ones are about to be repeated.

        Raises OSError where the folder cannot be written.
        """
        limit = self.past.total("step") + step
        begun = read_history(self.folder) or list(self.past.rows)
        kept = [row for row in begun if int(row["step"]) <= limit]
        rows = ([row.get(name, "") for name in COLUMNS] for row in kept)
        write_table(self.folder / HISTORY_FILE, [COLUMNS, *rows])

    def add(self, **row: Any) -> None:
        """One row of ``COLUMNS``, counted within this run. Losses in nats, time in seconds."""
        for column in CUMULATIVE:
            row[column] += type(row[column])(self.past.total(column))
        with open(self.folder / HISTORY_FILE, "a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS).writerow(row)


# The last layer of each sub-layer: where its kernel is zero, the sub-layer adds nothing to the residual
# stream.
_WAY_OUT = "output/kernel"


class Origin(NamedTuple):
    """The model a run starts from. Reading it loads no network library."""

    name: str
    config: NetworkConfig
    tokenizer: Tokenizer
    weights: Mapping[str, np.ndarray]  # by the path of their variable
    past: Past

    @classmethod
    def load(cls, model: str, snapshot: int | None = None) -> "Origin":
        """From a model's name in ``assets/`` or its folder; with the weights of a ``snapshot`` that it keeps.

        Raises ModelFolderError.
        """
        folder: Path = find_model_folder(model)
        path = weights_path(folder, snapshot)
        found = fingerprint(folder, path)
        config, tokenizer = read_description(folder)
        config = replace(config, minimum_confidence=0.0)  # chosen anew once the weights are known
        weights = {name: array.astype(np.float32) for name, array in read_weights(path).items()}
        return cls(f"{model_name(folder)} {found}", config, tokenizer, weights, Past.read(folder))

    def grown(self, **sizes: int) -> "Origin":
        """The same origin for a network with more feed-forward units (``dff``) or more layers on each side
        (``num_layers``). Raises ValueError for fewer than it has, and if the larger network could not begin
        as the same function.
        """
        for size, wanted in sizes.items():
            if self.config.architecture != "transformer" or wanted < getattr(self.config, size):
                raise ValueError(
                    f"{size} should be at least that of the model to start from,"
                    f" received {wanted}: {self.config}"
                )
        deeper = sizes.get("num_layers", self.config.num_layers) > self.config.num_layers
        if deeper and not (isinstance(self.config, TransformerConfig) and self.config.norm_first):
            raise ValueError("layers can be added only where each normalises first (norm_first)")
        return self._replace(config=replace(self.config, **sizes))

    def put_into(self, network: Any) -> None:
        """Give a built network these weights; where it is larger it computes the same function at first.

        New hidden units keep the weights they were built with on their way in and get zeros on their way out,
        so they change nothing until they are trained (after Chen, Goodfellow and Shlens 2016, Net2Net). So do
        the sub-layers of an added layer: each adds its output, which is zero, to its input. Raises
        ModelFolderError for weights of another network.
        """
        variables = {variable.path: variable for variable in network.weights}
        own_layers = {path.split("/")[1] for path in self.weights}
        expected = {path for path in variables if path.split("/")[1] in own_layers}
        if odd := sorted(set(self.weights) ^ expected):
            raise ModelFolderError(
                f"{self.name} belongs to another network: {odd[0]!r} is only in one of them"
            )
        for path, variable in variables.items():
            begun, weights = np.asarray(variable.value).copy(), self.weights.get(path)
            if weights is not None:
                if any(have > room for have, room in zip(weights.shape, begun.shape, strict=True)):
                    raise ModelFolderError(
                        f"{self.name}: {path} is {weights.shape}, at most {begun.shape} fit"
                    )
                begun[len(weights) :] = 0  # rows that the origin lacks: the way out of a new unit
                begun[tuple(slice(size) for size in weights.shape)] = weights
            elif path.endswith(_WAY_OUT):
                begun[:] = 0
            variable.assign(begun)


def add_graph(folder: Path) -> None:
    """Write the graph of a model folder, where ``onnx`` is installed; without one the folder's model answers
    in Keras. ``python -m model export FOLDER`` adds it later.

    Raises ModelFolderError where the folder holds no model.
    """
    if find_spec("onnx") is not None:
        from model.export.graphs import write_graph

        write_graph(folder)


@command("average")
@click.argument("models", nargs=-1, required=True)
@click.option("--out", required=True, type=FOLDER, help="The new model's folder.")
@click.option(
    "--share",
    default=0.5,
    show_default=True,
    type=SHARE,
    help="Of two models: of the second in each of the new weights; the rest is the first.",
)
@click.option("--last", type=click.IntRange(min=2), help="Of one model: its last so many snapshots.")
def average(models: tuple[str, ...], out: Path, share: float, last: int | None) -> None:
    """Average the weights of MODELS, where the later ones were trained on from the earlier, into a new model.

    Between such weights the loss often has no hill, and a point between them may correct better than each of
    them (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). The mean of many late weights of
    one run works like a lower learning rate (Izmailov et al. 2018). The new model keeps the record of the
    last one, with this step added. Three or more models, and snapshots, count equally.
    """
    if last is None and len(models) < 2 or last is not None and len(models) != 1:
        raise click.UsageError("give two models or more, or one model and --last")
    origins = _snapshots(models[0], last) if last else [Origin.load(model) for model in models]
    end = origins[-1]
    for model, origin in zip(models, origins, strict=False):
        if origin.config != end.config or origin.tokenizer.characters != end.tokenizer.characters:
            raise click.UsageError(f"{model} and {models[-1]} differ in shape or vocabulary")
    shares = [1 - share, share] if len(models) == 2 else [1 / len(origins)] * len(origins)
    from model.network.networks import build_network  # loads a network library

    network = build_network(end.config, end.tokenizer)
    end._replace(weights=_mean([origin.weights for origin in origins], shares)).put_into(network)
    save_model_folder(out, network, end.tokenizer)
    add_graph(out)
    names = [origin.name.rpartition(" ")[0] for origin in origins][: len(models)]  # the fingerprint follows
    options = ["--last", str(last)] if last else ["--share", str(share)] if len(models) == 2 else []
    record = Record(out, end.past)
    record.open_history(0)
    record.write_run(
        {
            "command": f"python -m training average {shlex.join([*names, *options, '--out', out.name])}",
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
