"""Settings in the address: the browser's Back, defaults, hostile values."""

from itertools import product
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import ScriptRunContext

from tests.ui.hostile import TEXTS
from tests.ui.screen import ask, chosen, component, menu, setting
from ui.shell import address
from ui.shell.settings import defaults, load_examples

SENTENCE = "고갱이 왔다. 또 고갱이 왔다."


def step(app) -> list:
    return component(app, "address_bar")["step"]


def told(app) -> dict[str, str | None]:
    return dict(component(app, "address_bar")["settings"])


@pytest.fixture
def go_back(monkeypatch):
    """The browser's Back (or Forward) to an address of the page that is open."""

    def go(app, **settings: str) -> None:
        app.query_params.clear()
        for name, value in settings.items():
            app.query_params[name] = value
        found = address.get_script_run_ctx
        assert {"is_history_navigation", "query_string"} <= ScriptRunContext.__dataclass_fields__.keys()

        def context(**how):
            context = found(**how)
            context.is_history_navigation = True
            context.query_string = urlencode(settings)
            return context

        with monkeypatch.context() as patched:
            patched.setattr(address, "get_script_run_ctx", context)
            app.run()

    return go


def test_a_choice_is_a_step_and_another_setting_is_none(open_app):
    app = open_app(sentence=SENTENCE)
    before = step(app)
    app.segmented_control(key="control_view").set_value("lines").run()
    chosen = step(app)
    assert chosen != before
    menu(app, "language").click("en").run()
    app.toggle(key="control_lecture").set_value(True).run()
    assert step(app) == chosen
    ask(app, "choose", 1)
    assert step(app) != chosen


def test_back_takes_over_the_settings_of_the_address_and_says_which_one_it_answers(open_app, go_back):
    """The browser leaves answers alone that were on their way before its visitor pressed Back."""
    app = open_app(sentence=SENTENCE, layer="2", cell="1,1", lang="en")
    assert component(app, "address_bar")["followed"] == {"times": 0, "query": ""}
    app.segmented_control(key="control_view").set_value("lines").run()
    go_back(app, sentence=SENTENCE, layer="1")
    assert chosen(app, "view", "layer", "cell") == ("heatmap", "1", "")
    assert component(app, "live_text")["revision"] == 0  # the text is the same: the area is left alone
    query = urlencode({"sentence": SENTENCE, "layer": "1"})
    app.segmented_control(key="control_view").set_value("lines").run()
    assert component(app, "address_bar")["followed"] == {"times": 1, "query": query}
    go_back(app, sentence="갱")
    area = component(app, "live_text")
    assert area["text"] == setting(app, "sentence") == "갱" and area["revision"] > 0
    go_back(app)
    assert app.session_state["view"] == defaults() | {"lang": "en"}  # the visitor's, not the picture's


def test_back_to_another_page_brings_the_settings_along(open_app, go_back):
    app = open_app(sentence="갱", layer="2")
    app.switch_page("ui/pages/positions.py")
    go_back(app)
    assert chosen(app, "sentence", "layer") == ("갱", "2")


LISTS = (",".join(["1"] * 200), "9999,9999", "🙂\ufeff,1")


def test_back_to_nonsense_breaks_nothing(open_app, go_back):
    app = open_app(sentence=SENTENCE)
    steps = {"view": "steps", "sentence": SENTENCE}
    for value, given in (*product((TEXTS[0], *LISTS), ({},)), (LISTS[-1], steps)):
        go_back(app, **dict.fromkeys([*defaults(), "nothing"], value) | given)
        assert app.session_state["view"].keys() == defaults().keys()
        assert all(isinstance(each, str) for each in app.session_state["view"].values())


# The values of settings that a link leaves out. Old links stay right only while none of these changes.
WITHOUT = {
    "lang": "ko",
    "model": "transformer",
    "kind": "cross_attention",
    "layer": "3",
    "head": "mean",
    "view": "heatmap",
    "experiment": "without",
    "off": "zero",
    "instead": "uniform",
    "twin": "typed",
    "twin_sentence": "친구의 가치",
    "around": "12",
    "mass": "60",
    "order": "place",
    "shown": "weights",
    "unit": "syllable",
    "q": "0,10,0",
    "k": "10,0,0;0,10,0;0,0,10;0,0,10",
    "v": "1,0;10,0;100,5;1000,6",
    "heads_by": "leading",
    "heads_at": "copied",
    "grown_role": "own",
    "batch": "손니미 왔는데 방이 업써요.\n갠찬아요!\n이제 집에 갈께요.",
    "masks_kind": "decoder_attention",
    "positions": "64",
    "dimensions": "128",
    "curves": "10,11,30,31",
}
EMPTY = """lecture confidence part edit accepted rejected step cell heads marks revealed switched_off painted
    sources_step fork_step fork_token twin_model twin_difference unmarked fitted logarithmic unscaled snapshot
    film batch_row moved""".split()


def test_links_that_leave_settings_out_mean_what_they_meant():
    given = {"sentence": load_examples()[0].text, **WITHOUT, **dict.fromkeys(EMPTY, "")}
    assert defaults().items() >= given.items()


def test_a_link_that_names_a_default_is_one_that_leaves_it_out(monkeypatch):
    for name, value in defaults().items():
        monkeypatch.setattr(st, "session_state", {})
        monkeypatch.setattr(st, "query_params", SimpleNamespace(to_dict=lambda: {name: value}))  # noqa: B023
        assert address.get(name) == value
        assert address.told() == {}
        address.put(name, "other")
        assert address.told() == {name: "other"}
        assert address.told("sentence").keys() == {name, "sentence"}
        address.reset([name])
        assert address.told() == {}


def test_another_text_forgets_what_was_chosen_in_the_one_before(settings):
    settings.update(dict.fromkeys(settings, "1"))
    address.forget("sentence")
    gone = {"step", "cell", "painted", "sources_step", "fork_step", "fork_token", "why_row", "why_column"}
    assert {name for name, value in settings.items() if value != "1"} == gone
    address.forget("text")
    gone |= {"part", "edit", "asked", "accepted", "rejected"}
    assert {name for name, value in settings.items() if value != "1"} == gone


def test_a_setting_bound_to_a_change_goes_with_it(settings, monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    settings["marks"] = "3"
    address.bind(["marks"], "question", "the first")  # a link's marks hold for the change that the link shows
    address.bind(["marks"], "question", "the first")
    assert settings["marks"] == "3"
    address.bind(["marks"], "question", "the second")
    assert settings["marks"] == ""


def test_hostile_texts_read_as_the_default_and_a_setting_that_does_not_exist_is_an_error(settings):
    for text in TEXTS:
        settings.update(layer=text, confidence=text)
        assert address.get_option("layer", ["1", "2"], otherwise="2") == "2"
        assert address.get_share("confidence") is None, text
    with pytest.raises(KeyError):
        address.get("nothing")
    with pytest.raises(KeyError, match="nothing"):
        address.put("nothing", "1")
