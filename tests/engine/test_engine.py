"""``Engine`` with a real worker: answers, experiments, changed models, time limits."""

import json
import shutil
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine import questions
from engine.client import Engine, model_key
from engine.questions import ROUNDS
from engine.records import EngineDiedError, EngineError, EngineSlowError
from model import ModelFolderError
from model.analysis.contrasts import Edit, contrast_of_edit
from model.text.changes import find_changes
from model.trace.interventions import Head, Intervention
from tests.equality import same
from tests.waiting import wait_until

ORACLE = replace(questions.num_parameters, name="oracle")  # a question that no worker knows


TEXTS = (
    "전 오래 씂 수 깄는 겍 필요해요.",
    "손니미 완는데 방이 업쓰며 너떠캐요? 가 나 다.",
    "",
    "ok 🙂",
    "\udcff 가",
)
SPELLER = "tests.own_model:Speller"  # a user's own, without TensorFlow, which takes seconds to start
RIGHT = "전 오래 쓸 수 있는 게 필요해요."  # of the first


@pytest.mark.parametrize("text", TEXTS)
def test_it_answers_as_the_corrector_itself_does(model, tiny_corrector, text):
    found, expected = model.correct(text), tiny_corrector.correct(text)
    assert found == expected
    assert found.with_minimum_confidence(0.0) == expected.with_minimum_confidence(0.0)
    for one, other in zip(found.sentences, expected.sentences, strict=True):
        assert same(one.trace, other.trace, 1e-5)


def test_it_describes_a_model_as_the_corrector_does(model, tiny_corrector):
    for name in ("name", "fingerprint", "config", "minimum_confidence"):
        assert getattr(model, name) == getattr(tiny_corrector, name)
    assert model.tokenizer.encode_source("가나") == tiny_corrector.tokenizer.encode_source("가나")
    text, taps, head = "가나", ("decoder_residual", "memory"), Head("cross_attention", 0, 1)
    off = Intervention(off=frozenset([head]))
    for question, asked, expected in (
        (questions.weight_sizes, (), tiny_corrector.weight_sizes()),
        (questions.embeddings, (text,), tiny_corrector.embeddings(text)),
        (questions.projections, (text, text, 2), tiny_corrector.projections(text, text, 2)),
        (questions.taps, (text, text, taps, ()), tiny_corrector.taps(text, text, taps)),
        (questions.taps, (text, text, taps, (head,)), tiny_corrector.taps(text, text, taps, off)),
    ):
        assert same(model.ask(question, *asked), expected, 1e-5), question.name
    assert model.progress.is_ready


def test_the_laboratory_answers_the_question_that_was_asked(model, tiny_corrector):
    about = TEXTS[0], RIGHT
    first, second = find_changes(*about)[:2]
    effects = {
        each: model.ask(questions.head_effects, questions.Edit(*about, (each.source_start, each.source_end)))
        for each in (first, second)
    }
    for change, found in effects.items():
        assert found.contrast == contrast_of_edit(tiny_corrector, Edit(*about, change))
    heads = effects[first].strongest(2)
    for sets in ((heads[:1], heads), (heads,)):
        found = model.ask(questions.ablate_heads, TEXTS[0], tuple(map(tuple, sets)))
        assert [each.heads for each in found] == [*map(frozenset, sets)]
    with pytest.raises(ValueError, match=r"^nothing changes at \(0, 99\)$"):  # the error holds no text
        model.ask(questions.head_effects, questions.Edit(RIGHT, RIGHT, (0, 99)))


def test_answers_to_the_laboratory_are_kept_and_cannot_be_changed(model):
    change = find_changes(TEXTS[0], RIGHT)[0]
    asked = (questions.Edit(TEXTS[0], RIGHT, (change.source_start, change.source_end)),)
    model._engine._caches.clear()
    assert model.known(questions.contributions, *asked) is None
    _, methods, found = model.ask(questions.contributions, *asked)
    assert (
        model.known(questions.contributions, *asked)[-1]
        is model.ask(questions.contributions, *asked)[-1]
        is found
    )
    with pytest.raises(ValueError, match="read-only"):
        found[0].source[:] = 0
    for number in range(1, len(ROUNDS)):
        found += model.ask(questions.contributions, *asked, number)[-1]
    assert sorted(each.method for each in found) == sorted(methods)


def test_what_was_asked_ahead_is_not_asked_again_and_one_at_a_time_is(model, monkeypatch):
    engine, asked, may_answer = model._engine, [], threading.Event()
    answer = engine._ask

    def slow(question, links, patience):
        asked.append(question[-1])
        may_answer.wait(60)
        return answer(question, links, patience)

    monkeypatch.setattr(engine, "_ask", slow)
    model.correct_ahead(TEXTS[0])
    model.correct_ahead("가나")  # too early: nothing is sent
    may_answer.set()
    assert model.correct(TEXTS[0]).text == model.correct(TEXTS[0]).text
    assert asked == [(TEXTS[0],)]
    with engine.ahead:  # the first is over
        pass
    model.correct_ahead("가나")
    with engine.ahead:
        pass
    assert model.known(questions.correct, "가나") is not None


