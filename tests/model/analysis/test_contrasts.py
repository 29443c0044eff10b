"""A score is given as a change, as a contrast or as a metric of the logits."""

from dataclasses import replace

import numpy as np
import pytest

from model.analysis import (
    activation_patching,
    attribution_patching,
    contrast_of_edit,
    contribution,
    corrupted_by_correction,
    corrupted_by_sentence,
    direct_logit_attribution,
    exchanges,
    find_circuit,
    head_effects,
    logit_lens,
    replaced_attention,
    verified_explanation,
)
from model.analysis.ablation import node_effects
from model.analysis.attribution_methods import METHODS
from model.analysis.contrasts import LEAST_SCORE, CleanRun, score_gradient
from model.analysis.head_effects import ablated_fix_probability
from model.analysis.path_patching import circuit_edges
from tests.planted import CODA, EDIT, RIGHT, ROW, WRONG

NODES = ("looked", "wrote", "fed")  # claims about the score without a part


def difference(contrast):
    return lambda logits: logits[:, contrast.written] - logits[:, contrast.instead]


@pytest.fixture
def contrast(planted_circuit):
    return contrast_of_edit(planted_circuit, EDIT)


def test_a_contrast_takes_any_two_tokens_of_any_row(planted_circuit, contrast):
    turned = replace(contrast, written=contrast.instead, instead=contrast.written)
    effects = [node_effects(planted_circuit, replace(EDIT, about=each)) for each in (contrast, turned)]
    np.testing.assert_allclose(effects[0].total, -effects[1].total, atol=1e-3)
    later = replace(contrast, row=ROW + 1)
    assert node_effects(planted_circuit, replace(EDIT, about=later)).contrast.row == ROW + 1


@pytest.mark.parametrize(
    "answer",
    [
        *(lambda c, e, method=method: contribution(c, e, method).source for method in METHODS),
        lambda c, e: head_effects(c, e).effect,
        lambda c, e: attribution_patching(c, e, steps=2).total,
        lambda c, e: node_effects(c, e).total,
        lambda c, e: node_effects(c, e).direct,
        lambda c, e: find_circuit(c, e).growth,
        lambda c, e: [edge.nats for edge in circuit_edges(c, e, find_circuit(c, e)).edges],
        lambda c, e: exchanges(c, e).scores,
        lambda c, e: corrupted_by_correction(e).ids(c.tokenizer)[0],
        lambda c, e: activation_patching(c, exchanges(c, e).median, "output", "encoder").restored,
        lambda c, e: direct_logit_attribution(c, e.source, e.target, [e.about], e.metric).matrix()[-1],
        lambda c, e: logit_lens(c, e.source, e.target, [e.about], e.metric).scores[:, -1],
        lambda c, e: [claim.difference for claim in verified_explanation(c, e).claims if claim.name in NODES],
    ],
)
def test_a_change_a_contrast_and_a_metric_are_one_question(planted_circuit, contrast, answer):
    """The same logit difference in three forms."""
    ways = EDIT, replace(EDIT, about=contrast), replace(EDIT, metric=difference(contrast))
    change, of_contrast, metric = (np.array(answer(planted_circuit, each)) for each in ways)
    np.testing.assert_allclose(metric, change, atol=1e-3)
    np.testing.assert_allclose(of_contrast, change, atol=1e-3)


def test_a_metric_that_is_not_linear_is_attributed_by_its_gradient(planted_circuit, contrast):
    def probability(logits):
        return np.exp(logits[:, contrast.written]) / np.exp(logits).sum(axis=-1)

    found = direct_logit_attribution(planted_circuit, WRONG, RIGHT, [contrast], probability)
    run = CleanRun(planted_circuit, replace(EDIT, metric=probability))
    (logits,) = run.ended(run.taps(["decoder_residual"])).logits.astype(np.float64)
    towards, _ = score_gradient(logits, contrast, probability, run.network.output_weights)
    share = np.exp(logits - logits.max())
    share /= share.sum()
    vocabulary = run.network.output_weights.vocabulary
    exact = share[contrast.written] * (vocabulary[contrast.written] - share @ vocabulary)
    np.testing.assert_allclose(towards, exact, atol=1e-6)
    assert found.score[-1] == pytest.approx(share[contrast.written], abs=1e-5)
    circuit = find_circuit(planted_circuit, run.edit)
    assert circuit.is_telling and circuit.score - circuit.empty < LEAST_SCORE * 2  # a share of 1, no nats


def test_what_a_question_lacks_is_named(planted, contrast):
    metric = replace(EDIT, metric=lambda logits: logits[:, 0])
    for ask in (
        lambda: replaced_attention(planted, metric, CODA),
        lambda: contrast_of_edit(planted, metric),
    ):
        with pytest.raises(ValueError, match="takes no metric"):
            ask()
    about = replace(EDIT, about=contrast)
    with pytest.raises(ValueError, match="about a change, received one about row"):
        corrupted_by_sentence(about, WRONG)
    effects = head_effects(planted, about)
    with pytest.raises(ValueError, match="the question is about none"):
        effects.rank_of_looker()
    assert np.isnan(effects.attention).all() and np.isnan(effects.correlation())
    about = replace(EDIT, about=contrast)
    assert ablated_fix_probability(planted, about, [[CODA]]) == ablated_fix_probability(
        planted, EDIT, [[CODA]]
    )
