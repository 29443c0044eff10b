"""The address: what it holds, what the browser's Back takes back, and what a hostile one cannot do."""

import pytest

from tests.ui.hostile import TEXTS, VALUES
from tests.ui.screen import component, send, setting
from ui import address

SENTENCE = "고갱이 왔다. 또 고갱이 왔다."


def step(app) -> list:
    return component(app, "address_bar")["step"]


def told(app) -> dict[str, str | None]:
    return dict(component(app, "address_bar")["settings"])


def test_every_step_is_a_setting():
    assert set(address.STEPS) <= address.DEFAULTS.keys()
    assert not {"sentence", "lang", "cell", "confidence"} & set(address.STEPS)


def test_a_choice_is_a_step_and_another_setting_is_none(open_app):
    app = open_app(sentence=SENTENCE)
    before = step(app)
    app.segmented_control(key="control_view").set_value("lines").run()
    chosen = step(app)
    assert chosen != before
    app.button(key="language").click().run()
    app.toggle(key="control_lecture").set_value(True).run()
    assert step(app) == chosen
    send(app, "correction", "asked", {"what": "choose", "number": 1})
    assert step(app) != chosen


def test_what_differs_from_the_defaults_is_told(open_app):
    app = open_app(sentence="고갱", head="2")
    assert {name for name, value in told(app).items() if value} == {"sentence", "head"}
    assert told(app).keys() == address.DEFAULTS.keys()


def test_back_takes_over_the_settings_of_the_address(open_app):
    app = open_app(sentence=SENTENCE, layer="2", cell="1,1")
    app.segmented_control(key="control_view").set_value("lines").run()
    send(app, "address_bar", "went", {"sentence": SENTENCE, "layer": "1"})
    assert not app.exception
    assert [setting(app, name) for name in ("view", "layer", "cell")] == ["heatmap", "1", ""]
    assert component(app, "live_text")["revision"] == 0  # the text is the same: the area is left alone


def test_back_to_another_sentence_fills_the_text_area(open_app):
    app = open_app(sentence=SENTENCE)
    send(app, "address_bar", "went", {"sentence": "갱"})
    assert setting(app, "sentence") == "갱"
    area = component(app, "live_text")
    assert area["text"] == "갱"
    assert area["revision"] > 0


def test_back_to_an_empty_address_is_the_beginning(open_app):
    app = open_app(sentence="갱", view="steps", lang="en")
    send(app, "address_bar", "went", {})
    assert not app.exception
    assert app.session_state["view"] == address.DEFAULTS | {"lang": "en"}  # the visitor's, not the picture's


def test_a_browser_that_says_nonsense_breaks_nothing(open_app):
    app = open_app(sentence=SENTENCE)
    before = dict(app.session_state["view"])
    for value in (each for each in VALUES if not isinstance(each, dict)):
        send(app, "address_bar", "went", value)
        assert not app.exception, value
        assert app.session_state["view"] == before, value
    for value in VALUES:
        send(app, "address_bar", "went", dict.fromkeys([*address.DEFAULTS, "nothing"], value))
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
