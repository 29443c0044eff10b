"""How well methods agreed over many edits:

counted by hand, written and read again, and of the shipped weights.
"""

import pytest

from model import ModelFolderError
from model.analysis.attribution_methods import METHODS
from model.analysis.contributions import REFERENCE
from model.stored.folder import ASSETS, fingerprint, of_weights
from model.survey.results import AGREEMENT_FILE, read_agreement, write_agreement
from training.measure.studies import agreement_of

ROWS = [
    {"pair": 0, "methods": {"attention": [0.5, True, 1.0]}},
    {"pair": 0, "methods": {"attention": [0.25, False, 1.0]}},
    {"pair": 7, "methods": {"attention": [float("nan"), True, 1.0]}},
]


def test_means_are_over_edits_and_intervals_over_sentences(tmp_path):
    found = agreement_of(ROWS, "abc")
    assert (found.edits, found.sentences, found.fingerprint) == (3, 2, "abc")
    assert found.methods["attention"].first == pytest.approx(2 / 3, abs=1e-4)
    assert found.methods["attention"].correlation == 0.375
    write_agreement(
        tmp_path, agreement_of(ROWS[:2] + [{**ROWS[2], "methods": {"attention": [1.0, True, 1.0]}}], "abc")
    )
    assert read_agreement(tmp_path).methods["attention"].correlation == pytest.approx(1.75 / 3, abs=1e-4)


def test_no_file_and_a_damaged_one(tmp_path):
    assert read_agreement(tmp_path) is None
    for damaged in ("", "[]", '{"methods": {"attention": [1]}}'):
        (tmp_path / AGREEMENT_FILE).write_text(damaged, "utf-8")
        with pytest.raises(ModelFolderError, match="no agreement"):
            read_agreement(tmp_path)


def test_the_shipped_one_is_of_the_shipped_weights():
    found = read_agreement(ASSETS / "transformer")
    assert found.fingerprint == of_weights(fingerprint(ASSETS / "transformer")), (
        "run python -m training agreement again"
    )
    assert found.edits >= 500
    assert found.methods.keys() <= METHODS.keys() - {REFERENCE}
