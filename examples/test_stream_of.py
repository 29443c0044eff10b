"""The residual stream of models of transformers, walked in NumPy, against what PyTorch computes: every
analysis of an answer can be asked.

Run by `pytest examples`; see requirements-examples.txt.
"""

import numpy as np
import pytest

from examples.test_hugging_face import ENCODER_DECODERS
from examples.test_laboratory_of import SOURCE, TARGET, TOKENIZER, logits, model_of
from model import Intervention, laboratory_of
from model.activations.drafting import log_softmax
from model.adapters.own_stream import checked
from model.analysis import (
    AttentionCell,
    contrast_of_edit,
    corrupted_by_exchange,
    decompose_attention_score,
    direct_logit_attribution,
    find_circuit,
    logit_lens,
)
from model.analysis.circuits import circuit_edges
from model.analysis.contrasts import Edit
from model.analysis.patching import mean_values, node_effects
from model.trace.interventions import Head
from tests.silent_heads import silent_and_off

CLOSE = {"atol": 2e-3, "rtol": 1e-4}  # the models are float64, the walk is float32


@pytest.fixture(scope="module", params=ENCODER_DECODERS)
def lab(request):
    return laboratory_of(model_of(request.param), TOKENIZER)


@pytest.fixture(scope="module")
def change(lab):
    return lab.changes(SOURCE, TARGET)[0]


def test_the_walk_is_the_model_s_own_pass(lab):
    ids = lab.tokenizer.encode_source(SOURCE), lab.tokenizer.encode_target(TARGET)
    kinds = ("encoder_attention", "decoder_attention", "cross_attention")
    walked, trace = lab.patched.taps(*ids, ["logits", *kinds]), lab.trace(SOURCE, TARGET)
    np.testing.assert_allclose(walked["logits"], logits(lab, Intervention()), **CLOSE)
    for kind in kinds:
        # T5 does not scale its scores down, so rounding shows more.
        np.testing.assert_allclose(walked[kind], trace.attention(kind), atol=5e-4)


def test_a_head_without_output_is_a_head_that_is_off(lab, change):
    """Its numbers come from the laboratory, which replaces functions of PyTorch."""
    contrast = contrast_of_edit(lab, Edit(SOURCE, TARGET, change))
    ids = lab.tokenizer.encode_source(SOURCE), lab.tokenizer.encode_target(TARGET)
    np.testing.assert_allclose(*silent_and_off(lab, (SOURCE, TARGET), ids, contrast), **CLOSE)


def test_what_was_written_sums_to_the_score(lab, change):
    written = direct_logit_attribution(lab, SOURCE, TARGET, [change])
    (number,) = written.changes
    contrast = written.questions[number]
    (score,) = lab.logit_differences(SOURCE, TARGET, contrast, [Intervention()]).differences
    np.testing.assert_allclose(written.score[number], score, **CLOSE)
    for question in range(len(written.questions)):
        assert abs(written.remainder(question)) < 2e-3


def test_a_lens_at_the_last_place_is_the_model_s_own_answer(lab):
    decided = logit_lens(lab, SOURCE, TARGET)
    own = log_softmax(logits(lab, Intervention()).astype(np.float64))
    rows, written = range(len(own)), lab.tokenizer.encode_target(TARGET)
    np.testing.assert_allclose(decided.written[-1], np.exp(own[rows, written]), atol=1e-3)
    assert decided.jamo == {}  # its tokens are no sums of jamo


def test_a_circuit_is_found_against_the_means_of_the_sentence(lab, change):
    circuit = find_circuit(lab, Edit(SOURCE, TARGET, change))
    assert set(circuit.nodes) == set(lab.patched.nodes)
    means = mean_values(lab, SOURCE, TARGET)
    effects = node_effects(lab, Edit(SOURCE, TARGET, circuit.contrast), means)
    order = [effects.nodes.index(node) for node in circuit.nodes]
    np.testing.assert_allclose(circuit.effects, effects.total[order], atol=1e-3)
    if circuit.is_telling:
        assert circuit.faithfulness >= circuit.goal or len(circuit.members) == len(circuit.nodes)
        edges = circuit_edges(lab, Edit(SOURCE, TARGET, circuit.contrast), circuit)
        assert {edge.receiver for edge in edges.edges} == {*circuit.members, None}


def test_why_it_looked_sums_to_the_score_before_the_softmax(lab):
    head = Head("cross_attention", 1, 1)
    if lab.patched.scores_hold_positions:
        with pytest.raises(ValueError, match="hold positions"):
            decompose_attention_score(lab, SOURCE, TARGET, AttentionCell(head, 2, 1))
        return
    look = decompose_attention_score(lab, SOURCE, TARGET, AttentionCell(head, 2, 1))
    for parts in (look.of_query, look.of_key):
        np.testing.assert_allclose(sum(part.nats for part in parts), look.score, atol=1e-2)
    assert look.ablations and look.weight == pytest.approx(
        lab.trace(SOURCE, TARGET).cross_attention[1, 1, 2, 1], abs=1e-4
    )


def test_a_twin_needs_a_token_for_each_character(lab, change):
    with pytest.raises(ValueError, match="each token should be one"):
        corrupted_by_exchange(lab, Edit(SOURCE, TARGET, change))


def test_a_network_that_is_built_otherwise_is_noticed(lab):
    ids = lab.tokenizer.encode_source(SOURCE), lab.tokenizer.encode_target(TARGET)
    own = logits(lab, Intervention())
    assert checked(lab.patched, *ids, own) is lab.patched
    with pytest.raises(ValueError, match="does not give its own logits"):
        checked(lab.patched, *ids, own[::-1])
