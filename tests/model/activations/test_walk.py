"""``ActivationWalk``: patched activations as in an independent pass; its sublayers."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from model.activations.replacements import Rows, intervened, replacements_of
from model.activations.sublayers import positional_encoding, softmax
from model.activations.walk import ActivationWalk
from model.trace.interventions import (
    ATTENTIONS,
    Intervention,
    KernelEdit,
    Node,
    Patch,
    every_node,
    tap,
)
from tests.plain_transformer import plain_pass
from tests.random_weights import equal_networks

SOURCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"
LAYERS, HEADS, WIDTH = 2, 2, 16
NODES = every_node(LAYERS, HEADS)


@pytest.fixture(scope="module", params=[True, False], ids=["norm first", "norm last"])
def networks(request, tiny_network, tiny_tokenizer):
    """(in Keras, in NumPy alone, with patches) with the same random weights."""
    config = replace(tiny_network.config, norm_first=request.param)
    network, plain = equal_networks(config, tiny_tokenizer)
    return network, plain, ActivationWalk(config, plain._features, plain._weights)


@pytest.fixture
def ids(tiny_tokenizer):
    return tiny_tokenizer.encode_source(SOURCE), tiny_tokenizer.encode_target(TARGET)


def values(node: Node, seed: int = 0) -> np.ndarray:
    size = WIDTH if node.head is None else WIDTH // HEADS
    return np.random.default_rng((seed, NODES.index(node))).normal(size=size).astype(np.float32)


def test_a_replaced_part_is_what_an_independent_pass_makes_of_it(networks, ids):
    _, plain, patched = networks
    sets = [[node] for node in NODES] + [NODES[:5], NODES[3:], NODES]
    answered = patched.passes(*ids, [tuple(Patch.of(node, values(node)) for node in each) for each in sets])
    for each, logits in zip(sets, answered.logits, strict=True):
        expected, _ = plain_pass(patched, plain._features, ids, instead={node: values(node) for node in each})
        np.testing.assert_allclose(logits, expected[-1], atol=1e-4)


@pytest.mark.parametrize(
    "name",
    [
        "encoder.embedding",
        "encoder.1.residual",
        "encoder.1.self.attention.1",
        "encoder.0.self.query",
        "decoder.0.self.head.0",
        "decoder.0.cross.residual",
        "decoder.1.cross.output",
        "decoder.1.cross.value",
        "decoder.1.mlp",
        "decoder.2.residual",
    ],
)
def test_a_function_and_a_value_by_name_do_the_same(networks, ids, name):
    _, _, walk = networks
    value = np.float32(3)
    changes = [
        {name: value},
        {name: lambda array: np.full_like(array, value)},
        {},
        {name: lambda array: array},
    ]
    ends, _ = walk.run(Rows.of([ids[0]] * 4, [ids[1]] * 4, changes))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-5)
    np.testing.assert_allclose(ends[2], ends[3], atol=1e-5)
    assert np.abs(ends[0] - ends[2]).max() > 1e-3


def test_matrix_products_keep_to_one_core_while_a_pass_runs(networks, ids):
    seen = []

    def cores(array: np.ndarray) -> np.ndarray:
        seen.append({each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"})
        return array

    with threadpool_limits(2, user_api="blas"):
        networks[2].run(Rows.of([ids[0]], [ids[1]], [{"encoder.0.mlp": cores}]))
        cores(np.zeros(0))
    assert seen == [{1}, {2}]


def test_passes_about_different_sentences_do_not_mix(networks, ids):
    _, _, walk = networks
    sources, targets = [ids[0], ids[0][:4], ids[1]], [ids[1], ids[0], ids[1][:5]]
    ends, read = walk.run(Rows.of(sources, targets, [{}] * 3), ["cross_attention"])
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        assert (read["cross_attention"][row, ..., len(source) :] == 0).all()
        expected = walk.taps(source, target, ["logits", "cross_attention"])
        last = min(len(target) - 1, ends.shape[1] - 1)
        np.testing.assert_allclose(walk.logits(ends[row, :last]), expected["logits"][:last], atol=1e-4)
        np.testing.assert_allclose(
            read["cross_attention"][row, :, :, :last, : len(source)],
            expected["cross_attention"][:, :, :last],
            atol=1e-5,
        )


@pytest.mark.parametrize("side", ATTENTIONS)
def test_a_patch_with_what_is_there_anyway_changes_nothing(networks, ids, side):
    _, _, patched = networks
    names = tap(side, "residual"), tap(side, "output")
    found = patched.taps(*ids, names)
    patches = [
        (Patch(name, place, found[name][place, position], position),)
        for name in names
        for place in range(len(found[name]))
        for position in (0, 3)
    ]
    answered = patched.passes(*ids, [(), *patches]).logits
    np.testing.assert_allclose(answered, np.repeat(answered[:1], len(answered), axis=0), atol=1e-4)


@pytest.mark.parametrize("place", [0, 1, 2, 3, 4])
def test_the_whole_stream_of_another_sentence_makes_it_that_sentence(networks, ids, tiny_tokenizer, place):
    _, plain, patched = networks
    other = tiny_tokenizer.encode_source(SOURCE[::-1]), ids[1]
    stream = patched.taps(*other, ["encoder_residual"])["encoder_residual"][place]
    answered = patched.passes(*ids, [(Patch("encoder_residual", place, stream),)]).logits[0]
    expected, _ = plain_pass(patched, plain._features, other)
    np.testing.assert_allclose(answered, expected[-1], atol=1e-4)


def test_variations_have_the_patches_of_the_base_too(networks, ids):
    _, _, patched = networks
    base, more = (tuple(Patch.of(node, values(node)) for node in nodes) for nodes in (NODES[:4], NODES[9:]))
    one = patched.passes(*ids, [more, ()], base).logits
    other = patched.passes(*ids, [base + more, base]).logits
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_the_look_of_a_head_is_handed_out_of_each_pass(networks, ids):
    _, _, patched = networks
    node = Node("cross_attention", 1, 0)
    patches = [
        (Patch.of(Node("cross_attention", 0, 1), values(NODES[0])),),
        (),
        (Patch.of(node, values(NODES[0])),),
    ]
    rows = Rows([ids[0]], [ids[1]], [*map(replacements_of, patches)], {})
    looks = patched.run(rows, [node.kind])[1][node.kind][:, node.layer, node.head]
    plain = patched.taps(*ids, ["cross_attention"])["cross_attention"][1, 0]
    assert looks.shape == (3, *plain.shape)
    np.testing.assert_allclose(looks[1], plain, atol=1e-6)
    np.testing.assert_allclose(looks[2], plain, atol=1e-6)  # the patched output comes after its weights
    assert np.abs(looks[0] - plain).max() > 1e-4


def test_more_variations_than_a_batch_holds_come_back_in_their_order(networks, ids, monkeypatch):
    _, _, patched = networks
    patches = [(Patch.of(node, values(node)),) for node in NODES]
    whole = patched.passes(*ids, patches).logits
    monkeypatch.setattr("model.activations.walk.BATCH", 5)
    np.testing.assert_allclose(patched.passes(*ids, patches).logits, whole, atol=1e-4)


def test_a_score_is_a_difference_of_logits(networks, ids):
    answered = networks[2].passes(*ids, [(), (Patch.of(NODES[0], values(NODES[0])),)])
    written, instead = ids[1][0], ids[1][1]
    expected = answered.logits[:, written] - answered.logits[:, instead]
    np.testing.assert_allclose(answered.score(written, instead), expected, atol=1e-5)


@pytest.mark.parametrize("shared", [True, False], ids=["one sentence", "several"])
def test_an_edit_of_an_output_matrix_is_a_pass_with_another_matrix(networks, ids, tiny_tokenizer, shared):
    _, _, walk = networks
    other = tiny_tokenizer.encode_source("수 깄는"), tiny_tokenizer.encode_target("수 있는")
    sentences = [ids] * 3 if shared else [ids, other, ids]
    rng, edits = np.random.default_rng(4), []
    for node in (Node("decoder_feed_forward", 1), Node("encoder_feed_forward", 0)):
        width = walk.arrays[f"{node.side}_{node.layer + 1}/feed_forward/output/kernel"].shape[0]
        parts = [rng.normal(size=size).astype(np.float32) for size in ((width, 2), (2, WIDTH))]
        edits.append(KernelEdit(node, *parts))
    changes = [Intervention(), Intervention(kernels=(edits[0],)), Intervention(kernels=tuple(edits))]
    rows = Rows.of(*zip(*sentences, strict=True), [intervened(each, walk) for each in changes])
    ends, _ = walk.run(rows)
    for number, change in enumerate(changes):
        arrays = dict(walk.arrays)
        for edit in change.kernels:
            name = f"{edit.node.side}_{edit.node.layer + 1}/feed_forward/output/kernel"
            arrays[name] = arrays[name] + edit.directions @ edit.values
        edited = ActivationWalk(walk.config, tiny_tokenizer.features(), arrays)
        expected, _ = edited.run(Rows.of(*([each] for each in sentences[number]), [{}]))
        np.testing.assert_allclose(ends[number, : expected.shape[1]], expected[0], atol=1e-4)


def test_values_worked_out_by_hand():
    # d_model 4: rates 1, 1, 1/100, 1/100.
    expected = [
        [0, 1, 0, 1],
        [0.8414710, 0.5403023, 0.0099998, 0.9999500],
        [0.9092974, -0.4161468, 0.0199987, 0.9998000],
    ]
    np.testing.assert_allclose(positional_encoding(3, 4), expected, atol=1e-6)


@pytest.mark.parametrize(("positions", "d_model"), [(0, 4), (4, 0), (-1, 4)])
def test_sizes_below_1_are_refused_with_what_was_received(positions, d_model):
    with pytest.raises(ValueError, match=f"received {positions} x {d_model}"):
        positional_encoding(positions, d_model)


@pytest.mark.parametrize("apart", [1.0, 200.0])
def test_a_softmax_is_the_same_however_far_its_rows_lie_apart(apart):
    scores = np.array([[0, 1, 2], [apart, apart + 1, apart - 1]], np.float32)
    hidden = np.array([[False, False, True], [False, False, False]])
    expected = np.exp(scores.astype(np.float64) - scores.max(axis=-1, keepdims=True))
    expected[hidden] = 0
    expected /= expected.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(softmax(scores.copy(), hidden), expected, atol=1e-6)
