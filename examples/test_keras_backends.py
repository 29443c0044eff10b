"""Tests of the Keras adapters (trace, laboratory, stream), again on PyTorch and JAX.

On TensorFlow they run with all others.

Run by `pytest examples`; see requirements-examples.txt. Keras has one backend for each process, so this is
another process.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# One pass in JAX that is not compiled costs ten of the others, so of the tests of the stream, whose questions
# NumPy answers once the weights are read, the walk through one network runs there.
SPARED = {
    "torch": [],
    "jax": ["-k", "not test_keras_stream and not gated and not probabilities or walk_is and probabilities"],
}
ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "model" / "adapters"
TESTS = sorted([*FOLDER.glob("test_keras*.py"), FOLDER / "test_sparse_attention.py"])


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras_on_another_backend(backend):
    pytest.importorskip(backend)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, *SPARED[backend]],
        cwd=ROOT,
        env=os.environ | {"KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "skipped" not in ran.stdout.splitlines()[-1]
