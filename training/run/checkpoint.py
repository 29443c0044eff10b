"""Saves and loads a checkpoint: all that a run needs to continue on the same numbers, in one file that is replaced at once."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from model.stored.folder import write_atomically
from training.run.stream import Position

FILE_NAME = "checkpoint.npz"


@dataclass(frozen=True)
class RunState:
    """How far a run has come."""

    step: int = 0  # optimiser steps taken
    pairs: int = 0  # pairs seen
    tokens: int = 0  # real target tokens seen
    seconds: float = 0.0  # of training, stops left out
    mean_loss: float | None = None  # running mean of the batches' losses, in nats
    snapshot_loss: float | None = None  # mean_loss when the weights were last kept as a snapshot
    position: Position = field(default=Position(0, 0))  # of the stream: the next batch


class CheckpointError(Exception):
    """A checkpoint that cannot be continued from; the message says why."""


def _variables(model) -> dict:
    """Every number that training changes: weights, optimiser moments, dropout's random state."""
    return {variable.path: variable for variable in [*model.variables, *model.optimizer.variables]}


def save_checkpoint(folder: Path, model, progress: RunState) -> None:
    """Write the compiled model's variables and the progress."""
    arrays = {path: np.asarray(variable.value) for path, variable in _variables(model).items()}
    arrays["progress"] = np.array(json.dumps(asdict(progress)))
    write_atomically(folder / FILE_NAME, lambda file: np.savez(file, allow_pickle=False, **arrays))


def read_state(folder: Path) -> RunState:
    """How far a saved run has come, without its network; the beginning where nothing was saved yet."""
    path = folder / FILE_NAME
    if not path.exists():
        return RunState()
    try:
        with np.load(path, allow_pickle=False) as archive:
            return _progress(archive)
    except Exception as error:
        raise _useless(path, error) from error


def load_checkpoint(folder: Path, model) -> RunState | None:
    """Put a saved run's variables into the compiled model; None where nothing was saved yet."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as archive:
            progress = _progress(archive)
            for name, variable in _variables(model).items():
                saved = archive[name]  # reads it from the file
                if saved.shape != variable.shape:
                    raise ValueError(f"{name} is {saved.shape} there, {tuple(variable.shape)} here")
                variable.assign(saved)
    except Exception as error:
        raise _useless(path, error) from error
    return progress


def _progress(archive) -> RunState:
    values = json.loads(str(archive["progress"]))
    values["position"] = Position(*values["position"])
    return RunState(**values)


def _useless(path: Path, error: Exception) -> CheckpointError:
    """The error for any damaged file: the run must not silently start anew."""
    return CheckpointError(f"{path} does not belong to this run or is damaged: {error}")
