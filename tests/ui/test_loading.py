"""A model that is still being loaded: what the pages show meanwhile, and what they do when it is ready."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import ScriptRunContext

from model import ModelFolderError
from model.folder import ASSETS
from model.remembered import Remembered
from tests.ui.fake_corrector import FakeCorrector, random_trace
from tests.ui.screen import figures, messages
from tests.ui.test_attention_page import text_of, words
from ui import address, loaders, loading
from ui.loading import STAGES, Loading, StillLoading
from ui.texts import table

KO = table("ko")
EXAMPLE = address.DEFAULTS["sentence"]
OTHER = "고갱이 왔다"
PAGES_THAT_NEED_THE_MODEL = ("calculation", "masks", "positions", "network")


def progress(app) -> list[str]:
    return [element.proto.text for element in app.get("progress")]


def said(stage: str) -> str:
    """What the progress says at a stage, up to the seconds."""
    number = STAGES.index(stage) + 1
    text = KO["loading"].format(number=number, count=len(STAGES), stage=KO[f"loading_{stage}"], seconds="\n")
    return text.partition("\n")[0]


class Waiting:
    """A model that is ready as soon as ``finish`` is called."""

    def __init__(self):
        self.corrector = FakeCorrector()
        self._may_end = threading.Event()
        self.loading = Loading(self._work)

    def load_corrector(self, path) -> FakeCorrector:
        if not self.loading.is_over:
            raise StillLoading(self.loading)
        return self.loading.result()

    def finish(self) -> None:
        self._may_end.set()
        self.loading.result()

    def _work(self, reached) -> FakeCorrector:
        self._may_end.wait()
        return self.corrector


@pytest.fixture
def waiting(correctors, monkeypatch):
    """The model of all pages, until its ``finish`` only on its way; without a remembered answer."""
    model = Waiting()
    monkeypatch.setattr(loaders, "load_corrector", model.load_corrector)
    monkeypatch.setattr(loaders, "start_loading", lambda path: model.loading)
    monkeypatch.setattr(loaders, "recall", lambda path: None)
    yield model
    model.finish()


@pytest.fixture
def remembered(waiting, monkeypatch):
    """An answer to EXAMPLE that is known before the model is ready."""
    correction = FakeCorrector().correct(EXAMPLE)
    target = correction.sentences[0].text
    trace = random_trace(EXAMPLE, target)

    def look(source, text):
        if (source, text) != (EXAMPLE, target):
            raise loaders.NotRememberedError(source)
        return trace

    known = Remembered("transformer", "fake", FakeCorrector.config, correction, look)
    monkeypatch.setattr(Remembered, "minimum_confidence", FakeCorrector.minimum_confidence)
    monkeypatch.setattr(loaders, "recall", lambda path: known)
    return known


def test_the_first_example_is_shown_while_the_model_is_on_its_way(open_app, waiting, remembered):
    app = open_app()
    assert not app.exception
    assert figures(app) == ["overview", "heatmap"]
    assert text_of(app) == remembered.correct(EXAMPLE).text
    (text,) = progress(app)
    assert text.startswith(said("library"))


def test_the_model_begins_after_the_picture_of_what_is_remembered(open_app, waiting, remembered, monkeypatch):
    monkeypatch.setattr(loading, "_HEAD_START", 3600.0)  # no machine is too slow for it
    app = open_app()
    assert not waiting.loading.has_begun
    monkeypatch.setattr(loading, "_HEAD_START", 0.0)
    app.run()
    assert waiting.loading.has_begun


def test_the_model_begins_at_once_where_only_it_knows_the_answer(open_app, waiting, remembered):
    open_app(sentence=OTHER)
    assert waiting.loading.has_begun


def test_what_is_typed_before_the_model_is_ready_is_corrected_then(open_app, waiting, remembered):
    app = open_app(sentence=OTHER)
    assert len(progress(app)) == 1
    assert not figures(app)
    waiting.finish()
    app.run()
    assert not progress(app)
    assert words(app) == [("고갱이", "고객이")]
    assert app.session_state["view"]["sentence"] == OTHER


def test_a_view_that_needs_the_network_says_so_in_its_place(open_app, waiting, remembered):
    app = open_app(view="numbers")
    assert not app.exception
    assert len(progress(app)) == 2
    waiting.finish()
    app.run()
    assert not app.exception
    assert not progress(app)


@pytest.mark.parametrize("page", PAGES_THAT_NEED_THE_MODEL)
def test_other_pages_wait_visibly(open_app, waiting, page):
    app = open_app(page=page)
    assert not app.exception
    assert len(progress(app)) == 1
    waiting.finish()
    app.run()
    assert not progress(app)


def test_a_model_that_cannot_be_loaded_is_a_message_after_the_wait(open_app, waiting, monkeypatch):
    def damaged(reached):
        raise ModelFolderError("weights.npz is cut short")

    waiting.loading = Loading(damaged)
    with pytest.raises(ModelFolderError):
        waiting.loading.result()
    app = open_app()
    assert messages(app) == [KO["model_folder_error"]]
    assert not progress(app)
    waiting.loading = Loading(lambda reached: waiting.corrector)


def test_two_visitors_at_once_load_a_model_once(tmp_path, monkeypatch):
    loads = []
    monkeypatch.setattr(loaders, "_load", lambda path, reached: loads.append(path) or FakeCorrector())
    with ThreadPoolExecutor(4) as visitors:
        found = list(visitors.map(lambda _: loaders.start_loading(tmp_path).result(), range(8)))
    assert loads == [str(tmp_path)]
    assert len(set(map(id, found))) == 1


def test_a_model_that_failed_is_tried_again_when_its_files_change(tmp_path, monkeypatch):
    def load(path, reached):
        if not (tmp_path / "weights.npz").exists():
            raise ModelFolderError("weights.npz is missing")
        return "loaded"

    monkeypatch.setattr(loaders, "_load", load)
    with pytest.raises(ModelFolderError):
        loaders.start_loading(tmp_path).result()
    with pytest.raises(ModelFolderError):
        loaders.load_corrector(tmp_path)
    (tmp_path / "weights.npz").write_bytes(b"")
    assert loaders.start_loading(tmp_path).result() == "loaded"


def test_a_shipped_model_passes_through_all_stages():
    reached = []
    loaders._load(str(ASSETS / "growing-up"), reached.append)
    assert reached == list(STAGES)


def test_an_unknown_stage_is_refused():
    with pytest.raises(ValueError, match="kitchen"):
        Loading(lambda reached: reached("kitchen")).result()


def test_a_server_that_is_stopped_compiles_no_further_length():
    code = """
from itertools import count
from threading import Thread
from time import sleep
from ui import loaders
Thread(target=loaders._finish, args=((sleep(0.1) for _ in count()),), daemon=False).start()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_the_browser_says_while_it_asks_for_news_changes_no_setting(monkeypatch):
    """A control that the session has just moved still stands elsewhere in a browser that has not heard of it."""
    assert "fragment_ids_this_run" in {field.name for field in fields(ScriptRunContext)}
    context = SimpleNamespace(fragment_ids_this_run=["progress"])
    monkeypatch.setattr(address, "get_script_run_ctx", lambda **_: context)
    monkeypatch.setattr(st, "session_state", {"view": dict(address.DEFAULTS)})
    address.put("layer", "1")
    assert address.get("layer") == address.DEFAULTS["layer"]
    context.fragment_ids_this_run = None
    address.put("layer", "1")
    assert address.get("layer") == "1"
