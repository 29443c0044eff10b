"""Compiled optimiser steps under JAX: equal to those of Keras, and resumable.

JAX is no requirement; ``tests/conftest.py`` leaves this file out where it is missing.
"""

import os
import subprocess
import sys
from pathlib import Path


def test_compiled_steps_are_those_of_keras_and_continue_from_a_checkpoint(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.compiled_steps", str(tmp_path)],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
