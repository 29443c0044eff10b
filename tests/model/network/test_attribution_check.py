"""Attention, gradients and attributions against the Transformer in plain NumPy, in float64.

Its derivatives are complex steps (Squire & Trapp, SIAM Review 1998), without the rounding of differences.
"""

import numpy as np
import pytest

from model.activations.token_network import insides_of
from model.analysis.attribution_methods import integrate, norms, rollout
from model.analysis.contrasts import Edit, contrast_of_edit
from model.stored.folder import WEIGHTS_FILE, read_weights
from model.text.changes import find_changes
from model.text.tokenizer import START_ID
from model.trace.interventions import tap
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


def test_attention_and_the_attributions_that_follow_from_it(tiny_corrector, plain, asked):
    network, run = plain
    source, target, _ = asked
    insides = insides_of(tiny_corrector.patched, source, target)
    _, seen = run(np.ones(len(source) + len(target)))
    for kind in ATTENTION_KINDS:
        expect_close(insides.attention[kind], seen[kind])
    expect_close(np.hstack(norms(insides)), plain_norms(network, seen))
    expect_close(np.hstack(rollout(insides.attention)), plain_rollout(seen))


def plain_norms(network: PlainTransformer, seen: dict[str, np.ndarray]) -> np.ndarray:
    """(T, S + T) norm-weighted attention, rows divided by their sums."""
    joined = []
    for kind, name in (("cross_attention", "cross_attention"), ("decoder_attention", "self_attention")):
        lengths = []
        for number, (weights, values) in enumerate(zip(seen[kind], seen[tap(kind, "value")], strict=True), 1):
            kernel = network.kernel(f"decoder_{number}/{name}/output")
            written = values @ kernel.reshape(len(values), -1, kernel.shape[1])  # (H, K, D)
            added = np.einsum("hqk,hkd->qkd", weights, written)
            lengths.append(np.sqrt((added**2).sum(-1)))
        joined.append(np.mean(lengths, axis=0))
    found = np.hstack(joined)
    return found / found.sum(axis=1, keepdims=True)


def plain_rollout(seen: dict[str, np.ndarray]) -> np.ndarray:
    """(T, S + T): one augmented matrix for each layer of the whole network, as in one long encoder."""
    source, target = (seen[kind].shape[-1] for kind in ("encoder_attention", "decoder_attention"))
    flow = np.eye(source + target, dtype=complex)
    for weights in seen["encoder_attention"]:
        step = np.eye(source + target, dtype=complex)
        step[:source, :source] = 0.5 * weights.mean(axis=0) + 0.5 * np.eye(source)
        flow = step @ flow
    for own, cross in zip(seen["decoder_attention"], seen["cross_attention"], strict=True):
        first, second = (np.eye(source + target, dtype=complex) for _ in range(2))
        first[source:, source:] = 0.5 * own.mean(axis=0) + 0.5 * np.eye(target)
        second[source:, source:] = 0.5 * np.eye(target)
        second[source:, :source] = 0.5 * cross.mean(axis=0)
        flow = second @ first @ flow
    return flow[source:]


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
