"""Circuit search: finds the planted chain; its edges by path patching; its graph file."""

import json
from dataclasses import replace

import numpy as np
import pytest

from model.analysis.ablation import corpus_means, corrupted_values
from model.analysis.circuits import (
    RANDOM_SETS,
    faithfulness,
    find_circuit,
    find_common_circuit,
    holds,
)
from model.analysis.contrasts import Edit, edits_of
from model.analysis.patching import corrupted_by_correction, corrupted_by_exchange
from model.analysis.path_patching import Character, attribution_graph, circuit_edges
from model.text.changes import find_changes
from model.trace.interventions import every_node
from tests.plain_transformer import plain_pass
from tests.planted import CARRY, CAUSE, COPY, EDIT, MARK, RIGHT, ROW, WRITER, WRONG

PLANTED = (MARK, CARRY, WRITER)
GOAL = 0.85  # COPY writes against the fix, so that the planted nodes keep 1.12 of the score without it


@pytest.fixture(scope="module")
def circuit(planted_circuit):
    return find_circuit(planted_circuit, EDIT, goal=GOAL)


def test_exactly_what_was_planted_is_found(circuit):
    assert circuit.members == PLANTED and set(circuit.nodes[:3]) == set(PLANTED)
    assert circuit.faithfulness >= circuit.goal and circuit.is_minimal
    assert circuit.completeness < 0.1 and (circuit.without < 0.1).all()  # nothing is left without any of them
    assert circuit.random.max() < 0.5  # of other sets
    assert circuit.p == pytest.approx(1 / (RANDOM_SETS + 1))  # the smallest that so many draws can show
    assert replace(circuit, random=circuit.random * 0 + 1).p == 1
    assert (circuit.growth[:2] < 0.1).all() and holds(circuit.growth[2], GOAL)


def test_a_node_against_the_fix_belongs_to_a_circuit_that_equals_the_whole(planted_circuit, circuit):
    assert 1 + (1 - GOAL) > circuit.faithfulness > 1.1
    assert circuit.gap == pytest.approx(abs(circuit.faithfulness - 1) * (circuit.score - circuit.empty))
    found = find_circuit(planted_circuit, EDIT)  # within 0.9 to 1.1
    assert {*found.members} == {*PLANTED, COPY} and found.faithfulness == pytest.approx(1, abs=0.01)
    assert found.is_minimal and found.gap < circuit.gap


def test_edits_of_one_kind_have_one_circuit(planted_circuit):
    edits = [EDIT, *edits_of(WRONG + "요", RIGHT + "요")]
    common = find_common_circuit(planted_circuit, edits[:1], GOAL)
    assert common.members == PLANTED and common.edits == 1
    both = find_common_circuit(planted_circuit, edits)
    shares = faithfulness(planted_circuit, edits, both.members)
    assert both.edits == 2 and shares.shape == (2,)
    alone = find_circuit(planted_circuit, EDIT)
    assert faithfulness(planted_circuit, [EDIT], alone.members)[0] == pytest.approx(
        alone.faithfulness, abs=1e-5
    )
    with pytest.raises(ValueError, match="at least one edit"):
        find_common_circuit(planted_circuit, [])


def test_a_twin_finds_the_same(planted_circuit):
    twin = corrupted_by_exchange(planted_circuit, EDIT)
    ablation = corrupted_values(planted_circuit.patched, planted_circuit.tokenizer, twin)
    found = find_circuit(planted_circuit, EDIT, ablation=ablation)
    assert found.members == PLANTED and found.empty < 0
    with pytest.raises(ValueError, match="positions of the clean run"):
        shorter = corrupted_by_correction(Edit("가가나", "가나", *find_changes("가가나", "가나")))
        corrupted_values(planted_circuit.patched, planted_circuit.tokenizer, shorter)


def test_the_edges_are_the_chain_that_was_planted(planted_circuit, circuit):
    found = circuit_edges(planted_circuit, EDIT, circuit)
    chain = [(Character("encoder", CAUSE), MARK), (MARK, CARRY), (CARRY, WRITER), (WRITER, None)]
    large = [edge for edge in found.edges if edge.nats > 1]
    assert {(edge.sender, edge.receiver) for edge in large} == set(chain)
    assert found.score == pytest.approx(
        circuit.empty + circuit.faithfulness * (circuit.score - circuit.empty), abs=1e-3
    )
    assert [edge.nats for edge in found.largest(4)] == sorted((edge.nats for edge in large), reverse=True)


