"""Verified explanation: claims about planted networks, each tested by separate passes."""

import pytest

from model.analysis.ablation import everyday_pairs
from model.analysis.claims import (
    ABLATED,
    CLAIMS,
    EXCHANGED,
    KEPT,
    LOOK,
    RESTORED,
    SCORE,
    verified_explanation,
)
from model.analysis.contrasts import Edit, contrast_of_row
from model.analysis.nulls import DRAWS, null_losses
from model.analysis.residual_stream import POSITION
from model.text.changes import find_changes
from model.trace.interventions import Head
from tests.planted import CAUSE, CODA, EDIT, FEED_FORWARD, RIGHT, ROW, WRONG


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


def test_the_claims_come_from_all_five_questions_and_the_rule(receipts):
    """Attribution, logit lens, patching, circuit, score decomposition; and the rule of the word alone."""
    assert {"looked", "wrote", "fed", "decided", "circuit", "why", "alone"} - receipts.keys() <= {"alone"}
    measured = {each.name: each.measured for each in receipts.values()}
    assert measured.pop("why") == LOOK and set(measured.values()) == {SCORE}
    pairs = {each.name: each.intervention for each in receipts.values()}
    assert pairs["cause"] == EXCHANGED and pairs["decided"] == RESTORED and pairs["circuit"] == KEPT
    assert pairs["looked"] == pairs["why"] == pairs["wrote"] == pairs["fed"] == ABLATED
    assert "empty" in receipts["circuit"].facts  # the other end of its share


def test_nothing_is_decided_for_what_the_network_does_not_write(planted_writer):
    """A list of words may have chosen 다:

    the network itself would write 먹, so it has decided nothing for 다.
    """
    other = RIGHT.replace("먹", "다")
    (change,) = find_changes(WRONG, other)
    explanation = verified_explanation(planted_writer, Edit(WRONG, other, change))
    assert explanation.score < 0 and not {"decided", "cause"} & {each.name for each in explanation.claims}


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


def test_as_many_random_parts_are_drawn_for_each_claim(planted_writer, receipts):
    null = null_losses(planted_writer.patched, planted_writer.tokenizer, everyday_pairs(), None)
    for name in ("wrote", "looked", "fed"):
        kind = receipts[name].facts["node"].kind
        drawn = [losses for (of, at), losses in null.items() if (of, at.kind) == (name, kind)]
        assert sum(map(len, drawn)) == DRAWS
