"""Explanations with receipts: each claim names what was planted, and its number is that of a pass of its own."""

import pytest

from model.analysis.receipts import CLAIMS, LEAST, explained
from model.text.changes import find_changes
from model.trace.interventions import Head, Intervention
from tests.planted import CARRY, CAUSE, CODA, FEED_FORWARD, RIGHT, WRITER, WRONG

(CHANGE,) = find_changes(WRONG, RIGHT)


@pytest.fixture(scope="module")
def receipts(planted_writer):
    found = explained(planted_writer, WRONG, RIGHT, CHANGE)
    assert found.contrast.written_token == "먹" and found.score > 0
    return {each.claim: each for each in found.receipts}


def test_no_claim_is_without_a_receipt(receipts):
    assert list(receipts) == [name for name in CLAIMS if name in receipts]
    for each in receipts.values():
        assert each.after != each.before or each.claim == "decided"
        assert each.difference == pytest.approx(each.after - each.before)


def test_what_was_planted_is_what_is_told(receipts):
    assert receipts["cause"].facts["character"] == WRONG[CAUSE] and receipts["cause"].after < 0
    for claim in ("looked", "wrote"):
        assert Head(*receipts[claim].facts["node"]) == CODA and receipts[claim].holds
    assert receipts["looked"].facts["position"] == CAUSE and receipts["looked"].facts["weight"] > 0.99
    assert receipts["fed"].facts["node"].layer == FEED_FORWARD and receipts["fed"].facts["nats"] > 0
    assert all(each.holds for each in receipts.values())


def test_a_receipt_is_what_the_twin_scores(planted_writer, receipts):
    facts = receipts["cause"].facts
    twin = WRONG[:CAUSE] + facts["other"] + WRONG[CAUSE + 1 :]
    odds = planted_writer.odds(twin, RIGHT, planted_writer.contrast(WRONG, RIGHT, WRONG), [Intervention()])
    assert receipts["cause"].after == pytest.approx(float(odds.log_odds[0]), abs=1e-3)


def test_looking_without_writing_is_told_as_what_it_is(planted_circuit):
    """In the circuit the feed-forward network writes; what the head before it wrote itself does not matter."""
    found = {each.claim: each for each in explained(planted_circuit, WRONG, RIGHT, CHANGE).receipts}
    assert found["fed"].facts["node"] == WRITER and found["fed"].holds
    assert found["circuit"].facts["members"] == 3 and found["circuit"].facts["parts"] == 16
    assert found["wrote"].holds == (found["wrote"].before - found["wrote"].after >= LEAST)
    assert found["decided"].facts["place"] == CARRY.sublayer + 2  # behind WRITER
