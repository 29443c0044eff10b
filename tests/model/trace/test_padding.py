"""Padding in a trace: rows that may be empty, and cells in which there is nothing."""

import numpy as np
import pytest

from model.trace.strict_npz import TraceError
from model.trace.trace import AttentionTrace

PADDED = (False, False, True)


def encoder(weights: list[list[float]], **fields) -> AttentionTrace:
    """One layer, one head, three tokens."""
    return AttentionTrace(
        source_tokens=("a", "b", "<pad>"), encoder_attention=np.float32([[weights]]), **fields
    )


MASKED = [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]]
LEAKING = [[0.5, 0.5, 0], [0.2, 0.2, 0.6], [0, 0, 0]]


def test_a_row_of_padding_may_be_empty():
    trace = encoder(MASKED, source_padding=PADDED)
    trace.check()
    rows, columns = trace.padding("encoder_attention")
    assert rows.tolist() == columns.tolist() == list(PADDED)


def test_an_empty_row_that_is_no_padding_is_refused_by_its_place():
    told = (
        "encoder_attention should have .* received 0.0, layer 0, head 0, row 2, .* say so in source_padding"
    )
    with pytest.raises(TraceError, match=told):
        encoder(MASKED).check()


def test_a_row_of_padding_holds_no_more_than_others():
    with pytest.raises(TraceError, match="received 2.0, layer 0, head 0, row 2"):
        encoder([*MASKED[:2], [1, 1, 0]], source_padding=PADDED).check()


def test_only_what_nobody_looks_at_is_an_empty_cell():
    expected = [[False, False, True], [False, False, True], [True, True, True]]
    assert encoder(MASKED, source_padding=PADDED).padded("encoder_attention").tolist() == expected
    expected[0][2] = expected[1][2] = False  # the mask was forgotten, which has to be seen
    assert encoder(LEAKING, source_padding=PADDED).padded("encoder_attention").tolist() == expected
    assert not encoder([[1, 0, 0]] * 3).padded("encoder_attention").any()


def decoder(own: list[list[float]], cross: list[list[float]]) -> AttentionTrace:
    return AttentionTrace(
        source_tokens=("a", "<pad>"),
        target_tokens=("x", "</s>", "<pad>"),
        decoder_input_tokens=("<s>", "x", "</s>"),
        decoder_attention=np.float32([[own]]),
        cross_attention=np.float32([[cross]]),
        source_padding=(False, True),
        target_padding=(False, False, True),
    )


def test_the_decoder_reads_padding_one_token_after_it_was_produced():
    trace = decoder([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], [[1, 0], [1, 0], [0, 0]])
    trace.check()
    rows, columns = trace.padding("decoder_attention")
    assert (rows.tolist(), columns.tolist()) == ([False, False, True], [False, False, False])
    assert trace.padding("cross_attention")[1].tolist() == [False, True]
    assert trace.padded("cross_attention").tolist() == [[False, True], [False, True], [True, True]]


def test_a_decoder_that_looks_ahead_is_told_to_mask():
    told = (
        "decoder_attention should be 0 right of its diagonal, .* layer 0, head 0, row 0. .* look-ahead, mask"
    )
    with pytest.raises(TraceError, match=told):
        decoder([[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]], [[1, 0]] * 3).check()
