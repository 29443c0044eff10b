"""Precision and recall of circuit discovery on networks with known circuits (InterpBench).

    python benchmarks/known_circuits.py train FOLDER
    python benchmarks/known_circuits.py measure FOLDER

``train`` trains the networks of ``known_networks.py`` (a minute or two each on one core) and continues where
it was stopped. ``measure`` draws pairs of texts with different answers, ablates nodes by their outputs in the
other text, and compares the nodes and edges that methods name with those of the program: precision and
recall of ``find_common_circuit``, and areas under the ROC curve, those of the search over several goals. For
estimates it also measures the distance from exact effects.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.known_networks import stream_of, train
from benchmarks.known_tasks import ASK, TASKS, Task, Texts
from model.analysis.ablation import AblationValues, Edge, corrupted_values, node_effects
from model.analysis.circuits import GOAL, Circuit, find_common_circuit
from model.analysis.contrasts import Edit
from model.analysis.effect_estimates import attribution_patching
from model.analysis.patching import CorruptedRun
from model.analysis.path_patching import circuit_edges
from model.analysis.statistics import ranks
from model.correction.answers import Network
from model.trace.interventions import Contrast, Node

PAIRS = 8
GOALS = 0.5, 0.7, 0.8, GOAL, 0.95  # of the searches whose members make a ROC curve
STEPS = 5  # of EAP-IG
SEEDS, TRAINED = 3, 0.05  # networks that are tried, until the loss in nats is lower than this
LEAST_EDGE = 0.1  # of the circuit's score, from which an edge counts
NAMES = "abcdefgh="


class Letters:
    """A tokenizer of one letter for each id."""

    def encode_source(self, text: str) -> list[int]:
        return [NAMES.index(each) for each in text]

    encode_target = encode_source

    def labels(self, ids: Sequence[int]) -> list[str]:
        return [NAMES[each] for each in ids]


@dataclass(frozen=True)
class Known:
    """A trained network as analyses read it."""

    patched: Any
    tokenizer: Letters


class Pair(NamedTuple):
    """A clean text with its question, and the corrupted one with another answer."""

    edit: Edit
    run: CorruptedRun


def pairs_of(task: Task, count: int = PAIRS) -> list[Pair]:
    """Random pairs (seed 1). Of yes and no the clean answer is yes."""
    rng, found = np.random.default_rng(1), list[Pair]()
    while len(found) < count:
        texts = task.texts(rng, 2)
        logits = task.logits(task.values(texts))
        answer, other = logits.argmax(axis=1).tolist()
        if answer == other or logits.max(axis=1).min() <= 0 or ("redundant" in task.name and answer == 0):
            continue
        source, corrupted = (_text(task, texts, row) for row in (0, 1))
        row = len(source[1])
        contrast = Contrast(row, answer, other, NAMES[answer], NAMES[other])
        edit = Edit(source[0], source[1] + NAMES[answer], contrast)
        places = tuple(range(len(source[0]))), tuple(range(row + 1))
        found.append(Pair(edit, CorruptedRun(edit, corrupted[0], corrupted[1] + NAMES[other], *places)))
    return found


def _text(task: Task, texts: Texts, row: int) -> tuple[str, str]:
    """A source or prompt, and the target before the answer."""
    read, before = ("".join(NAMES[each] for each in some[row]) for some in texts)
    return read + NAMES[ASK] * (task.asks and not task.has_encoder), before


def auroc(scores: Mapping[Any, float], true: Collection[Any]) -> float:
    """The area under the ROC curve: the chance that a true one has a higher score than another one.

    >>> auroc({"a": 0.9, "b": 0.1, "c": 0.5}, {"a"})
    1.0
    """
    places = ranks(np.array([*scores.values()]))
    chosen = np.array([each in true for each in scores])
    count = chosen.sum()
    return float((places[chosen].sum() - count * (count - 1) / 2) / (count * (~chosen).sum()))


def precision_and_recall(found: Collection[Any], true: Collection[Any]) -> tuple[float, float]:
    """Precision, NaN where ``found`` is empty, and recall.

    >>> precision_and_recall({1, 2}, {2, 3, 4, 5})
    (0.5, 0.25)
    """
    both = len({*found} & {*true})
    return both / len(found) if found else float("nan"), both / len(true)


Ends = tuple[Any, Any]


def mean_sizes(lists: Sequence[Sequence[Edge]]) -> dict[Ends, float]:
    """By sender and receiver, both nodes: the size of the mean effect over pairs, in nats."""
    sums: dict[Ends, float] = defaultdict(float)
    for edges in lists:
        for sender, receiver, nats in edges:
            if isinstance(sender, Node):
                sums[sender, receiver] += nats / len(lists)
    return {ends: abs(nats) for ends, nats in sums.items()}


class Measurement:
    """The numbers of one network; those without a further word are areas under the ROC curve."""

    def __init__(self, task: Task, arrays: Mapping[str, np.ndarray], pairs: Sequence[Pair]):
        self.task, self.known = task, cast(Network, Known(stream_of(task, arrays), Letters()))
        self.edits = [each.edit for each in pairs]
        walk, letters = self.known.patched, self.known.tokenizer
        self._values = {id(each.edit): corrupted_values(walk, letters, each.run) for each in pairs}
        self.effects = [node_effects(self.known, each, self.ablation(each)).total for each in self.edits]

    def ablation(self, edit: Edit) -> AblationValues:
        return self._values[id(edit)]

    def all(self) -> dict[str, float]:
        sizes = {"nodes": len(self.task.nodes), "known": len(self.task.circuit)}
        estimates = self.estimates("attribution patching", 1) | self.estimates("EAP-IG", STEPS)
        return sizes | self.search() | estimates

    def search(self) -> dict[str, float]:
        """Of ``find_common_circuit``, of its edges, and of exact effects."""
        task = self.task
        searches = [find_common_circuit(self.known, self.edits, goal, self.ablation) for goal in GOALS]
        circuit = searches[GOALS.index(GOAL)]
        members = {node: float(sum(node in each.members for each in searches)) for node in task.nodes}
        own, whole = self._edges(circuit), self._edges(replace(circuit, members=task.nodes))
        least = LEAST_EDGE * (circuit.score - circuit.empty)
        nodes = precision_and_recall(circuit.members, task.circuit)
        edges = precision_and_recall([ends for ends, nats in own.items() if nats >= least], task.edges)
        return {
            "precision": nodes[0],
            "recall": nodes[1],
            "search": auroc(members, task.circuit),
            "edges, precision": edges[0],
            "edges, recall": edges[1],
            "search, edges": auroc(dict.fromkeys(whole, 0.0) | own, task.edges),
            "exact": auroc(self._by_node(self.effects), task.circuit),
            "exact, edges": auroc(whole, task.edges),
        }

    def estimates(self, name: str, steps: int) -> dict[str, float]:
        """Of estimates by gradients, and the mean of their largest error in nats."""
        found = [attribution_patching(self.known, each, self.ablation(each), steps) for each in self.edits]
        totals = [each.total for each in found]
        return {
            name: auroc(self._by_node(totals), self.task.circuit),
            f"{name}, edges": auroc(mean_sizes([each.edges for each in found]), self.task.edges),
            f"{name}, error": float(np.abs(np.subtract(totals, self.effects)).max(axis=1).mean()),
        }

    def _by_node(self, effects: Sequence[np.ndarray]) -> dict[Node, float]:
        sizes = np.abs(np.mean(effects, axis=0)).tolist()
        return dict(zip(self.task.nodes, sizes, strict=True))

    def _edges(self, circuit: Circuit) -> dict[Ends, float]:
        found = [circuit_edges(self.known, each, circuit, self.ablation(each)) for each in self.edits]
        return mean_sizes([each.edges for each in found])


@click.group()
def main() -> None:
    """Networks that hold a known circuit, and the precision of the search for it."""


@main.command("train")
@click.argument("folder", type=click.Path(path_type=Path))
def train_command(folder: Path) -> None:
    """Train the networks that FOLDER lacks."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        if (path := folder / f"{task.name}.npz").exists():
            continue
        for seed in range(SEEDS):
            arrays, loss = train(task, seed)
            click.echo(f"{task.name}: {loss:.3f} nats")
            if loss < TRAINED:
                np.savez(path, loss=loss, **arrays)  # type: ignore[arg-type]
                break


@main.command("measure")
@click.argument("folder", type=click.Path(exists=True, path_type=Path))
def measure_command(folder: Path) -> None:
    """Print a row for each network, and the medians."""
    rows = dict[str, dict[str, float]]()
    for task in TASKS:
        if (path := folder / f"{task.name}.npz").exists():
            arrays = dict(np.load(path))
            loss = float(arrays.pop("loss"))
            rows[task.name] = {"loss": loss} | Measurement(task, arrays, pairs_of(task)).all()
    names = list(next(iter(rows.values()), {}))
    rows["median"] = {name: float(np.nanmedian([row[name] for row in rows.values()])) for name in names}
    click.echo(f"| network | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for name, row in rows.items():
        click.echo(f"| {name} | {' | '.join(f'{each:.2f}' for each in row.values())} |")


if __name__ == "__main__":
    main()
