"""Results of analyses as folders, and corrections that are pickled."""

import json
import pickle

import numpy as np
import pytest

from model.analysis import (
    AblationValues,
    AttentionCell,
    activation_patching,
    contribution,
    corrupted_values,
    data_id,
    decompose_attention_score,
    direct_logit_attribution,
    edits_of,
    exchanges,
    find_circuit,
    head_effects,
    load,
    logit_lens,
    verified_explanation,
)
from model.analysis.ablation import node_effects
from model.analysis.path_patching import circuit_edges
from model.trace.interventions import Head
from tests.equality import same

TEXTS = "머거요", "먹어요"
CELL = AttentionCell(Head("cross_attention", 0, 1), 0, 1)
RESULTS = {
    "attribution": lambda c, e: direct_logit_attribution(c, *TEXTS, [e.change]),
    "lens": lambda c, e: logit_lens(c, *TEXTS, [e.change]),
    "circuit": find_circuit,
    "edges": lambda c, e: circuit_edges(c, e, find_circuit(c, e)),
    "patching": lambda c, e: activation_patching(c, exchanges(c, e).median, "residual", "encoder"),
    "exchanges": exchanges,
    "values": lambda c, e: corrupted_values(c.patched, c.tokenizer, exchanges(c, e).median),
    "effects": node_effects,
    "score": lambda c, e: decompose_attention_score(c, *TEXTS, CELL),
    "contribution": lambda c, e: contribution(c, e, "rollout"),
    "heads": head_effects,
    "explanation": verified_explanation,
}


@pytest.mark.parametrize("network", [True], indirect=True, ids=["norm first"])
@pytest.mark.parametrize("name", RESULTS)
def test_a_saved_result_is_the_same_when_loaded(name, corrector, tmp_path):
    (edit,) = edits_of(*TEXTS)
    result = RESULTS[name](corrector, edit)
    result.save(tmp_path / "result", corrector, [TEXTS], goal=0.9, cell=CELL)
    assert same(result, load(tmp_path / "result"))
    about = json.loads((tmp_path / "result" / "result.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert about["network"] == {"name": corrector.name, "fingerprint": corrector.fingerprint}
    assert about["data"] == [data_id(*TEXTS)] and about["settings"]["goal"] == 0.9 and about["seed"] == 0
    assert about["versions"]["numpy"] == np.__version__


def test_a_folder_that_names_other_classes_is_refused(tmp_path):
    AblationValues({}, {}, "zero").save(tmp_path)
    path = tmp_path / "result.json"
    about = json.loads(path.read_text("utf-8"))
    for name in ("os:system", ".text.changes:find_changes", "subprocess:Popen"):
        about["result"]["class"] = name
        path.write_text(json.dumps(about), "utf-8")
        with pytest.raises(ValueError, match="should name classes of this package"):
            load(tmp_path)


@pytest.mark.parametrize("network", [True], indirect=True, ids=["norm first"])
def test_a_correction_is_pickled_with_the_trace_of_its_text(corrector):
    correction = corrector.correct("밥을 머거요. 안녕.")
    found = pickle.loads(pickle.dumps(correction))
    assert found == correction and found.text == correction.text
    for one, other in zip(found.sentences, correction.sentences, strict=True):
        np.testing.assert_array_equal(one.trace.cross_attention, other.trace.cross_attention)
    found.sentences[0]._traces.clear()
    with pytest.raises(ValueError, match="correct the text again"):
        _ = found.sentences[0].trace
