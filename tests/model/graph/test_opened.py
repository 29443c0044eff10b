"""Opened ONNX graph: interventions equal to the NumPy walk; queries, keys, values."""

from dataclasses import replace

import numpy as np
import pytest

from model.export.graphs import graph_of
from model.graph.network import given_arrays, open_halves
from model.network.keras_network import KerasNetwork
from model.network.networks import build_network
from model.stored.config import Seq2SeqConfig
from model.text.tokenizer import END_ID, PAD_ID, START_ID
from model.trace.interventions import Head, Intervention
from tests.random_weights import fill_at_random

CLOSE = 1e-5
SOURCE, TARGET = [9, 30, 12, 21, END_ID], [9, 31, 12, 21, END_ID]


@pytest.fixture(scope="module", params=[True, False], ids=["norm first", "norm last"])
def both(request, tiny_network, tiny_tokenizer):
    """(config, function that passes over SOURCE and TARGET through a graph, the network in Keras)."""
    config = replace(tiny_network.config, norm_first=request.param)
    network = build_network(config, tiny_tokenizer)
    fill_at_random(network, np.random.default_rng(0))
    arrays = given_arrays(
        config, tiny_tokenizer.features(), {each.path: each.numpy() for each in network.weights}
    )
    opened = open_halves(graph_of(config, opened=True), arrays, "weights.npz")

    def pass_under(intervention: Intervention) -> dict[str, np.ndarray]:
        encode, decode = opened
        gates = {
            kind: np.ones((config.num_layers, config.num_heads), np.float32)
            for kind in config.attention_kinds
        }
        for head in intervention.off:
            gates[head.kind][head.layer, head.head] = 0
        gates = {f"{kind}_gates": each for kind, each in gates.items()}
        source = np.array([SOURCE], np.int32)
        source[0, list(intervention.without_source)] = PAD_ID
        left_out = np.zeros(len(TARGET), np.float32)
        left_out[list(intervention.without_target)] = 1
        state = encode({"source": source, "encoder_attention_gates": gates.pop("encoder_attention_gates")})
        kept = {name: each for name, each in state.items() if name.startswith(("memory_", "cache_"))}
        ids = np.array([[START_ID, *TARGET[:-1]]], np.int32)
        return state | decode({"ids": ids, "left_out": left_out, **kept, **gates})

    return config, pass_under, KerasNetwork(network, tiny_tokenizer.encode_target(" ")[0])


@pytest.mark.parametrize(
    "intervention",
    [
        Intervention(),
        Intervention(off=frozenset({Head("encoder_attention", 1, 0), Head("cross_attention", 0, 1)})),
        Intervention(off=frozenset({Head("decoder_attention", 0, 0)})),
        Intervention(without_source=frozenset({1})),
        Intervention(without_target=frozenset({0})),
        Intervention(without_target=frozenset({2})),
    ],
    ids=["nothing", "two heads", "one head", "a source token", "the start mark", "a token read"],
)
def test_its_interventions_are_those_of_the_walk(both, intervention):
    _, pass_under, keras = both
    found = pass_under(intervention)
    expected = keras.laboratory.pass_over([SOURCE], [TARGET], [intervention])
    np.testing.assert_allclose(found["logits"], expected.logits, atol=CLOSE)
    for kind, weights in expected.attention.items():
        np.testing.assert_allclose(found[kind], weights, atol=CLOSE, err_msg=kind)


def test_it_hands_out_queries_keys_and_values(both):
    config, pass_under, keras = both
    found = pass_under(Intervention())
    found |= {"cross_attention_key": found["memory_keys"], "cross_attention_value": found["memory_values"]}
    found |= {"decoder_attention_key": found["next_keys"], "decoder_attention_value": found["next_values"]}
    for kind, expected in keras.project(SOURCE, TARGET).items():
        for part in ("query", "key", "value"):
            np.testing.assert_allclose(found[f"{kind}_{part}"][0], getattr(expected, part), atol=CLOSE)
    assert set(found) >= {f"{kind}_query" for kind in config.attention_kinds}


def test_a_recurrent_network_has_none():
    with pytest.raises(ValueError, match="no opened graph"):
        graph_of(Seq2SeqConfig(vocab_size=50, d_model=8), opened=True)
