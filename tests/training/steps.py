"""Helpers of training tests: the command in this process, and the record that it leaves."""

import csv
import json
from contextlib import contextmanager, nullcontext
from pathlib import Path

from click.testing import CliRunner, Result

from training.__main__ import main


@contextmanager
def eagerly():
    """Without graphs."""
    import tensorflow as tf

    tf.config.run_functions_eagerly(True)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(False)


def train(*arguments: object, eager: bool = False, status: int = 0) -> Result:
    """``training train`` in this process, which spares the start of TensorFlow, ends with ``status``.

    A few steps run ``eager``: making a graph of a step takes longer than they do.
    """
    import keras

    keras.utils.clear_session()  # as a new process, number the layers from 0
    with eagerly() if eager else nullcontext():
        result = CliRunner().invoke(main, ["train", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result


def history(out: Path) -> list[dict[str, str]]:
    with open(out / "model" / "history.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def runs(out: Path) -> list[dict]:
    return json.loads((out / "model" / "run.json").read_text("utf-8"))["runs"]