def test_an_independent_pass_says_the_same(planted_circuit, circuit):
    network, tokenizer = planted_circuit.patched, planted_circuit.tokenizer
    ids = tokenizer.encode_source(WRONG), tokenizer.encode_target(RIGHT)
    ablation = corpus_means(network, tokenizer)
    contrast, added = circuit.contrast, circuit.score - circuit.empty
    sets = {
        circuit.faithfulness: circuit.members,
        circuit.completeness: [node for node in circuit.nodes if node not in circuit.members],
        circuit.without[0]: circuit.members[1:],
        circuit.growth[1]: circuit.nodes[:2],
    }
    for share, kept in sets.items():
        taken = {node: ablation.nodes[node] for node in network.nodes if node not in kept}
        logits, _ = plain_pass(network, tokenizer.features(), ids, instead=taken)
        score = logits[ROW, contrast.written] - logits[ROW, contrast.instead]
        assert share == pytest.approx((score - circuit.empty) / added, abs=1e-4)


def test_the_means_are_those_of_all_positions(planted_circuit):
    network, tokenizer = planted_circuit.patched, planted_circuit.tokenizer
    (pair,) = pairs = (("나머거", "나먹거요"),)
    means = corpus_means(network, tokenizer, pairs)
    found = network.taps(
        tokenizer.encode_source(pair[0]), tokenizer.encode_target(pair[1]), ["cross_heads", "encoder_output"]
    )
    np.testing.assert_allclose(means.nodes[CARRY], found["cross_heads"][1, 1].mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(
        means.nodes[every_node(2, 2)[2]], found["encoder_output"][1].mean(axis=0), atol=1e-5
    )


# The fields that the published schema of attribution graphs requires (Neuronpedia, graph-schema.json,
# version 1.0.0), with their types.
SCHEMA = {
    "metadata": {"slug": str, "scan": str, "prompt_tokens": list, "prompt": str},
    "qParams": {"pinnedIds": list, "supernodes": list, "linkType": str, "clickedId": str, "sg_pos": str},
    "nodes": {
        "node_id": str,
        "feature": int,
        "layer": str,
        "ctx_idx": int,
        "feature_type": str,
        "jsNodeId": str,
        "clerp": str,
    },
    "links": {"source": str, "target": str, "weight": float},
}


@pytest.fixture(scope="module")
def graph(planted_circuit, circuit):
    edges = circuit_edges(planted_circuit, EDIT, circuit)
    trace = planted_circuit.trace(WRONG, RIGHT)
    sure = replace(trace, log_probabilities=np.full(len(trace.target_tokens), np.log(0.75), np.float32))
    found = attribution_graph(circuit, edges, sure, "planted")
    return json.loads(json.dumps(found))  # as a viewer reads it


def test_a_graph_for_other_viewers_has_all_nodes_that_its_links_name(graph):
    names = [node["node_id"] for node in graph["nodes"]]
    assert len(set(names)) == len(names)
    assert {end for link in graph["links"] for end in (link["source"], link["target"])} == set(names)
    marked = next(node for node in graph["nodes"] if (node["layer"], node["ctx_idx"]) == ("E", CAUSE))
    assert marked["clerp"] == "거" and graph["metadata"]["prompt_tokens"][CAUSE] == "거"


def test_a_graph_has_what_the_published_schema_requires(graph):
    assert graph.keys() == SCHEMA.keys()
    for name, fields in SCHEMA.items():
        for each in graph[name] if isinstance(graph[name], list) else [graph[name]]:
            assert {field: type(each[field]) for field in fields} == fields
    assert all(isinstance(token, str) for token in graph["metadata"]["prompt_tokens"])
    assert all(node["ctx_idx"] < len(graph["metadata"]["prompt_tokens"]) for node in graph["nodes"])


def test_viewers_tell_all_nodes_of_a_graph_apart_and_read_its_answer(graph):
    """The viewer of circuit-tracer 0.5 takes nodes with the same layer, feature and position for one.

    It reads the token that is written and its
    probability out of the answer's label, and shows nothing where they are missing."""
    seen = [(node["layer"], node["feature"], node["ctx_idx"]) for node in graph["nodes"]]
    assert len(set(seen)) == len(seen)
    answer = graph["nodes"][-1]
    assert answer["feature_type"] == "logit" and answer["is_target_logit"] and answer["layer"] == "5"
    label = answer["clerp"]
    assert (label.split('"')[1], float(label.split("(p=")[1].split(")")[0])) == ("먹", 0.75)
    layers = [node["layer"] for node in graph["nodes"] if node["feature_type"].endswith(("head", "network"))]
    assert layers == ["1", "3", "3"]  # counted from 0, the encoder's two first
