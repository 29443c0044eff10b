"""Results of surveys: heads and answers, written and read; the shipped ones."""

import json

import numpy as np
import pytest

from model import ModelFolderError
from model.activations.replacements import every_head
from model.analysis.attribution_methods import METHODS
from model.analysis.contributions import REFERENCE
from model.analysis.roles import COPIED, EDITED, NEXT, OWN
from model.stored.folder import ASSETS, fingerprint, of_weights
from model.survey.results import (
    AGREEMENT_FILE,
    HEADS_FILE,
    AnswerSurvey,
    HeadSurvey,
    read_agreement,
    read_head_survey,
    write_agreement,
    write_answers,
)
from model.survey.survey import Survey, SurveyPlan
from model.survey.survey_files import answers, result, table
from model.text.hangul import is_hangul
from model.trace.interventions import Node
from tests.model.survey.test_survey import PAIRS
from tests.planted import CODA, COPY, DECOY
from training.measure.sets import own_pairs
from training.measure.studies import agreement_of

SHIPPED = ASSETS / "transformer"


def surveyed(planted, **plan) -> Survey:
    survey = Survey(planted, SurveyPlan(PAIRS, **{"effects": 0, "pruning": 0} | plan))
    list(survey.run())
    return survey


@pytest.fixture(scope="module")
def survey(planted):
    return surveyed(planted, answers=4, circuits=2, effects=4, pruning=1, pruning_step=12, random_orders=1)


@pytest.fixture(scope="module")
def heads(survey):
    return HeadSurvey(json.loads(json.dumps(result(survey))))


@pytest.fixture(scope="module")
def found(survey):
    return AnswerSurvey(json.loads(json.dumps(answers(survey))))


def test_looking_writing_and_mattering_are_told_apart(found):
    looked = found.of("all", "looked").mean[found.looking.index(Node(*COPY))]
    wrote, mattered = found.of("all", "wrote").mean, found.of("all", "mattered").mean
    nodes = found.acting
    assert looked > 0.9  # at the typed character, and it speaks for that
    assert wrote[found.writing.index(Node(*DECOY))] == pytest.approx(0, abs=1e-3)  # it looks, too
    assert mattered[nodes.index(Node(*DECOY))] == pytest.approx(0, abs=1e-3)
    assert wrote[found.writing.index(Node(*CODA))] > 1
    assert wrote[found.writing.index(Node(*COPY))] < 0
    assert mattered[nodes.index(Node(*CODA))] > 1


def test_edits_are_counted_by_kind_and_by_what_is_put_back(found):
    assert (
        found.edits("all") == found.edits("jamo") == found.edits("coda:ㄱ") > 0
    )  # 머거 and 먹거 do not sound alike
    assert not any(group.startswith("rule:") for group in found.groups)
    assert found.edits(COPIED) > found.edits("all") and found.of("spacing", "wrote") is None
    assert found.of("all", "circuit_found").rows < found.edits("all")  # only of the first sentences


def test_the_survey_of_heads_has_what_they_wrote(survey, heads):
    wrote = heads.written(CODA.kind, "edited").mean
    assert wrote[CODA.layer, CODA.head] > 1 and heads.written("encoder_attention", "edited") is None
    assert heads.answer_sentences == 4
    row = next(
        row
        for row in table(survey, result(survey))
        if (row["kind"], row["layer"], row["head"]) == (CODA.kind, 2, 2)
    )
    assert row["wrote_edited"] == pytest.approx(wrote[CODA.layer, CODA.head])


def test_the_file_holds_no_text_and_is_read_again(survey, found, tmp_path):
    text = write_answers(tmp_path, answers(survey)).read_text("utf-8")
    read = AnswerSurvey(json.loads(text))
    assert read.groups == found.groups and read.fingerprint == found.fingerprint
    sentences = {text for pair in PAIRS for text in pair}
    assert not any(sentence in text for sentence in sentences)
    longest = max((len(part) for part in text.split('"') if any(map(is_hangul, part))), default=0)
    assert longest <= len("coda:ㄱ")


def test_the_planted_heads_are_read_again(survey, heads):
    assert heads.heads == list(every_head(survey.corrector.config))
    assert heads.leading(COPY) == OWN
    assert heads.leading(CODA) == heads.leading(CODA, EDITED) == NEXT
    assert heads.role("decoder_attention", NEXT, COPIED) is None
    assert heads.effect(CODA.kind, "edited").mean[CODA.layer, CODA.head] < -3
    sentence, row = heads.example(CODA, NEXT)
    assert sentence in [source for source, _ in PAIRS]
    assert 0 <= row < len(sentence)
    assert heads.means[CODA.kind].shape == (2, 2, 32)


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


@pytest.mark.parametrize(
    ("read", "file", "damaged", "message"),
    [
        (read_agreement, AGREEMENT_FILE, {"methods": {"attention": [1]}}, "no agreement"),
        (
            read_head_survey,
            HEADS_FILE,
            {"roles": {COPY.kind: {OWN: {COPIED: {"mean": [1]}}}}},
            "no survey of heads",
        ),
    ],
)
def test_no_file_and_a_damaged_one(read, file, damaged, message, survey, tmp_path):
    assert read(tmp_path) is None
    for content in ("", "[]", "{}", json.dumps(result(survey) | damaged)):
        (tmp_path / file).write_text(content, "utf-8")
        with pytest.raises(ModelFolderError, match=message):
            read(tmp_path)


def test_the_shipped_results_are_of_the_shipped_weights():
    """Otherwise run the commands of model/survey/__init__.py and python -m training agreement."""
    heads, agreement = read_head_survey(SHIPPED), read_agreement(SHIPPED)
    assert heads.fingerprint == agreement.fingerprint == of_weights(fingerprint(SHIPPED))
    assert heads.overlap == 0
    assert np.isfinite([heads.effect(kind, "loss").margin for kind in heads.kinds]).all()
    assert (SHIPPED / HEADS_FILE).stat().st_size <= 500_000
    assert agreement.edits >= 500
    assert agreement.methods.keys() <= METHODS.keys() - {REFERENCE}


def test_the_shipped_survey_holds_no_sentence_but_our_own():
    ours = {pair for half in own_pairs(generated=2, seed=0) for pair in half}
    shown = json.loads((SHIPPED / HEADS_FILE).read_text("utf-8"))["sentences_shown"]
    assert {tuple(pair) for pair in shown} <= ours
