"""Claims about planted networks hold, and their numbers are those of separate passes."""

import numpy as np
import pytest

from model.analysis.ablation import everyday_pairs
from model.analysis.circuits import find_circuit
from model.analysis.claims import (
    ABLATED,
    CLAIMS,
    EXCHANGED,
    KEPT,
    LEVEL,
    LOOK,
    RESTORED,
    SCORE,
    verified_explanation,
)
from model.analysis.contrasts import CleanRun, Edit, contrast_of_row
from model.analysis.nulls import DRAWS, null_losses, null_streams, null_weights
from model.analysis.residual_stream import POSITION
from model.analysis.statistics import p_value
from model.text.changes import find_changes
from model.trace.interventions import Head, Intervention, Patch
from tests.planted import CAUSE, CODA, EDIT, FEED_FORWARD, RIGHT, ROW, WRITER, WRONG


@pytest.fixture(scope="module")
def explanation(planted_writer):
    found = verified_explanation(planted_writer, EDIT)
    assert found.contrast.written_token == "먹" and found.score > 0
    return found


@pytest.fixture(scope="module")
def receipts(explanation):
    return {each.name: each for each in explanation.claims}


def test_no_claim_is_without_a_receipt(receipts):
    assert list(receipts) == [name for name in CLAIMS if name in receipts]
    for each in receipts.values():
        assert each.after != each.before
        assert each.difference == pytest.approx(each.after - each.before)


def test_what_was_planted_is_what_is_told(receipts):
    assert receipts["cause"].facts["character"] == WRONG[CAUSE] and receipts["cause"].after < 0
    for claim in ("looked", "wrote"):
        assert Head(*receipts[claim].facts["node"]) == CODA
    assert receipts["looked"].facts["position"] == CAUSE and receipts["looked"].facts["weight"] > 0.99
    assert receipts["why"].facts["part"] == POSITION and receipts["why"].before > 0.99
    assert receipts["fed"].facts["node"].layer == FEED_FORWARD and receipts["fed"].facts["nats"] > 0
    # One of the other three heads, which copies, takes away more in some of the random rows; and all heads
    # were planted to look by position, so that this one is not beyond 99 of 100.
    assert [name for name, each in receipts.items() if not each.holds] == ["why", "wrote"]
    assert all(receipts[name].facts["p"] < 0.05 for name in ("looked", "wrote", "fed"))


def test_a_receipt_is_what_the_twin_scores(planted_writer, receipts):
    facts = receipts["cause"].facts
    twin = WRONG[:CAUSE] + facts["other"] + WRONG[CAUSE + 1 :]
    scores = planted_writer.logit_differences(
        twin, RIGHT, planted_writer.contrast(WRONG, RIGHT, WRONG), [Intervention()]
    )
    assert receipts["cause"].after == pytest.approx(float(scores.differences[0]), abs=1e-3)


def test_the_claims_come_from_all_five_questions_and_the_rule(receipts):
    """Attribution, logit lens, patching, circuit, score decomposition; and the rule of the word alone."""
    assert {"looked", "wrote", "fed", "decided", "circuit", "why", "alone"} - receipts.keys() <= {"alone"}
    measured = {each.name: each.measured for each in receipts.values()}
    assert measured.pop("why") == LOOK and set(measured.values()) == {SCORE}
    pairs = {each.name: each.intervention for each in receipts.values()}
    assert pairs["cause"] == EXCHANGED and pairs["decided"] == RESTORED and pairs["circuit"] == KEPT
    assert pairs["looked"] == pairs["why"] == pairs["wrote"] == pairs["fed"] == ABLATED
    assert "empty" in receipts["circuit"].facts  # the other end of its share


def test_why_a_head_looked_is_measured_by_the_look_of_a_pass_without_the_part(planted_writer, receipts):
    """CODA was planted to look by position:

    with the mean of all positions where it looks, it looks elsewhere.
    """
    why, network = receipts["why"], planted_writer.patched
    tokenizer = planted_writer.tokenizer
    ids = tokenizer.encode_source(WRONG), tokenizer.encode_target(RIGHT)
    found = network.taps(*ids, ["encoder_residual", "encoder_embedding", "cross_attention"])
    positions = found["encoder_residual"][0] - found["encoder_embedding"]
    patch = Patch("encoder_residual", 0, found["encoder_embedding"][CAUSE] + positions.mean(axis=0), CAUSE)
    without = network.taps(*ids, ["cross_attention"], (patch,))
    place = CODA.layer, CODA.head, ROW, CAUSE
    assert why.before == pytest.approx(found["cross_attention"][place], abs=1e-5)
    assert why.after == pytest.approx(without["cross_attention"][place], abs=1e-5)
    null = null_weights(network, tokenizer, everyday_pairs(), "cross_attention")[POSITION]
    larger = sum(each >= why.before - why.after for each in null)
    assert why.facts["draws"] == len(null) == DRAWS and why.facts["p"] == (1 + larger) / (1 + DRAWS)
    assert why.holds == (why.facts["p"] < LEVEL)


