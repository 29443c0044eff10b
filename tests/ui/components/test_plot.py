"""What travels to the component that draws every figure, and what comes back from it."""

from types import SimpleNamespace

import plotly.graph_objects as go
import pytest

import viz
from tests.ui.hostile import VALUES
from ui.components import figures
from viz.browser.plot import plot_data
from viz.browser.texts import LANGUAGES, table


def say(key: str, /, **values) -> str:
    return table("ko")[key].format(**values)


def data_of(figure: go.Figure, **options) -> dict:
    return plot_data(say, figure, **{"label": "어텐션", "file": "고객-heatmap"} | options)


def test_a_saved_picture_has_the_ground_of_its_theme():
    grounds = {theme: data_of(go.Figure(), theme=theme)["ground"] for theme in viz.THEMES}
    assert len(set(grounds.values())) == len(grounds)
    assert all(ground.startswith("#") for ground in grounds.values())


def test_every_word_of_the_toolbar_is_said_in_every_language():
    for language in LANGUAGES:
        words = plot_data(table(language).__getitem__, go.Figure(), label="", file="")["words"]
        assert all([words["png"], words["svg"], words["table"], words["close"], *words["plotly"].values()])
        assert {"Zoom", "Pan", "Reset axes"} <= words["plotly"].keys()


@pytest.fixture
def shown(monkeypatch) -> list[dict]:
    """What the component was given; a handler among it is called at once, as after a click."""
    found = []

    def component(**given):
        found.append(given)
        given.get("on_click_change", lambda: None)()

    monkeypatch.setattr(figures, "_PLOT", component)
    return found


def clicked(monkeypatch, value: object) -> list:
    heard = []
    state = SimpleNamespace(session_state={"map": {"click": value}})
    monkeypatch.setattr("ui.components.component.st", state)
    figures.draw_plot({"spec": "{}"}, "map", heard.append)
    return heard


def test_a_point_reaches_the_page_as_it_is_and_what_is_none_does_not(shown, monkeypatch):
    assert clicked(monkeypatch, {"x": 1, "y": 2}) == [{"x": 1, "y": 2}]
    assert shown[0]["data"] == {"spec": "{}", "answers": True}
    for value in (each for each in VALUES if not isinstance(each, dict)):
        assert clicked(monkeypatch, value) == []


def test_a_figure_that_answers_to_no_click_says_so(shown):
    figures.draw_plot({"spec": "{}"}, "map")
    assert shown[0]["data"]["answers"] is False
    assert "on_click_change" not in shown[0]
