"""Score of an analysis, given as an edit, a contrast of tokens or a logit metric."""

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
from model.analysis.head_effects import ablated_fix_probability
from model.analysis.path_patching import circuit_edges
from tests.planted import CODA, EDIT, WRONG

NODES = ("looked", "wrote", "fed")  # claims about the score without a part


def difference(contrast):
    return lambda logits: logits[:, contrast.written] - logits[:, contrast.instead]


@pytest.fixture
def contrast(planted_circuit):
    return contrast_of_edit(planted_circuit, EDIT)


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