def test_looking_without_writing_is_told_as_what_it_is(planted_circuit):
    """In the circuit the feed-forward network writes; the head before it attributes little directly."""
    explanation = verified_explanation(planted_circuit, EDIT)
    found = {each.name: each for each in explanation.claims}
    assert found["fed"].facts["node"] == WRITER and found["fed"].holds
    assert found["circuit"].facts["members"] == 4 and found["circuit"].facts["parts"] == 16  # with COPY
    assert found["wrote"].holds == (found["wrote"].facts["p"] < LEVEL)
    assert "decided" not in found  # it is behind WRITER, the last sub-layer, whose output is the score itself


def test_nothing_is_decided_for_what_the_network_does_not_write(planted_writer):
    """A list of words may have chosen 다:

    the network itself would write 먹, so it has decided nothing for 다.
    """
    other = RIGHT.replace("먹", "다")
    (change,) = find_changes(WRONG, other)
    explanation = verified_explanation(planted_writer, Edit(WRONG, other, change))
    assert explanation.score < 0 and not {"decided", "cause"} & {each.name for each in explanation.claims}


def test_decided_is_compared_with_the_same_place_of_random_rows(planted_writer, receipts):
    """The share of the difference that it names is described, and is no threshold."""
    decided = receipts["decided"]
    facts, score = decided.facts, receipts["looked"].before
    assert facts["score"] == pytest.approx(score) and decided.before < score / 2
    assert facts["share"] == pytest.approx((decided.after - decided.before) / (score - decided.before))
    run = CleanRun(planted_writer, EDIT)
    tokenizer, place = planted_writer.tokenizer, facts["place"]
    streams = null_streams(run.network, tokenizer, everyday_pairs())
    assert streams.shape == (DRAWS, 7, run.network.config.d_model)
    patches = [(Patch("decoder_residual", place, each, ROW),) for each in streams[:, place]]
    null = run.scores(patches, ids=(tokenizer.encode_source(facts["twin"]), run.ids[1]))
    assert facts["p"] == p_value(null, decided.after) and decided.holds == (facts["p"] < LEVEL)


def test_a_contrast_of_a_network_with_few_rows_is_explained_and_held_by_no_small_p(planted_writer):
    """One pair has one row for each character, so few parts can be drawn, and no p is below 1/(n + 1)."""
    about = contrast_of_row(planted_writer, WRONG, RIGHT, ROW)
    edit, texts = Edit(WRONG, RIGHT, about), ["나머나요.", "나머다요.", "가머가요."]
    found = {
        each.name: each for each in verified_explanation(planted_writer, edit, [(WRONG, RIGHT)], texts).claims
    }
    assert {"cause", "looked", "wrote", "decided"} <= found.keys() and "alone" not in found
    assert found["cause"].facts["other"] in ("나", "다", "가가")
    assert found["wrote"].facts["draws"] < 4 * (len(RIGHT) + 1) and not found["wrote"].holds


def test_a_loss_is_compared_with_those_without_random_parts(planted_writer, receipts):
    """The planted head takes away more than all others in the drawn rows.

    The observation counts as one draw, so no p-value is 0.
    """
    corpus = planted_writer.patched, planted_writer.tokenizer, everyday_pairs()
    null = null_losses(*corpus, None)
    assert null is null_losses(*corpus, None)  # drawn once
    for name in ("wrote", "looked", "fed"):
        claim, node = receipts[name], receipts[name].facts["node"]
        of_kind = {at: losses for (of, at), losses in null.items() if (of, at.kind) == (name, node.kind)}
        assert sum(map(len, of_kind.values())) == DRAWS
        others = np.concatenate([losses for at, losses in of_kind.items() if at != node])
        larger, draws = (np.abs(others) >= abs(claim.difference)).sum(), claim.facts["draws"]
        assert draws == len(others) and claim.facts["p"] == pytest.approx((1 + larger) / (1 + draws))
        assert claim.holds == (claim.facts["p"] < LEVEL)


def test_the_circuit_is_that_of_find_circuit_with_its_reference_and_p_value(
    planted_writer, explanation, receipts
):
    claim, circuit = receipts["circuit"], find_circuit(planted_writer, EDIT)
    assert explanation.reference == circuit.reference == "mean of 32 sentences"
    assert claim.facts["members"] == len(circuit.members) and claim.facts["draws"] == len(circuit.random)
    assert claim.facts["p"] == circuit.p and claim.holds == (circuit.p < LEVEL)
