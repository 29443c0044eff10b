"""What attention is computed from, held against the attention itself."""

import numpy as np
import pytest

from model.correction.corrector import Corrector
from model.network.layers import MASKED_LOGIT
from model.network.loading import build_network
from model.stored.config import Seq2SeqConfig
from model.trace.interventions import Projections

SOURCE, TARGET = "손니미 왔는데", "손님이 왔는데."


@pytest.fixture(scope="module", params=["transformer", "seq2seq"])
def corrector(request, tiny_corrector, tiny_tokenizer):
    if request.param == "transformer":
        return tiny_corrector
    config = Seq2SeqConfig(tiny_tokenizer.vocab_size, 16)
    return Corrector("tiny", build_network(config, tiny_tokenizer), tiny_tokenizer, "0")


def weights_of(found: Projections, mask: np.ndarray) -> np.ndarray:
    logits = found.query @ found.key.swapaxes(-1, -2) / np.sqrt(found.query.shape[-1])
    logits = np.where(mask, logits, MASKED_LOGIT)
    exponentials = np.exp(logits - logits.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def test_the_weights_follow_from_queries_and_keys(corrector):
    trace = corrector.trace(SOURCE, TARGET)
    found = corrector.projections(SOURCE, TARGET)
    assert tuple(found) == trace.kinds
    for kind, projections in found.items():
        weights = trace.attention(kind)
        mask = np.ones(weights.shape[2:], bool)
        if kind == "decoder_attention":
            mask = np.tril(mask)
        assert projections.query.shape[:3] == weights.shape[:3]
        np.testing.assert_allclose(weights_of(projections, mask), weights, atol=1e-5)


def test_padding_adds_rows_and_changes_no_other(corrector):
    alone, padded = (corrector.projections(SOURCE, TARGET, padding) for padding in (0, 3))
    for kind, projections in padded.items():
        for name in ("query", "key", "value"):
            one, other = getattr(alone[kind], name), getattr(projections, name)
            assert other.shape[2] == one.shape[2] + 3
            np.testing.assert_allclose(other[:, :, : one.shape[2]], one, atol=1e-5)


def test_embeddings_are_those_that_are_scaled(tiny_corrector, tiny_network):
    text = "손님 씂"  # the last syllable is outside the vocabulary: its vector is the sum of its jamo
    ids = np.array([tiny_corrector.tokenizer.encode_source(text)], np.int32)
    scaled = np.asarray(tiny_network.embedding(ids))[0]
    width = tiny_corrector.config.d_model
    np.testing.assert_allclose(tiny_corrector.embeddings(text) * np.sqrt(width), scaled, atol=2e-3)


def test_alternatives_begin_with_what_the_network_would_write(corrector):
    trace = corrector.trace(SOURCE, TARGET)
    probabilities = trace.alternative_probabilities
    assert np.shape(trace.alternatives) == probabilities.shape == (len(TARGET) + 1, 5)
    assert (np.diff(probabilities) <= 0).all()
    assert (probabilities.sum(-1) <= 1 + 1e-5).all()
    for tokens, row, token, logarithm in zip(
        trace.alternatives, probabilities, trace.target_tokens, trace.log_probabilities, strict=True
    ):
        if token in tokens:
            assert row[tokens.index(token)] == pytest.approx(np.exp(logarithm), abs=1e-5)
        else:
            assert np.exp(logarithm) <= row[-1] + 1e-6


def test_sizes_of_the_weights_sum_to_all_parameters(corrector):
    assert sum(corrector.weight_sizes().values()) == corrector.num_parameters


def test_shapes_that_do_not_fit_are_refused():
    query, key = np.zeros((1, 2, 3, 4)), np.zeros((1, 2, 5, 4))
    with pytest.raises(
        ValueError, match=r"value should have the shape \(1, 2, 5, 4\), received \(1, 2, 3, 4\)"
    ):
        Projections(query, key, query)
    with pytest.raises(ValueError, match=r"key should have .* received \(1, 2, 5, 3\)"):
        Projections(query, key[..., :3], key)


def test_less_than_no_padding_is_refused(corrector):
    with pytest.raises(ValueError, match="padding should be 0 or more, received -1"):
        corrector.projections(SOURCE, TARGET, -1)
