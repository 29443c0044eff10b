"""The address: what it holds, what the browser's Back takes back, and what a hostile one cannot do."""

from urllib.parse import urlencode

import pytest
from streamlit.runtime.scriptrunner import ScriptRunContext

from tests.ui.hostile import TEXTS
from tests.ui.pages.test_attention import menu
from tests.ui.screen import component, send, setting
from ui.shell import address

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

        def context(**how):
            context = found(**how)
            context.is_history_navigation = True
            context.query_string = urlencode(settings)
            return context

        with monkeypatch.context() as patched:
            patched.setattr(address, "get_script_run_ctx", context)
            app.run()

    return go


def test_streamlit_tells_of_back():
    assert {"is_history_navigation", "query_string"} <= ScriptRunContext.__dataclass_fields__.keys()


def test_every_step_is_a_setting():
    assert set(address.STEPS) <= address.DEFAULTS.keys()
    assert not {"sentence", "lang", "cell", "confidence"} & set(address.STEPS)


def test_a_choice_is_a_step_and_another_setting_is_none(open_app):
    app = open_app(sentence=SENTENCE)
    before = step(app)
    app.segmented_control(key="control_view").set_value("lines").run()
    chosen = step(app)
    assert chosen != before
    menu(app, "language").click("en").run()
    app.toggle(key="control_lecture").set_value(True).run()
    assert step(app) == chosen
    send(app, "correction", "asked", {"what": "choose", "number": 1})
    assert step(app) != chosen


def test_what_differs_from_the_defaults_is_told(open_app):
    app = open_app(sentence="고갱", head="2")
    assert {name for name, value in told(app).items() if value} == {"sentence", "head"}
    assert told(app).keys() == address.DEFAULTS.keys()


def test_back_takes_over_the_settings_of_the_address(open_app, go_back):
    app = open_app(sentence=SENTENCE, layer="2", cell="1,1")
    app.segmented_control(key="control_view").set_value("lines").run()
    go_back(app, sentence=SENTENCE, layer="1")
    assert not app.exception
    assert [setting(app, name) for name in ("view", "layer", "cell")] == ["heatmap", "1", ""]
    assert component(app, "live_text")["revision"] == 0  # the text is the same: the area is left alone


def test_back_to_another_sentence_fills_the_text_area(open_app, go_back):
    app = open_app(sentence=SENTENCE)
    go_back(app, sentence="갱")
    assert setting(app, "sentence") == "갱"
    area = component(app, "live_text")
    assert area["text"] == "갱"
    assert area["revision"] > 0


def test_back_to_an_empty_address_is_the_beginning(open_app, go_back):
    app = open_app(sentence="갱", view="steps", lang="en")
    go_back(app)
    assert not app.exception
    assert app.session_state["view"] == address.DEFAULTS | {"lang": "en"}  # the visitor's, not the picture's


def test_the_answer_to_back_says_which_one_it_answers(open_app, go_back):
    """The browser leaves answers alone that were on their way before its visitor pressed Back."""
    app = open_app(sentence="갱")
    assert component(app, "address_bar")["followed"] == {"times": 0, "query": ""}
    go_back(app, layer="1")
    app.segmented_control(key="control_view").set_value("lines").run()
    assert component(app, "address_bar")["followed"] == {"times": 1, "query": "layer=1"}


def test_back_to_another_page_brings_the_settings_along(open_app, go_back):
    app = open_app(sentence="갱", layer="2")
    app.switch_page("ui/pages/positions.py")
    go_back(app)
    assert [setting(app, name) for name in ("sentence", "layer")] == ["갱", "2"]


def test_back_to_nonsense_breaks_nothing(open_app, go_back):
    app = open_app(sentence=SENTENCE)
    for value in TEXTS:
        go_back(app, **dict.fromkeys([*address.DEFAULTS, "nothing"], value))
        assert not app.exception, value
        assert app.session_state["view"].keys() == address.DEFAULTS.keys()
        assert all(isinstance(each, str) for each in app.session_state["view"].values())


@pytest.fixture
def settings(monkeypatch) -> dict[str, str]:
    view = dict(address.DEFAULTS)
    monkeypatch.setattr(address, "_view", lambda: view)
    return view


def test_hostile_texts_read_as_the_default(settings):
    for text in TEXTS:
        settings.update(layer=text, positions=text, confidence=text)
        assert address.get_number("positions", 2, 512) == 64
        assert address.get_option("layer", ["1", "2"], otherwise="2") == "2"
        assert address.get_share("confidence") is None, text


def test_a_setting_that_does_not_exist_is_an_error(settings):
    with pytest.raises(KeyError):
        address.get("nothing")
    with pytest.raises(KeyError, match="nothing"):
        address.put("nothing", "1")
    assert "nothing" not in settings
