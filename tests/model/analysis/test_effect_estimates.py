"""Attribution patching: estimates are derivatives; edges of a node sum to the node."""

from collections import defaultdict

import numpy as np
import pytest

from model.analysis import attribution_patching, corpus_means, edits_of
from model.analysis.ablation import node_effects
from model.analysis.contrasts import CleanRun
from tests.plain_transformer import plain_pass
from tests.planted import CARRY, MARK, RIGHT, WRITER, WRONG

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
EDIT = edits_of(SOURCE, TARGET)[0]
SMALL = 1e-30  # of a complex step, whose square is nothing beside 1


@pytest.fixture(scope="module")
def means(corrector):
    return corpus_means(corrector.patched, corrector.tokenizer, ((SOURCE, TARGET),))


def derivative(corrector, node, lost) -> float:
    """Of the score towards ``lost``, by a complex step in NumPy's other implementation."""
    network, run = corrector.patched, CleanRun(corrector, EDIT)
    moved = run.taps([node.tap])[node.tap][node.place] + 1j * SMALL * lost
    features, changed = corrector.tokenizer.features(), {"instead": {node: moved}, "dtype": np.complex128}
    logits, _ = plain_pass(network, features, run.ids, **changed)
    return float((logits[-1, run.contrast.written] - logits[-1, run.contrast.instead]).imag / SMALL)


def test_an_estimate_is_the_derivative_towards_the_ablation(corrector, means):
    found, run = attribution_patching(corrector, EDIT, means), CleanRun(corrector, EDIT)
    for node, estimate in zip(found.nodes, found.total, strict=True):
        clean = run.taps([node.tap])[node.tap][node.place]
        assert estimate == pytest.approx(derivative(corrector, node, clean - means.nodes[node]), abs=1e-4)


@pytest.mark.parametrize("steps", [1, 3])
def test_the_edges_of_a_node_sum_to_its_estimate(corrector, means, steps):
    found, sums = attribution_patching(corrector, EDIT, means, steps), defaultdict(float)
    for sender, _, nats in found.edges:
        sums[sender] += nats
    np.testing.assert_allclose([sums[node] for node in found.nodes], found.total, atol=1e-4)


def test_the_planted_nodes_have_the_largest_estimates(planted_circuit):
    (edit,) = edits_of(WRONG, RIGHT)
    one, five = (attribution_patching(planted_circuit, edit, steps=steps) for steps in (1, 5))
    assert {MARK, CARRY, WRITER} < {*one.checked} and five.error < one.error
    assert (one.method, five.method) == ("attribution patching (estimate)", "EAP-IG over 5 steps (estimate)")
    exact = node_effects(planted_circuit, edit).total
    np.testing.assert_allclose(one.exact, [exact[one.nodes.index(node)] for node in one.checked], atol=1e-4)
