"""Attribution methods on a planted network: rollout, ALTI, integrated gradients, others."""

import numpy as np
import pytest

from engine.own_model import TracedCorrector
from model.activations.token_network import insides_of
from model.analysis.attribution_methods import (
    METHODS,
    TOLERATED_GAP,
    alti,
)
from model.analysis.contrasts import Edit, contrast_of_edit, contrast_of_row
from model.analysis.contributions import (
    REFERENCE,
    Contribution,
    contribution,
    contributions,
    method_agreement,
    methods_of,
)
from tests import own_model
from tests.own_model import Speller
from tests.planted import CAUSE, EDIT, RIGHT, ROW, WRONG

SENTENCE, TARGET = "전 오래 씂 수 깄는 겍", "전 오래 쓸 수 있는 게요"


@pytest.fixture(scope="module")
def found(planted):
    """All methods on the row that writes 먹 for 머 because 거 follows."""
    contrast = contrast_of_edit(planted, EDIT)
    return {each.method: each for each in contributions(planted, Edit(WRONG, RIGHT, contrast))}


@pytest.fixture(scope="module")
def copied(planted):
    """All methods on the row that copies 요: only 요 matters, and an idle head attends elsewhere."""
    contrast = contrast_of_row(planted, WRONG, RIGHT, ROW + 2)
    return {each.method: each for each in contributions(planted, Edit(WRONG, RIGHT, contrast))}


def test_each_method_answers_with_its_own_shapes_and_units(found):
    assert list(found) == list(METHODS)
    for each in found.values():
        assert each.source.shape == (len(WRONG) + 1,)
        assert each.before.shape == (ROW + 1,)
        if not each.signed:
            assert (each.source >= 0).all() and (each.before >= 0).all()
            assert each.source.sum() + each.before.sum() == pytest.approx(1, abs=1e-5)
    assert {"value_zeroing", "occlusion"} <= {name for name, each in found.items() if each.intervened}
    assert {"gradient", "integrated_gradients", "occlusion"} <= {
        name for name, each in found.items() if each.signed
    }


@pytest.mark.parametrize(
    "method",
    ["attention", "norms", "rollout", "gradient", "integrated_gradients", "value_zeroing", "occlusion"],
)
def test_what_was_planted_is_found(found, method):
    two = np.argsort(-np.abs(found[method].source))[:2]
    assert set(two.tolist()) == {ROW, CAUSE}


@pytest.mark.parametrize(
    "method", ["norms", "gradient", "integrated_gradients", "value_zeroing", "occlusion"]
)
def test_nothing_else_is_found(found, method):
    sizes = np.abs(found[method].source)
    assert np.delete(sizes, [ROW, CAUSE]).max() < 0.03 * sizes[[ROW, CAUSE]].max()


def test_alti_does_not_find_a_cause_that_overwrites_what_stands_there(found):
    # The coda's vector takes 머 away as much as it adds 먹: it brings no row nearer to its sum.
    assert found["alti"].source[CAUSE] < 0.01
    assert found["alti"].source.argmax() == ROW


@pytest.mark.parametrize("method", ["attention", "rollout"])
def test_raw_attention_and_rollout_believe_heads_that_do_nothing(copied, method):
    # Two heads look at the character behind 요; their values are zero there.
    assert copied[method].source[ROW + 3] > 0.1
    assert copied["norms"].source[ROW + 3] < 0.01
    assert copied["value_zeroing"].source[ROW + 3] < 0.01
    assert abs(copied["occlusion"].source[ROW + 3]) < 0.01 * abs(copied["occlusion"].source).max()


def test_agreement_with_the_reference(found):
    same = method_agreement(found[REFERENCE], found[REFERENCE])
    assert (same.correlation, same.top_1, same.top_3) == (pytest.approx(1), True, 1.0)
    assert method_agreement(found["value_zeroing"], found[REFERENCE]).top_1 is False  # 머 before 거
    assert method_agreement(found["integrated_gradients"], found[REFERENCE]).top_1 is True
    with pytest.raises(ValueError, match="one sentence"):
        method_agreement(found["norms"], Contribution("norms", np.zeros(3), np.zeros(1), False, False))


def test_integrated_gradients_are_complete(planted, found):
    whole = found["integrated_gradients"]
    assert abs(whole.gap) <= TOLERATED_GAP
    source, target = planted._encode(WRONG, RIGHT)
    contrast = contrast_of_edit(planted, EDIT)
    ends = planted.laboratory.slopes(
        source, target[: ROW + 1], (ROW, contrast.written, contrast.instead), [0.0, 1.0]
    ).score
    assert whole.source.sum() + whole.before.sum() == pytest.approx(ends[1] - ends[0], rel=TOLERATED_GAP)


@pytest.fixture(scope="module")
def tiny(tiny_corrector):
    return tiny_corrector.patched, *tiny_corrector._encode(SENTENCE, TARGET)


def test_alti_shares_sum_to_one_with_either_normalisation(tiny):
    insides = insides_of(*tiny)
    for scales in (None, {kind: np.ones((2, 16)) for kind in insides.attention}):
        source, before = alti(insides._replace(norm_scales=scales))
        np.testing.assert_allclose(source.sum(axis=1) + before.sum(axis=1), 1, atol=1e-6)
        assert (np.triu(before, 1) == 0).all()


def test_a_network_is_asked_by_the_methods_that_it_has_the_abilities_for():
    own = TracedCorrector("own", Speller())
    assert {"attention", "occlusion"} <= set(methods_of(own)) < METHODS.keys()
    change = own.changes(own_model.WRONG, own_model.RIGHT)[0]
    contrast = contrast_of_edit(own, Edit(own_model.WRONG, own_model.RIGHT, change))
    with pytest.raises(ValueError, match="received 'rollout'"):
        contribution(own, Edit(own_model.WRONG, own_model.RIGHT, contrast), "rollout")
