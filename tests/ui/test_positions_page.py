"""The page of the positional encoding shows the numbers of the function that the network uses."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model.positions import positional_encoding
from ui.texts import table

ROOT = Path(__file__).parents[2]


def charts(app) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def decode(values: dict) -> np.ndarray:
    flat = np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])
    return flat.reshape([int(size) for size in values["shape"].split(",")]) if "shape" in values else flat


def test_matrix_and_curves_are_those_of_the_model(open_app):
    matrix, curves = charts(open_app("positions", positions="40", dimensions="16", curves="3,2"))
    expected = positional_encoding(40, 16)
    np.testing.assert_array_equal(decode(matrix["data"][0]["z"]), expected)
    np.testing.assert_array_equal(decode(curves["data"][0]["y"]), expected[:, 3])
    np.testing.assert_array_equal(decode(curves["data"][1]["y"]), expected[:, 2])


def test_sliders_reach_512_by_512(open_app):
    app = open_app("positions")
    for key in ("control_positions", "control_dimensions"):
        app.slider(key=key).set_value(512)
    app.run()
    assert decode(charts(app)[0]["data"][0]["z"]).shape == (512, 512)


def test_fewer_dimensions_drop_the_curves_that_no_longer_exist(open_app):
    app = open_app("positions", dimensions="16", curves="3,30")
    assert not app.exception
    assert app.multiselect[0].value == [3]


@pytest.mark.parametrize("curves", ["", "x,,-1,9999999999999999999999"])
def test_no_curve_chosen_is_an_empty_figure(open_app, curves):
    app = open_app("positions", curves=curves, positions="-3", dimensions="1e9")
    assert not app.exception
    assert charts(app)[1]["data"] == []


def test_the_sentence_gives_the_slowest_period(open_app):
    app = open_app("positions", lang="en", dimensions="2")
    text = table("en")["matrix_reading"].format(last=0, period="6.3")
    assert text in "".join(element.proto.body for element in app.html)


def test_importing_the_page_parts_loads_no_network_library():
    code = "import sys, viz, model.positions;"
    code += "from ui import confidence, controls, loaders, model_card, models, notices, reading;"
    code += "print([name for name in ('tensorflow', 'keras') if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