def test_a_persons_words_reach_the_model(model):
    text = TEXTS[0]
    with pytest.raises(ValueError, match="own words should be"):
        model.correct(text, ("가" * 65,))
    assert model.correct(text, (f"{text}*",)).source == model.correct(text).source


def test_what_goes_wrong_with_a_question_asked_ahead_is_told_to_whoever_asks_it_and_waits(model):
    asked = TEXTS[0], ("가" * 65,)
    model.correct_ahead(*asked)
    with model._engine.ahead:
        pass
    with pytest.raises(ValueError, match="own words should be"):
        model.correct(*asked)
    with pytest.raises(EngineError, match="'oracle'"):
        model.ask(ORACLE)


def test_a_changed_model_is_read_again(engine, tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "own")
    before = engine.open(folder)
    (folder / "history.csv").write_text("step\n1\n")  # a training that is going on adds to it
    assert engine.open(folder) is before
    sizes = before.ask(questions.weight_sizes)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"minimum_confidence": 1.0}))
    after = engine.open(folder)
    assert (after.fingerprint != before.fingerprint, after.minimum_confidence) == (True, 1.0)
    assert after.correct(TEXTS[0]).changes == ()
    assert (after.ask(questions.weight_sizes), before.ask(questions.weight_sizes)) == (
        sizes,
        sizes,
    )  # one from memory


def test_damaged_models(engine, tiny_folder, tmp_path):
    with pytest.raises(ModelFolderError):
        engine.open(tmp_path / "nowhere")
    folder = shutil.copytree(tiny_folder, tmp_path / "damaged")
    (folder / "weights.npz").write_bytes(b"PK nonsense")
    damaged = engine.open(folder)
    with pytest.raises(ModelFolderError, match=r"damaged.weights\.npz"):
        damaged.correct("가나")
    assert engine.open(tiny_folder).correct("가나").source == "가나"


def test_a_model_is_loaded_before_anybody_asks(engine, tiny_folder, tmp_path):
    folder = shutil.copytree(tiny_folder, tmp_path / "early")
    early = engine.open(folder)
    wait_until(lambda: early.prepare().is_ready)
    (folder / "weights.npz").write_bytes(b"PK nonsense")
    damaged = engine.open(folder)
    with pytest.raises(ModelFolderError, match=r"early.weights\.npz"):
        wait_until(lambda: damaged.prepare().is_ready)
    assert early.prepare().is_ready


def test_a_first_model_that_cannot_be_read_is_left_to_whoever_opens_it(tmp_path):
    with Engine.start([tmp_path / "nowhere"]) as engine, pytest.raises(ModelFolderError, match="nowhere"):
        engine.open(tmp_path / "nowhere")


def test_more_models_than_stay_in_memory(engine, tiny_folder, tmp_path):
    folders = [shutil.copytree(tiny_folder, tmp_path / name) for name in "abc"]
    answers = {engine.open(folder).correct(TEXTS[0]).text for folder in [*folders, *folders]}
    assert len(answers) == 1
    known = [folder for folder in folders if engine.open(folder).progress.is_ready]
    assert known == folders[1:]


def test_nothing_is_left_after_closing():
    before = set(threading.enumerate())
    engine = Engine.start([SPELLER], workers=2)
    model = engine.open(SPELLER)
    assert model.correct("가나").source == "가나"
    engine.close()
    assert set(threading.enumerate()) <= before
    with pytest.raises(EngineDiedError, match="closed"):
        model.correct("다라")


def test_an_answer_that_does_not_come_in_time():
    with Engine.start([SPELLER], patience=0.0) as engine, pytest.raises(EngineSlowError):
        engine.open(SPELLER).correct("가나")


def test_an_experiment_has_more_time_than_a_correction():
    """Else an answer that would come is given up, and the same question sent again."""
    left = []

    def ask(message, deadline):
        left.append(round(deadline - time.monotonic()))
        return (), 0

    link = SimpleNamespace(is_lost=False, under_way=0, has=lambda key: True, ask=ask, close=lambda: None)
    with Engine([link], patience=20.0) as engine:
        for question in (questions.trace, questions.grown):
            engine.ask(model_key(SPELLER), question, "가나")
    assert left == [20, 60]


@pytest.mark.parametrize("wanted", ["0", "-1", "two", "1.5"])
def test_a_number_of_workers_that_is_none(monkeypatch, wanted):
    monkeypatch.delenv("ATTENTION_ENGINE", raising=False)
    monkeypatch.setenv("ATTENTION_WORKERS", wanted)
    with pytest.raises(ValueError, match="ATTENTION_WORKERS"):
        Engine.from_environment()


@pytest.mark.parametrize(("said", "ahead"), [("0", False), ("", True), ("1", True)])
def test_workers_may_be_told_to_leave_the_cores_alone(monkeypatch, said, ahead):
    monkeypatch.delenv("ATTENTION_ENGINE", raising=False)
    monkeypatch.setenv("ATTENTION_AHEAD", said)
    monkeypatch.setattr(Engine, "start", lambda models, workers, ahead: (models, workers, ahead))
    assert Engine.from_environment(["a"]) == (["a"], 1, ahead)
