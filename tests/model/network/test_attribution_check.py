"""Attention, gradients and attributions against the Transformer in plain NumPy, in float64.

Its derivatives are complex steps (Squire & Trapp, SIAM Review 1998), without the rounding of differences.
"""

import numpy as np
import pytest

from model.analysis.attribution_methods import integrate
from model.analysis.contrasts import Edit, contrast_of_edit
from model.stored.folder import WEIGHTS_FILE, read_weights
from model.text.changes import find_changes
from model.text.tokenizer import START_ID
from model.trace.trace import ATTENTION_KINDS
from tests.plain_transformer import PlainTransformer

SOURCE, TARGET = "전 오래 씂", "전 오래 쓸"
STEP = 1e-20


@pytest.fixture(scope="module")
def asked(tiny_corrector):
    """(source ids, target ids up to the row of the change, its contrast)."""
    contrast = contrast_of_edit(tiny_corrector, Edit(SOURCE, TARGET, find_changes(SOURCE, TARGET)[0]))
    target = tiny_corrector.tokenizer.encode_target(TARGET)[: contrast.row + 1]
    return tiny_corrector.tokenizer.encode_source(SOURCE), target, contrast


@pytest.fixture(scope="module")
def plain(tiny_corrector, tiny_folder, asked):
    """The network, and its pass over both texts with tokens scaled by factors (S + T,): logits (T, V) and
    activations by name."""
    features, weights = tiny_corrector.tokenizer.features(), read_weights(tiny_folder / WEIGHTS_FILE)
    network = PlainTransformer(tiny_corrector.config, features, weights, dtype=np.complex128)
    source, target, _ = asked
    taps = (*ATTENTION_KINDS, "cross_value", "decoder_value")

    def run(factors: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        memory, read = network.encode(np.array([source]), taps, factors[: len(source)])
        ids = np.array([[START_ID, *target[:-1]]])
        logits, written = network.decode(ids, memory, taps, factors[len(source) :])
        return logits[0], {name: array[0] for name, array in {**read, **written}.items()}

    return network, run


def expect_close(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal but for 1e-4 of the largest value."""
    np.testing.assert_allclose(found, expected.real, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_gradients(tiny_corrector, plain, asked):
    _, run = plain
    source, target, contrast = asked
    question = contrast.row, contrast.written, contrast.instead

    def score(factors: np.ndarray) -> complex:
        logits = run(factors)[0][contrast.row]
        return logits[contrast.written] - logits[contrast.instead]

    def expected(share: float) -> tuple[float, np.ndarray]:
        """The score at one point of the path and its derivatives (S + T,)."""
        factors = np.full(len(source) + len(target), share, complex)
        steps = np.eye(len(factors)) * 1j * STEP
        return score(factors).real, np.array([score(factors + step).imag / STEP for step in steps])

    def slopes(points: list[float]) -> tuple[np.ndarray, np.ndarray]:
        found = tiny_corrector.laboratory.slopes(source, target, question, points)
        return found.score, np.hstack([found.source, found.target])

    expect_close(slopes([1.0])[1][0], expected(1.0)[1])  # gradient x input
    # The same points of the path for both: which are halved depends on rounding where two errors are alike.
    points: list[float] = []
    one, _ = integrate(lambda asked: (points.extend(asked), slopes(asked))[1])
    known = {point: expected(point) for point in points}
    other, _ = integrate(lambda asked: tuple(map(np.array, zip(*(known[p] for p in asked), strict=True))))
    expect_close(one, other)
