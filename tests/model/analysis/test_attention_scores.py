"""Decomposed scores sum exactly, are linear in the stream, and name planted positions."""

import numpy as np
import pytest

from model.analysis.attention_scores import (
    KEY,
    AttentionCell,
    ScoreAblation,
    decompose_attention_score,
)
from model.analysis.residual_stream import POSITION
from model.trace.interventions import Head
from tests.planted import RIGHT, WRONG

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"


@pytest.mark.parametrize("kind", ["encoder_attention", "decoder_attention", "cross_attention"])
def test_both_sums_are_the_score_before_the_softmax(corrector, kind):
    query, key = 5, 3
    trace = corrector.trace(SOURCE, TARGET)
    found = corrector.projections(SOURCE, TARGET)[kind]
    for layer, head in ((0, 1), (1, 0)):
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
