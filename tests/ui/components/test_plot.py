"""The data sent to the component that draws every figure, and the events that come back."""

import plotly.graph_objects as go

import viz
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
