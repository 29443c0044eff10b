"""KerasHub's BART against its own layers. Skipped where KerasHub is not installed: its tokenizers need TensorFlow Text,
which needs all of TensorFlow, so it is installed by itself (requirements-examples.txt says how)."""

import numpy as np
import pytest

keras_hub = pytest.importorskip("keras_hub")

import keras

from examples.keras_hub_bart import trace_bart
from examples.test_notebook import ends_with_the_lens
from viz import explore

SOURCE, TARGET = (1, 5, 7, 3, 2), (2, 4, 6, 8, 9, 3, 2)


def array(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(tensor)


def tiny_bart():
    """A ``BartBackbone`` with seeded weights."""
    keras.utils.set_random_seed(0)
    backbone = keras_hub.models.BartBackbone(
        vocabulary_size=12,
        num_layers=2,
        num_heads=4,
        hidden_dim=16,
        intermediate_dim=32,
        max_sequence_length=16,
    )
    for weights in backbone.weights:
        weights.assign(weights * 12)  # as they are made, every row looks at all tokens alike
    return backbone


@pytest.fixture
def backbone():
    return tiny_bart()


def embedded(backbone, side: str, ids):
    tokens = backbone.token_embedding(np.array([ids]))
    positions = getattr(backbone, f"{side}_position_embedding")(tokens)
    return getattr(backbone, f"{side}_embeddings_layer_norm")(tokens + positions)


def test_its_numbers_are_those_of_the_layers(backbone, tmp_path):
    trace = trace_bart(backbone, SOURCE, TARGET, str)
    states = embedded(backbone, "encoder", SOURCE)
    for number, layer in enumerate(backbone.encoder_transformer_layers):
        states, scores = layer(states, return_attention_scores=True)
        np.testing.assert_allclose(trace.encoder_attention[number], array(scores)[0], atol=1e-6, rtol=0)
    first = backbone.decoder_transformer_layers[0]
    read = embedded(backbone, "decoder", TARGET[:-1])
    causal = np.tril(np.ones((1, len(TARGET) - 1, len(TARGET) - 1), bool))
    own, scores = first._self_attention_layer(read, read, attention_mask=causal, return_attention_scores=True)
    np.testing.assert_allclose(trace.decoder_attention[0], array(scores)[0], atol=1e-6, rtol=0)
    asking = first._self_attention_layer_norm(own + read)
    _, scores = first._cross_attention_layer(asking, states, return_attention_scores=True)
    np.testing.assert_allclose(trace.cross_attention[0], array(scores)[0], atol=1e-6, rtol=0)
    assert [trace.shape(kind) for kind in trace.kinds] == [(2, 4)] * 3
    assert trace.target_tokens == ("4", "6", "8", "9", "3", "2")
    assert trace.encoder_attention.std() > 0.05
    trace.save(tmp_path / "trace.npz")
    assert explore(trace).page


def test_its_notebook_ends_with_the_lens():
    ends_with_the_lens("keras_hub")
