"""A model that is still loading, or gives no answer: the pages during it and afterwards."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import ScriptRunContext

from engine.records import EngineBusyError, EngineDiedError, EngineSlowError, LibraryMissingError, Progress
from model import ModelFolderError
from model.stored.config import TransformerConfig
from tests.ui.fake_corrector import FakeCorrector
from tests.ui.screen import component, figures, messages, setting, words
from ui.asking import loaders
from ui.asking.loaders import STAGES_SHOWN, StillLoading
from ui.shell import address, runs
from ui.shell.settings import defaults
from viz.browser.texts import table

KO = table("ko")
OTHER = "고갱이 왔다"
PAGES_THAT_NEED_THE_MODEL = ("calculation", "masks", "positions", "network")


def failing(error: Exception):
    """A question to the network that raises ``error``."""

    def fail(*_):
        raise error

    return fail


def progress(app) -> list[str]:
    return [element.proto.text for element in app.get("progress")]


def said(stage: str) -> str:
    """The text of the progress bar at a stage, up to the seconds."""
    number = STAGES_SHOWN.index(stage) + 1
    text = KO["loading"].format(
        number=number, count=len(STAGES_SHOWN), stage=KO[f"loading_{stage}"], seconds="\n"
    )
    return text.partition("\n")[0]


class Waiting(FakeCorrector):
    """A model whose loading has come to ``stage``."""

    name, stage, problem = "transformer", "library", None
    config = TransformerConfig(vocab_size=50, d_model=6, num_layers=2, num_heads=3, dff=8, max_length=40)

    def weight_sizes(self) -> dict[str, int]:
        return {"t/embedding/token_embedding": 900}

    def prepare(self) -> Progress:
        if self.problem:
            raise self.problem
        return Progress(self.stage)


@pytest.fixture
def waiting(correctors, monkeypatch):
    """The model of all pages, on its way until its ``stage`` is "ready"."""
    model = Waiting()

    def load(path):
        if not model.prepare().is_ready:
            raise StillLoading(model)
        return model

    monkeypatch.setattr(loaders, "load_corrector", load)
    monkeypatch.setattr(loaders, "open_corrector", lambda path: model)
    monkeypatch.setattr(loaders, "SECONDS_IN_ONE_RUN", 0.0)
    return model


def test_a_page_waits_for_the_model_visibly_and_names_each_stage(open_app, waiting):
    app = open_app(sentence=OTHER)
    for stage in STAGES_SHOWN:
        waiting.stage = stage
        (text,) = progress(app.run())
        assert text.startswith(said(stage)) and not figures(app)
    waiting.stage = "ready"
    app.run()
    assert not progress(app)
    assert figures(app) == ["overview", "heatmap"]
    assert words(app) == [("고갱이", "고객이")]
    assert app.session_state["view"]["sentence"] == OTHER


def test_a_model_that_is_ready_in_a_moment_is_waited_for(monkeypatch):
    model, stages = Waiting(), iter(("weights", "weights", "ready", "weights"))
    model.prepare = lambda: Progress(next(stages))
    monkeypatch.setattr(loaders, "open_corrector", lambda path: model)
    assert loaders.load_corrector("a folder") is model
    monkeypatch.setattr(loaders, "SOON", -1.0)
    with pytest.raises(StillLoading):
        loaders.load_corrector("a folder")


def test_a_model_that_takes_some_seconds_is_waited_for_in_the_same_run(open_app, waiting, monkeypatch):
    """Another run would send the whole page once more."""
    looks, prepare = iter(("library", "weights", "first_run", "ready")), waiting.prepare

    def progresses():
        waiting.stage = next(looks, "ready")
        return prepare()

    monkeypatch.setattr(waiting, "prepare", progresses)
    monkeypatch.setattr(loaders, "SECONDS_IN_ONE_RUN", 30.0)
    app = open_app(sentence=OTHER)
    assert not progress(app)
    assert figures(app) == ["overview", "heatmap"]


def test_other_pages_wait_visibly(open_app, waiting):
    app = open_app(page="network")
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


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (EngineBusyError("128 questions are waiting"), "engine_busy"),
        (EngineSlowError("no answer came in time"), "engine_slow"),
        (EngineDiedError("the worker ended twice"), "engine_died"),
    ],
)
def test_where_no_answer_comes_a_message_says_why_and_the_next_run_asks_again(
    open_app, correctors, monkeypatch, error, message
):
    monkeypatch.setattr(correctors["transformer"], "correct", failing(error))
    app = open_app(sentence=OTHER)
    assert messages(app) == [KO[message]]
    assert component(app, "live_text")["text"] == setting(app, "sentence") == OTHER
    monkeypatch.undo()
    monkeypatch.setattr(loaders, "load_corrector", lambda path: FakeCorrector())
    app.button(key="ask_again").click().run()
    assert not messages(app)
    assert words(app) == [("고갱이", "고객이")]


@pytest.mark.parametrize("page", ["attention", *PAGES_THAT_NEED_THE_MODEL])
def test_no_page_breaks_where_no_answer_comes(open_app, correctors, monkeypatch, page):
    for name in ("correct", "ask", "trace"):
        monkeypatch.setattr(correctors["transformer"], name, failing(EngineBusyError("too many wait")))
    config = replace(FakeCorrector.config, has_positions=True)
    monkeypatch.setattr(correctors["transformer"], "config", config)
    assert messages(open_app(page=page)) == [KO["engine_busy"]]


@pytest.mark.parametrize(
    ("error", "message", "again"),
    [
        (EngineSlowError("no answer came in time"), "engine_slow", True),
        (LibraryMissingError("tensorflow is not installed"), "needs_tensorflow", False),  # it would not help
    ],
)
def test_a_view_without_an_answer_leaves_the_correction(
    open_app, correctors, monkeypatch, error, message, again
):
    monkeypatch.setattr(correctors["transformer"], "ask", failing(error))
    app = open_app(sentence=OTHER, view="numbers")
    assert messages(app) == [KO[message]]
    (told,) = [part for part in app._tree if getattr(getattr(part, "proto", None), "id", "").endswith("told")]
    assert [each.value for each in (*told.warning, *told.info)] == [KO[message]]  # not over the heads
    assert words(app) == [("고갱이", "고객이")]
    assert ("ask_again" in [each.key for each in app.button]) == again


def test_what_the_browser_says_while_it_asks_for_news_changes_no_setting(monkeypatch):
    """A control that the session has just moved is still elsewhere in a browser that has not heard of it."""
    assert "fragment_ids_this_run" in ScriptRunContext.__dataclass_fields__
    storage = SimpleNamespace(resolve_target=lambda part: ["the text"])
    context = SimpleNamespace(fragment_ids_this_run=["progress"], fragment_storage=storage)
    monkeypatch.setattr(runs, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(st, "session_state", {"view": dict(defaults())})
    address.put("layer", "1")
    assert address.get("layer") == defaults()["layer"]
    context.fragment_ids_this_run = ["progress", "the text"]  # in the text visitors type and choose
    address.put("layer", "2")
    assert address.get("layer") == "2"
    context.fragment_ids_this_run = None
    address.put("layer", "1")
    assert address.get("layer") == "1"
