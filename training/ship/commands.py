"""How the steps of shipping call the other commands, and where they find files."""

from pathlib import Path

from training.ship.plan import ROOT
from training.ship.step import PYTHON

# Makes the errors of every evaluation, so a change there asks for new numbers.
ERRORS = ROOT / "training" / "noise"
# These rooms decide what is corrected.
ANSWERS = tuple(ROOT / "model" / room for room in ("text", "norm", "plain", "network", "graph", "correction"))
STUDIED = (*ANSWERS, ROOT / "model" / "analysis", ROOT / "model" / "survey")
BENCHMARKS = ROOT / "benchmarks"


def training(*arguments: object) -> tuple[str, ...]:
    return (PYTHON, "-m", "training", *map(str, arguments))


def benchmark(name: str, *arguments: object) -> tuple[str, ...]:
    return (PYTHON, str(BENCHMARKS / name), *map(str, arguments))


def copied(source: Path, target: Path, *options: object) -> tuple[str, ...]:
    return (PYTHON, "-m", "training.ship.copy", *map(str, (source, target, *options)))


def at_most(option: str, rows: int) -> tuple[object, ...]:
    return (option, rows) if rows else ()


def model_of(run: Path) -> Path:
    """Where a run keeps its model: in a folder of its own while it trains."""
    return run / "model" if (run / "model").is_dir() else run


def whole(folder: Path) -> tuple[Path, ...]:
    """What decides the answers of a model: its weights, what weighs its proposals, and the code."""
    return (*(folder / name for name in ("weights.npz", "config.json", "confidence.json")), *ANSWERS)
