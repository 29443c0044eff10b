"""What parts are worth in all and directly: what was planted, and a pass that is patched at its end."""

import numpy as np
import pytest

from model.analysis.counterfactuals import contrast_of_change
from model.analysis.patching import corpus_means, node_effects
from model.text.changes import find_changes
from model.trace.interventions import Node, Patch
from tests.planted import CARRY, MARK, RIGHT, WRITER, WRONG

(CHANGE,) = find_changes(WRONG, RIGHT)


@pytest.fixture(scope="module")
def found(planted_circuit):
    contrast = contrast_of_change(planted_circuit, WRONG, RIGHT, CHANGE)
    return node_effects(planted_circuit, WRONG, RIGHT, contrast)


def test_all_three_parts_of_a_chain_matter_and_the_last_alone_does_so_directly(found):
    total, direct = (dict(zip(found.nodes, each, strict=True)) for each in (found.total, found.direct))
    assert set(sorted(total, key=total.get)[-3:]) == {MARK, CARRY, WRITER}
    assert direct[WRITER] == pytest.approx(total[WRITER], abs=1e-3)
    assert direct[MARK] == 0 and abs(direct[CARRY]) < 0.1 * total[CARRY]


def test_the_direct_effect_is_that_of_a_pass_whose_end_alone_is_changed(planted_circuit, found):
    network, tokenizer = planted_circuit.patched, planted_circuit.tokenizer
    ablation = corpus_means(network, tokenizer)
    ids = tokenizer.encode_source(WRONG), tokenizer.encode_target(RIGHT)[: found.contrast.row + 1]
    taps = network.taps(*ids, ["decoder_residual", "decoder_output", "decoder_heads", "cross_heads"])
    for node in (WRITER, CARRY, Node("decoder_attention", 0, 1)):
        lost = network.written(node, ablation.nodes[node] - taps[node.tap][node.place][-1])
        end = len(taps["decoder_output"])
        stream = network.resumed(
            "decoder",
            taps["decoder_residual"][:, -1:],
            taps["decoder_output"][:, -1:],
            end,
            node.sublayer,
            lost,
        )
        patch = Patch("decoder_residual", end, stream[0], found.contrast.row)
        score = network.passes(*ids, [(patch,)]).score(found.contrast.written, found.contrast.instead)
        expected = found.score - score[0]
        assert found.direct[found.nodes.index(node)] == pytest.approx(expected, abs=1e-3)


def test_effects_lie_in_the_order_in_which_data_passes(found):
    assert found.nodes[0].side == "encoder" and found.nodes[-1] == Node("decoder_feed_forward", 1)
    assert found.total.shape == found.direct.shape == (len(found.nodes),)
    assert np.isfinite(found.score)
