"""What a survey found, read again; and the one that is shipped."""

import json

import numpy as np
import pytest

from model import ModelFolderError
from model.activations.replacements import every_head
from model.analysis.roles import COPIED, EDITED, NEXT, OWN
from model.stored.folder import ASSETS, fingerprint, of_weights
from model.survey.results import HEADS_FILE, HeadSurvey, read_head_survey
from model.survey.survey import Survey, SurveyPlan
from model.survey.survey_files import result
from tests.model.survey.test_survey import PAIRS
from tests.planted import CODA, COPY
from training.measure.sets import own_pairs

SHIPPED = ASSETS / "transformer"


@pytest.fixture(scope="module")
def surveyed(planted):
    survey = Survey(planted, SurveyPlan(PAIRS, effects=4, pruning=1, pruning_step=12, random_orders=1))
    list(survey.run())
    return survey


def test_the_planted_heads_are_read_again(surveyed):
    found = HeadSurvey(json.loads(json.dumps(result(surveyed))))
    assert found.heads == list(every_head(surveyed.corrector.config))
    assert found.leading(COPY) == OWN
    assert found.leading(CODA) == found.leading(CODA, EDITED) == NEXT
    assert found.role("decoder_attention", NEXT, COPIED) is None
    assert found.effect(CODA.kind, "edited").mean[CODA.layer, CODA.head] < -3
    sentence, row = found.example(CODA, NEXT)
    assert sentence in [source for source, _ in PAIRS]
    assert 0 <= row < len(sentence)
    assert found.means[CODA.kind].shape == (2, 2, 32)


def test_a_survey_that_has_just_begun_has_no_heads(surveyed):
    begun = HeadSurvey(result(Survey(surveyed.corrector, SurveyPlan((), 4, 0))))
    assert (begun.heads, begun.shape) == ([], (0, 0))


def test_no_file_and_a_damaged_one(surveyed, tmp_path):
    assert read_head_survey(tmp_path) is None
    good = result(surveyed)
    for damaged in (
        "",
        "[]",
        "{}",
        json.dumps(good | {"roles": {COPY.kind: {OWN: {COPIED: {"mean": [1]}}}}}),
    ):
        (tmp_path / HEADS_FILE).write_text(damaged, "utf-8")
        with pytest.raises(ModelFolderError, match="no survey of heads"):
            read_head_survey(tmp_path)


def test_the_shipped_survey_is_of_the_shipped_weights():
    found = read_head_survey(SHIPPED)
    wanted = "run the commands that model/survey/__init__.py gives for heads.json"
    assert found.fingerprint == of_weights(fingerprint(SHIPPED)), wanted
    assert found.overlap == 0
    assert np.isfinite([found.effect(kind, "loss").margin for kind in found.kinds]).all()
    assert (SHIPPED / HEADS_FILE).stat().st_size <= 500_000


def test_the_shipped_survey_holds_no_sentence_but_our_own():
    ours = {pair for half in own_pairs(generated=2, seed=0) for pair in half}
    shown = json.loads((SHIPPED / HEADS_FILE).read_text("utf-8"))["sentences_shown"]
    assert {tuple(pair) for pair in shown} <= ours


def test_the_halves_of_our_own_pairs_share_no_sentence():
    first, last = ({right for _, right in half} for half in own_pairs(generated=1, seed=0))
    assert not first & last
    assert abs(len(first) - len(last)) <= 1
