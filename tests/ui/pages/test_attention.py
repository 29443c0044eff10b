"""Main page without a browser: typing, examples, settings, views, refused texts."""

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from model import ModelFolderError
from model.trace.trace import Selection
from tests.ui import screen
from tests.ui.conftest import entry
from tests.ui.fake_corrector import MAX_LENGTH, random_trace
from tests.ui.screen import (
    component,
    components,
    figures,
    html,
    menu,
    messages,
    numbers,
    send,
    setting,
)
from ui.asking import loaders
from ui.export.take_away import FILES
from ui.sentence import page
from ui.shell.settings import defaults, load_examples
from ui.views import VIEWS
from ui.wording import table

KO, EN = table("ko"), table("en")
FIRST_LAYER_MEAN = Selection("cross_attention", 0)


def places(app) -> list[tuple[str, str | None]]:
    """Everything on the page with a key, in the order of the page."""
    return [(type(each).__name__, each.key) for each in app.main if getattr(each, "key", None)]


def test_everything_stays_where_it_stood_and_who_gets_no_picture_can_still_open_another_view(
    open_app, monkeypatch
):
    def fails(*_):
        raise loaders.EngineError("no answer")

    app = open_app()
    first = places(app)
    assert places(app.run()) == first and len(first) > 8
    monkeypatch.setattr(page, "show_view", fails)
    app.run()
    assert {"control_view", "control_kind"} <= {key for _, key in places(app)}
    assert KO["engine_died"] in messages(app)


def test_opens_in_korean_with_text_correction_overview_and_heatmap_and_an_empty_address(open_app):
    app = open_app()
    assert f'<h1 class="product">{KO["product"]}</h1>' in html(app)
    expected = "scripts own_words live_text correction address_bar overview tab_in_sight heatmap theme_change"
    assert components(app) == [*expected.split(), "ahead", "welcome"]
    assert component(app, "live_text")["text"] == load_examples()[0].text
    assert app.session_state["view"] == defaults()
    assert {value for _, value in component(app, "address_bar")["settings"]} == {None}


def test_settings_that_make_no_sense_fall_back(open_app):
    nonsense = dict.fromkeys(defaults().keys() - {"sentence"}, "<script>")
    for settings in (nonsense, {"layer": "99", "head": "-1", "part": "7", "edit": "9" * 40, "lang": "xx"}):
        app = open_app(sentence="고갱", **settings)
        np.testing.assert_array_equal(numbers(app), FIRST_LAYER_MEAN.weights(random_trace("고갱", "고객")))


def test_typing_and_picking_an_example_replace_the_sentence_and_the_second_is_a_step_back(open_app):
    app = open_app(sentence="고갱", edit="1", cell="0,0", step="1", accepted="1", rejected="2", part="1")
    before, offered = component(app, "address_bar")["step"], menu(app, "examples")
    send(app, "live_text", "text", "또 고갱")
    assert screen.chosen(app, "sentence", "edit", "rejected") == ("또 고갱", "", "")
    assert component(app, "live_text")["revision"] == 0  # the area is left alone
    assert component(app, "address_bar")["step"][:2] == before[:2]  # typing is no step
    assert offered.options == [KO[f"example_{example.id}"] for example in load_examples()]
    menu(app, "examples").click("spacing").run()
    assert setting(app, "sentence") == "우리는할 수있는 만큼만 천천 히 해보기로 했다."
    assert component(app, "live_text")["text"] == setting(app, "sentence")
    assert component(app, "live_text")["revision"] > 0
    assert set(screen.chosen(app, "edit", "cell", "step", "accepted", "rejected", "part")) == {""}
    assert component(app, "address_bar")["step"] != before


def test_too_long_a_sentence_is_told_with_both_lengths_and_kept(open_app):
    text = "가" * (MAX_LENGTH + 3)
    app = open_app(sentence=text)
    told = KO["too_long"].format(number=1, length=MAX_LENGTH + 3, limit=MAX_LENGTH)
    assert sorted(messages(app)) == sorted([told, KO["too_long_to_show"].format(limit=MAX_LENGTH)])
    assert screen.text_of(app) == text
    assert not figures(app)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_too_much_text_is_told_and_kept(open_app, form):
    text = unicodedata.normalize(form, "고갱이 왔다. " * 300)
    app = open_app(sentence=text)
    assert messages(app) == [
        KO["too_many_characters"].format(read="1,991", left="409", page=KO["table_page"])
    ]
    assert setting(app, "sentence") == text
    assert ["sentence", None] in component(app, "address_bar")["settings"]  # no server would answer it


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("객이 왔다.", "nothing_found"),
        ("ㅋㅋㅋㅋ", "nothing_found"),
        ("Hello 🙂", "no_hangul"),
    ],
)
def test_a_text_that_stays_is_shown_with_its_pictures_and_the_reason(open_app, text, said):
    app = open_app(sentence=text, lang="en")
    assert messages(app) == [EN[said]]
    assert screen.text_of(app) == text
    assert not screen.words(app)
    assert figures(app) == ["overview", "heatmap"]


def test_decomposed_hangul_is_read_as_syllables(open_app):
    app = open_app(sentence=unicodedata.normalize("NFD", "고갱이 왔다"))
    assert screen.words(app) == [("고갱이", "고객이")]
    assert component(app, "correction")["text"] == "고객이 왔다"  # with nothing behind it
    assert KO["composed"] in html(app)


def test_what_is_one_click_away_is_drawn_only_then_and_a_prediction_has_no_overview_that_tells_it(open_app):
    app = open_app(sentence="고갱이 왔다", view="edits", edit="1")
    assert figures(app) == ["overview", "edits_bars"]
    assert not app.get("download_button") and not app.select_slider and not app.latex
    screen.open_popover(app, "taking")
    assert len(app.get("download_button")) == 1 + len(FILES)
    screen.open_popover(app, "settings")
    assert app.select_slider(key="control_confidence")
    screen.open_popover(app, "explanation")
    assert app.markdown
    assert figures(open_app(sentence="고갱이 왔다", view="predict", edit="1")) == []


@pytest.mark.parametrize(("model", "sentence"), [("transformer", "고갱이 왓다"), ("seq2seq", "비가 온다")])
def test_every_view_opens_with_everything_that_is_one_click_away(open_app, model, sentence):
    app = open_app(sentence=sentence, model=model)
    for view in VIEWS:
        app.session_state["view"]["view"] = view.name
        for key in ("view_options", "taking", "explanation", "overview_explanation", "settings"):
            app.session_state[key] = True
        app.run()
        assert setting(app, "view") == view.name


def test_a_damaged_model_folder_of_one_s_own_is_a_message(open_app, entries, monkeypatch):
    def damaged(path):
        raise ModelFolderError("weights.npz is cut short")

    entries.append(entry(Path("runs/mine")))
    monkeypatch.setattr(loaders, "load_corrector", damaged)
    app = open_app(model="runs/mine", lang="en")
    assert messages(app) == [EN["own_model_error"]]
    assert "weights.npz is cut short" in html(app)


def test_without_a_text_or_any_model_the_page_says_so(open_app, entries):
    for text in ("", "   \n\t "):
        app = open_app(sentence=text)
        assert messages(app) == [KO["empty"]] and not figures(app)
    entries.clear()
    assert messages(open_app()) == [KO["model_folder_error"]]
