"""What looked, wrote and mattered over many edits:

the planted network, a run that goes on, and a file without text.
"""

import json

import pytest
from click.testing import CliRunner

from model import Corrector
from model.__main__ import main
from model.analysis.roles import COPIED
from model.survey.results import ANSWERS_FILE, AnswerSurvey, HeadSurvey, write_answers
from model.survey.survey import Survey, SurveyPlan
from model.survey.survey_files import answers, result, table
from model.text.hangul import is_hangul
from model.trace.interventions import Node
from tests.model.survey.test_survey import PAIRS
from tests.planted import CODA, COPY, DECOY


def asked(planted, **plan) -> Survey:
    survey = Survey(planted, SurveyPlan(PAIRS, effects=0, pruning=0, **plan))
    list(survey.run())
    return survey


@pytest.fixture(scope="module")
def survey(planted):
    return asked(planted, answers=4, circuits=2)


@pytest.fixture(scope="module")
def found(survey):
    return AnswerSurvey(json.loads(json.dumps(answers(survey))))


def test_looking_writing_and_mattering_are_told_apart(found):
    looked = found.of("all", "looked").mean[found.looking.index(Node(*COPY))]
    wrote, mattered = found.of("all", "wrote").mean, found.of("all", "mattered").mean
    nodes = found.acting
    assert looked > 0.9  # at what was typed, and it speaks for that
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


def test_a_run_that_is_asked_for_more_goes_on_where_it_ended(planted, survey, tmp_path):
    fewer = asked(planted, answers=2, circuits=2)
    fewer.save(tmp_path)
    more = Survey(planted, SurveyPlan(PAIRS, effects=0, pruning=0, answers=4, circuits=2))
    assert more.restore(tmp_path) and more.done["answers"] == 2
    list(more.run())
    assert answers(more) == answers(survey)


def test_the_survey_of_heads_has_what_they_wrote(survey):
    heads = HeadSurvey(json.loads(json.dumps(result(survey))))
    wrote = heads.written(CODA.kind, "edited").mean
    assert wrote[CODA.layer, CODA.head] > 1 and heads.written("encoder_attention", "edited") is None
    assert heads.answer_sentences == 4
    row = next(row for row in table(survey) if (row["kind"], row["layer"], row["head"]) == (CODA.kind, 2, 2))
    assert row["wrote_edited"] == pytest.approx(wrote[CODA.layer, CODA.head])


def test_the_file_holds_no_text_and_is_read_again(survey, found, tmp_path):
    text = write_answers(tmp_path, answers(survey)).read_text("utf-8")
    read = AnswerSurvey(json.loads(text))
    assert read.groups == found.groups and read.fingerprint == found.fingerprint
    sentences = {text for pair in PAIRS for text in pair}
    assert not any(sentence in text for sentence in sentences)
    longest = max((len(part) for part in text.split('"') if any(map(is_hangul, part))), default=0)
    assert longest <= len("coda:ㄱ")


def test_the_command_writes_it(tmp_path, monkeypatch, planted):
    monkeypatch.setattr(Corrector, "load", lambda *_, **__: planted)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("src,tgt\n" + "\n".join(map(",".join, PAIRS)), encoding="utf-8")
    arguments = ["heads", str(pairs), "--out", str(tmp_path), "--effects", "0", "--pruning", "0"]
    done = CliRunner().invoke(main, [*arguments, "--answers", "1"])
    assert done.exit_code == 0, done.output
    assert AnswerSurvey(json.loads((tmp_path / ANSWERS_FILE).read_text("utf-8"))).sentences == 1
