"""The residual stream of models of transformers, walked in NumPy, against the numbers of PyTorch.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest

from examples.hugging_face_networks import ENCODER_DECODERS
from examples.test_laboratory_of import opened
from model import Intervention
from model.activations.drafting import log_softmax
from model.adapters.own_stream import checked
from model.analysis import (
    AttentionCell,
    Edit,
    contrast_of_edit,
    corrupted_by_exchange,
    decompose_attention_score,
    direct_logit_attribution,
    find_circuit,
    logit_lens,
)
from model.analysis.ablation import mean_values, node_effects
from model.analysis.path_patching import circuit_edges
from model.trace.interventions import Head
from tests.silent_heads import silent_and_off

CLOSE = {"atol": 2e-3, "rtol": 1e-4}  # the models are float64, the walk is float32


@pytest.fixture(scope="module", params=ENCODER_DECODERS)
def case(request):
    return opened(request.param)


@pytest.fixture(scope="module")
def change(case):
    return case.lab.changes(*case.texts)[0]


def test_the_walk_is_the_model_s_own_pass_or_refused(case):
    kinds, own = ("encoder_attention", "decoder_attention", "cross_attention"), case.logits()
    walked, trace = case.lab.patched.taps(*case.ids, ["logits", *kinds]), case.lab.trace(*case.texts)
    np.testing.assert_allclose(walked["logits"], own, **CLOSE)
    for kind in kinds:
        # T5 does not scale its scores down, so rounding shows more.
        np.testing.assert_allclose(walked[kind], trace.attention(kind), atol=5e-4)
    assert checked(case.lab.patched, [(*case.ids, own)]) is case.lab.patched
    with pytest.raises(ValueError, match="does not give its own logits"):
        checked(case.lab.patched, [(*case.ids, own[::-1])])


def test_a_head_without_output_is_a_head_that_is_off(case, change):
    """Its numbers come from the laboratory, which replaces functions of PyTorch."""
    contrast = contrast_of_edit(case.lab, Edit(*case.texts, change))
    np.testing.assert_allclose(*silent_and_off(case.lab, case.texts, case.ids, contrast), **CLOSE)


def test_attributions_sum_to_the_score_and_the_lens_ends_at_the_answer(case, change):
    written = direct_logit_attribution(case.lab, *case.texts, [change])
    (number,) = written.changes
    asked = case.lab.logit_differences(*case.texts, written.questions[number], [Intervention()])
    np.testing.assert_allclose(written.score[number], asked.differences[0], **CLOSE)
    for question in range(len(written.questions)):
        assert abs(written.remainder(question)) < 2e-3
    decided, own = logit_lens(case.lab, *case.texts), log_softmax(case.logits().astype(np.float64))
    np.testing.assert_allclose(decided.written[-1], np.exp(own[range(len(own)), case.ids[1]]), atol=1e-3)
    assert decided.jamo == {}  # its tokens are no sums of jamo


def test_a_circuit_is_found_against_the_means_of_the_sentence(case, change):
    circuit = find_circuit(case.lab, Edit(*case.texts, change))
    assert set(circuit.nodes) == set(case.lab.patched.nodes)
    means = mean_values(case.lab, *case.texts)
    effects = node_effects(case.lab, Edit(*case.texts, circuit.contrast), means)
    order = [effects.nodes.index(node) for node in circuit.nodes]
    np.testing.assert_allclose(circuit.effects, effects.total[order], atol=1e-3)
    if circuit.is_telling:
        assert circuit.faithfulness >= circuit.goal or len(circuit.members) == len(circuit.nodes)
        edges = circuit_edges(case.lab, Edit(*case.texts, circuit.contrast), circuit)
        assert {edge.receiver for edge in edges.edges} == {*circuit.members, None}


def test_the_parts_of_a_score_sum_to_it(case):
    cell = AttentionCell(Head("cross_attention", 1, 1), 2, 1)
    if case.lab.patched.scores_hold_positions:
        with pytest.raises(ValueError, match="hold positions"):
            decompose_attention_score(case.lab, *case.texts, cell)
        return
    look = decompose_attention_score(case.lab, *case.texts, cell)
    for parts in (look.of_query, look.of_key):
        np.testing.assert_allclose(sum(part.nats for part in parts), look.score, atol=1e-2)
    weight = case.lab.trace(*case.texts).cross_attention[1, 1, 2, 1]
    assert look.ablations and look.weight == pytest.approx(weight, abs=1e-4)


def test_a_twin_needs_a_token_for_each_character(case, change):
    with pytest.raises(ValueError, match="give other texts of a length"):
        corrupted_by_exchange(case.lab, Edit(*case.texts, change))
