"""Decomposed scores sum exactly, are linear in the stream, and name planted positions."""

import numpy as np
import pytest

from model.analysis.attention_scores import (
    KEY,
    QUERY,
    AttentionCell,
    ScoreAblation,
    decompose_attention_score,
)
from model.analysis.residual_stream import POSITION
from model.trace.interventions import Head, Node
from tests.planted import CARRY, CAUSE, CODA, RIGHT, ROW, WRONG

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_both_sums_are_the_score_before_the_softmax(corrector, kind):
    query, key = 5, 3
    trace = corrector.trace(SOURCE, TARGET)
    found = corrector.projections(SOURCE, TARGET)[kind]
    for layer, head in np.ndindex(2, 2):
        look = decompose_attention_score(
            corrector, SOURCE, TARGET, AttentionCell(Head(kind, layer, head), query, key)
        )
        assert look.weight == pytest.approx(trace.attention(kind)[layer, head, query, key], abs=1e-5)
        scores = found.query[layer, head, query] @ found.key[layer, head].T / np.sqrt(found.key.shape[-1])
        seen = scores[: query + 1] if kind == "decoder_attention" else scores
        assert look.score == pytest.approx(scores[key] - seen.mean(), abs=1e-4)
        assert abs(look.remainder()) < 1e-4
        for parts in (look.of_query, look.of_key):
            sizes = [abs(part.nats) for part in parts]
            assert sizes == sorted(sizes, reverse=True)


def test_a_head_that_was_planted_to_count_looks_by_position(planted):
    look = decompose_attention_score(planted, WRONG, RIGHT, AttentionCell(CODA, ROW, CAUSE))
    assert look.weight > 0.99
    assert look.of_query[0].part == look.of_key[0].part == POSITION
    taken = {(each.of, each.part): each for each in look.ablations}
    for of in (QUERY, KEY):
        assert taken[of, POSITION].weight < 0.5 and taken[of, POSITION].holds(look.weight)


def test_what_is_taken_away_is_taken_away_from_the_pass(planted_circuit):
    """The look of CARRY, measured again, is that of a pass in which the part puts out its mean there."""
    from model.analysis.ablation import corpus_means
    from model.trace.interventions import Patch

    look = decompose_attention_score(planted_circuit, WRONG, RIGHT, AttentionCell(Head(*CARRY), ROW, ROW))
    network, tokenizer = planted_circuit.patched, planted_circuit.tokenizer
    ids = tokenizer.encode_source(WRONG), tokenizer.encode_target(RIGHT)
    means = corpus_means(network, tokenizer)
    nodes = [each for each in look.ablations if isinstance(each.part, Node)]
    assert nodes
    for each in nodes:
        patch = Patch.of(each.part, means.nodes[each.part], ROW)
        found = network.taps(*ids, ["cross_attention"], (patch,))["cross_attention"]
        assert each.weight == pytest.approx(found[CARRY.layer, CARRY.head, ROW, ROW], abs=1e-5)


def test_a_claim_holds_where_the_look_moves_as_the_sum_says():
    assert ScoreAblation(KEY, POSITION, 2.0, 0.1).holds(0.9) and ScoreAblation(
        KEY, POSITION, -2.0, 0.95
    ).holds(0.9)
    assert not ScoreAblation(KEY, POSITION, 2.0, 0.95).holds(0.9)


@pytest.mark.parametrize(
    ("kind", "cell", "message"),
    [
        ("cross_attention", (9, 0), "should lie in"),
        ("decoder_attention", (1, 2), "cannot see what comes later"),
    ],
)
def test_a_cell_that_is_none_is_refused(planted, kind, cell, message):
    with pytest.raises(ValueError, match=message):
        decompose_attention_score(planted, WRONG, RIGHT, AttentionCell(Head(kind, 0, 0), *cell))
