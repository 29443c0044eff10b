"""What a page sends is what Plotly would send: its checks find nothing to change in a specification."""

import json

import numpy as np
import plotly.graph_objects as go
import pytest

import viz
from viz import Amount, GraphEdge, GraphNode, MapTexts, Measured, attention_heatmap, head_grid
from viz.amounts import before_after, waterfall
from viz.figure import to_json
from viz.graphs import circuit_graph
from viz.layers import layer_curve, layer_grid, place_map

RNG = np.random.default_rng(0)
WEIGHTS = RNG.dirichlet(np.ones(5), (2, 3, 4)).astype(np.float32)
CAUSAL = np.triu(np.ones((4, 4), bool), 1)
SQUARE = np.where(CAUSAL, 0, RNG.random((4, 4), np.float32))
TOKENS = ("<s>", "가", "<b>", " ", "\n")


def heatmap(weights=WEIGHTS[0, 0], queries=TOKENS[:4], keys=TOKENS, **options):
    return attention_heatmap, (weights, queries, keys), options


FIGURES = {
    "heatmap": heatmap(),
    "masked": heatmap(SQUARE, keys=TOKENS[:4], masked=CAUSAL, theme="dark"),
    "chosen": heatmap(selected=(1, 2), emphasis_rows=[0, 3], extent=40, texts=MapTexts("제목", "<물음>", "&")),
    "logarithmic": heatmap(logarithmic=True, colour_max=None),
    "difference": heatmap(WEIGHTS[0, 0] - WEIGHTS[1, 0], difference=True, logarithmic=True),
    "without the marks": heatmap(first=(1, 1)),
    "no tokens": heatmap(np.zeros((0, 0)), (), ()),
    "long": heatmap(np.full((150, 150), 1 / 150), ["가"] * 150, ["나"] * 150),
    "grid": (head_grid, (WEIGHTS,), {"chosen": [(0, 1)], "title": "제목"}),
    "ordered grid": (head_grid, (WEIGHTS,), {"order": [(1, 2), (0, 0)], "labels": ["<a>", "나"], "scale": False}),
    "grid of doubles": (head_grid, (WEIGHTS.astype(float),), {"theme": "dark"}),
    "empty grid": (head_grid, (np.zeros((0, 0, 0, 0)),), {}),
    "before and after": (before_after, ([Measured("<a>", 8.5, 4.0, ("cross_attention", 0, 1))],), {"theme": "dark"}),
    "circuit": (circuit_graph, ([GraphNode("거", 0, "token"), GraphNode("1·1", 1)], [GraphEdge(0, 1, 2.5)], ["원문", "1층"]), {}),
    "curve": (layer_curve, ([-2.0, 3.5], ["입력", "1층"]), {"marked": 1}),
    "layers": (layer_grid, ([["가"], ["각"]], np.array([[0.5], [0.75]]), ["입력", "1층"], ["각"]), {"theme": "dark"}),
    "places": (place_map, (np.array([[0.5, -0.25]]), ["1층"], ["가", "각"]), {}),
    "waterfall": (waterfall, ([Amount("4·1", 5.5, ("cross_attention", 3, 0)), Amount("<b>", -2.0)],), {"theme": "dark"}),
}  # fmt: skip


def test_all_figure_functions_are_compared():
    found = {name for name, each in vars(viz).items() if hasattr(each, "specification")}
    assert found == {function.__name__ for function, *_ in FIGURES.values()}


def read(text: str) -> dict:
    """Without what Plotly leaves out or fills in where it means nothing: empty lists, and an empty template for each kind of trace."""
    figure = json.loads(text)
    layout = {name: value for name, value in figure["layout"].items() if value != [] and name != "template"}
    return {"data": figure["data"], "layout": layout}


@pytest.mark.parametrize("name", FIGURES)
def test_plotly_would_send_the_same(name):
    function, arguments, options = FIGURES[name]
    sent = to_json(function.specification(*arguments, **options))
    assert read(sent) == read(function(*arguments, **options).to_json())


def test_arrays_are_packed_as_plotly_packs_them():
    arrays = {
        "x": np.arange(3, dtype=np.int32),
        "y": np.array([1.5, np.nan, -2]),
        "text": np.array(["<a>", "나", ""]),
        "customdata": np.arange(6, dtype=np.float32).reshape(3, 2),
    }
    sent = to_json({"data": [{"type": "scatter", **arrays}], "layout": {"template": {}}})
    assert read(sent) == read(go.Figure([go.Scatter(arrays)], {"template": {}}).to_json())


def test_what_json_cannot_say_is_an_error():
    with pytest.raises(TypeError, match="received <object"):
        to_json({"data": [{"x": object()}], "layout": {}})
    with pytest.raises(ValueError):
        to_json({"data": [{"x": [float("nan")]}], "layout": {}})


def test_a_figure_function_keeps_its_name_and_its_docstring():
    assert attention_heatmap.__name__ == "attention_heatmap"
    assert attention_heatmap.__doc__ == attention_heatmap.specification.__doc__
    assert isinstance(attention_heatmap(SQUARE, TOKENS[:4], TOKENS[:4]), go.Figure)
