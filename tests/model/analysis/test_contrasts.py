"""A question is asked as a change, as a contrast or as a metric of the logits."""

from dataclasses import replace

import numpy as np
import pytest

from model.analysis.ablation import node_effects
from model.analysis.circuits import find_circuit
from model.analysis.contrasts import Edit, contrast_of_edit, edits_of
from model.analysis.contributions import contribution
from model.analysis.head_effects import ablated_fix_probability
from model.analysis.patching import corrupted_by_exchange
from model.analysis.path_patching import circuit_edges
from tests.planted import CODA, RIGHT, ROW, WRONG

(EDIT,) = edits_of(WRONG, RIGHT)


@pytest.fixture
def contrast(planted_circuit):
    return contrast_of_edit(planted_circuit, EDIT)


@pytest.fixture(params=["contrast", "metric"])
def same(request, contrast) -> Edit:
    """The question of EDIT in another form."""
    if request.param == "contrast":
        return replace(EDIT, about=contrast)
    return replace(EDIT, metric=lambda logits: logits[:, contrast.written] - logits[:, contrast.instead])


def test_all_forms_of_a_question_have_one_answer(planted_circuit, same):
    circuits = [find_circuit(planted_circuit, each) for each in (EDIT, same)]
    assert circuits[0].members == circuits[1].members
    edges = [circuit_edges(planted_circuit, same, each).edges for each in circuits]
    np.testing.assert_allclose([each.nats for each in edges[0]], [each.nats for each in edges[1]], atol=1e-3)
    effects = [node_effects(planted_circuit, each) for each in (EDIT, same)]
    for name in ("total", "direct"):
        np.testing.assert_allclose(*(getattr(each, name) for each in effects), atol=1e-3)


def test_a_contrast_takes_any_two_tokens_of_any_row(planted_circuit, contrast):
    turned = replace(contrast, written=contrast.instead, instead=contrast.written)
    effects = [node_effects(planted_circuit, replace(EDIT, about=each)) for each in (contrast, turned)]
    np.testing.assert_allclose(effects[0].total, -effects[1].total, atol=1e-3)
    later = replace(contrast, row=ROW + 1)
    assert node_effects(planted_circuit, replace(EDIT, about=later)).contrast.row == ROW + 1


def test_what_a_question_lacks_is_named(planted, contrast):
    metric = replace(EDIT, metric=lambda logits: logits[:, 0])
    for ask in (
        lambda: contribution(planted, metric, "attention"),
        lambda: contrast_of_edit(planted, metric),
    ):
        with pytest.raises(ValueError, match="takes no metric"):
            ask()
    with pytest.raises(ValueError, match="about a change, received one about row"):
        corrupted_by_exchange(planted, replace(EDIT, about=contrast))
    about = replace(EDIT, about=contrast)
    assert ablated_fix_probability(planted, about, [[CODA]]) == ablated_fix_probability(
        planted, EDIT, [[CODA]]
    )
