"""A model that is still being loaded, or gives no answer: what the pages show, and what they do afterwards."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import ScriptRunContext

from engine import EngineBusyError, EngineDiedError, EngineSlowError
from engine.progress import Progress
from model import ModelFolderError
from tests.ui.fake_corrector import FakeCorrector
from tests.ui.pages.test_attention import text_of, words
from tests.ui.screen import component, figures, messages, setting
from ui.asking import loaders
from ui.asking.loading import SHOWN, StillLoading
from ui.shell import address
from ui.shell.declared import defaults
from ui.wording.texts import LANGUAGES, table

KO = table("ko")
EXAMPLE = defaults()["sentence"]
OTHER = "고갱이 왔다"
PAGES_THAT_NEED_THE_MODEL = ("calculation", "masks", "positions", "network")


def progress(app) -> list[str]:
    return [element.proto.text for element in app.get("progress")]


def said(stage: str) -> str:
    """What the progress says at a stage, up to the seconds."""
    number = SHOWN.index(stage) + 1
    text = KO["loading"].format(number=number, count=len(SHOWN), stage=KO[f"loading_{stage}"], seconds="\n")
    return text.partition("\n")[0]


class Waiting(FakeCorrector):
    """A model whose loading has come to ``stage``."""

    name, stage, problem = "transformer", "library", None

    def prepare(self) -> Progress:
        if self.problem:
            raise self.problem
        return Progress(self.stage)


@pytest.fixture
def waiting(correctors, monkeypatch):
    """The model of all pages, on its way until its ``stage`` is "ready"; without anything that stands in for it."""
    model = Waiting()

    def load(path):
        if not model.prepare().is_ready:
            raise StillLoading(model)
        return model

    monkeypatch.setattr(loaders, "load_corrector", load)
    monkeypatch.setattr(loaders, "open_corrector", lambda path: model)
    monkeypatch.setattr(loaders, "stand_in", lambda path: None)
    return model


class FakeStandIn(FakeCorrector):
    """Answers all texts but a long one and a hard one, and nothing else."""

    def answers(self, text: str) -> bool:
        return len(text) < 100

    def correct(self, text: str):
        if "뷁" in text:
            raise loaders.NotLoadedError("step-by-step decoding")
        return super().correct(text)

    def ask(self, kind, *_):
        raise loaders.NotLoadedError(kind)


@pytest.fixture
def stand_in(waiting, monkeypatch):
    found = FakeStandIn()
    monkeypatch.setattr(loaders, "stand_in", lambda path: found)
    return found


def test_the_first_example_is_shown_while_the_model_is_on_its_way(open_app, waiting, stand_in):
    app = open_app()
    assert not app.exception
    assert figures(app) == ["overview", "heatmap"]
    assert text_of(app) == stand_in.correct(EXAMPLE).text
    (text,) = progress(app)
    assert text.startswith(said("library"))


def test_every_stage_is_named(open_app, waiting):
    for stage in SHOWN:
        waiting.stage = stage
        (text,) = progress(open_app())
        assert text.startswith(said(stage))


def test_what_is_typed_before_the_model_is_ready_is_corrected_at_once(open_app, waiting, stand_in):
    app = open_app(sentence=OTHER)
    assert len(progress(app)) == 1
    assert figures(app) == ["overview", "heatmap"]
    assert words(app) == [("고갱이", "고객이")]


@pytest.mark.parametrize("text", [". ".join([OTHER, *["그리고"] * 30]), OTHER + " 뷁"])
def test_a_text_that_the_stand_in_does_not_answer_waits(open_app, waiting, stand_in, text):
    app = open_app(sentence=text)
    assert not app.exception
    assert len(progress(app)) == 1
    assert not figures(app)
    waiting.stage = "ready"
    app.run()
    assert not progress(app)
    assert words(app) == [("고갱이", "고객이")]
    assert app.session_state["view"]["sentence"] == text


def test_a_view_that_needs_the_network_waits_for_it_and_that_is_said_once(open_app, waiting, stand_in):
    app = open_app(view="numbers")
    assert not app.exception
    assert len(progress(app)) == 1
    waiting.stage = "ready"
    app.run()
    assert not app.exception
    assert not progress(app)


@pytest.mark.parametrize("page", PAGES_THAT_NEED_THE_MODEL)
def test_other_pages_wait_visibly(open_app, waiting, page):
    app = open_app(page=page)
    assert not app.exception
    assert len(progress(app)) == 1
    waiting.stage = "ready"
    app.run()
    assert not progress(app)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (ModelFolderError("weights.npz is cut short"), "model_folder_error"),
        (EngineDiedError("3 workers ended at their start"), "engine_died"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_a_message_after_the_wait(open_app, waiting, problem, message):
    app = open_app()
    assert progress(app)
    waiting.problem = problem
    app.run()
    assert messages(app) == [KO[message]]
    assert not progress(app)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (EngineBusyError("128 questions are waiting"), "engine_busy"),
        (EngineSlowError("no answer came in time"), "engine_slow"),
        (EngineDiedError("the worker ended twice"), "engine_died"),
    ],
)
def test_where_no_answer_comes_a_message_says_why_and_the_next_run_asks_again(
    open_app, correctors, monkeypatch, language, error, message
):
    def fail(text):
        raise error

    monkeypatch.setattr(correctors["transformer"], "correct", fail)
    app = open_app(sentence=OTHER, lang=language)
    assert not app.exception
    assert messages(app) == [table(language)[message]]
    assert component(app, "live_text")["text"] == setting(app, "sentence") == OTHER
    monkeypatch.undo()
    monkeypatch.setattr(loaders, "load_corrector", lambda path: FakeCorrector())
    app.button(key="ask_again").click().run()
    assert not messages(app)
    assert words(app) == [("고갱이", "고객이")]


@pytest.mark.parametrize("page", ["attention", *PAGES_THAT_NEED_THE_MODEL])
def test_no_page_breaks_where_no_answer_comes(open_app, correctors, monkeypatch, page):
    def fail(*_):
        raise EngineBusyError("128 questions are waiting")

    for name in ("correct", "ask", "trace"):
        monkeypatch.setattr(correctors["transformer"], name, fail)
    config = replace(FakeCorrector.config, has_positions=True)
    monkeypatch.setattr(correctors["transformer"], "config", config)
    app = open_app(page=page)
    assert not app.exception
    assert messages(app) == [KO["engine_busy"]]


def test_a_view_without_an_answer_leaves_the_correction(open_app, correctors, monkeypatch):
    def fail(*_):
        raise EngineSlowError("no answer came in time")

    monkeypatch.setattr(correctors["transformer"], "ask", fail)
    app = open_app(sentence=OTHER, view="numbers")
    assert messages(app) == [KO["engine_slow"]]
    assert words(app) == [("고갱이", "고객이")]


def test_what_the_browser_says_while_it_asks_for_news_changes_no_setting(monkeypatch):
    """A control that the session has just moved still stands elsewhere in a browser that has not heard of it."""
    assert "fragment_ids_this_run" in ScriptRunContext.__dataclass_fields__
    context = SimpleNamespace(fragment_ids_this_run=["progress"])
    monkeypatch.setattr(address, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(st, "session_state", {"view": dict(defaults())})
    address.put("layer", "1")
    assert address.get("layer") == defaults()["layer"]
    context.fragment_ids_this_run = None
    address.put("layer", "1")
    assert address.get("layer") == "1"
