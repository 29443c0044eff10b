"""Charts of circuits, of branching continuations, of places, of before and after."""

import numpy as np

from viz import GraphEdge, GraphNode, Measured
from viz.amounts import before_after
from viz.graphs import circuit_graph, token_branches
from viz.layers import place_map

NODES = [
    GraphNode("<b>거", 0, "token"),
    GraphNode("1·1", 0.7, custom=("encoder_attention", 0, 0)),
    GraphNode("1·2", 1.3),
    GraphNode("먹", 2, "answer"),
]
ROWS = ["read", "layer 1", "answer"]


def test_an_edge_is_a_line_as_wide_as_its_effect_and_dashed_below_zero():
    figure = circuit_graph(
        NODES, [GraphEdge(0, 1, 4.0, "(+40%)"), GraphEdge(1, 3, 0.5), GraphEdge(2, 3, -2.0)], ROWS
    )
    *lines, numbers, points = figure.data
    widths = {line.line.width: line.line.dash for line in lines}
    assert len(lines) == 3 and [widths[width] for width in sorted(widths)] == ["solid", "dash", "solid"]
    assert list(numbers.hovertext) == ["+4.00 (+40%)", "+0.50", "−2.00"]
    assert points.customdata[1] == ["encoder_attention", 0, 0]


def test_nodes_of_a_row_share_its_width_and_their_names_cover_the_lines():
    figure = circuit_graph(NODES, [GraphEdge(0, 2, 1.0)], ROWS, note="2 lines are folded")
    points, boxes = figure.data[-1], figure.layout.annotations
    assert points.x[1] != points.x[2] and list(points.y) == [0, 0.7, 1.3, 2]
    assert [(box.x, box.y) for box in boxes] == list(zip(points.x, points.y, strict=True))
    assert all(box.bgcolor.startswith("#") for box in boxes) and "<b>" not in boxes[0].text
    assert figure.layout.xaxis.title.text == "2 lines are folded"


def test_a_node_stands_below_those_that_lead_to_it():
    nodes = [GraphNode(name, 0, "token") for name in "가나다"] + [GraphNode("1·1", 1), GraphNode("1·2", 1)]
    points = circuit_graph(nodes, [GraphEdge(2, 3, 1.0), GraphEdge(0, 4, 1.0)], ROWS).data[-1]
    assert points.x[4] < points.x[3]


def test_a_map_of_places_has_one_scale_for_all():
    values = np.array([[0.5, np.nan], [-0.25, 1.0]])
    figure = place_map(values, ["start", "layer 1"], ["<i>가", "나"], details=values * 10)
    (cells,) = figure.data
    np.testing.assert_array_equal(cells.z, values.astype(np.float32))
    assert (cells.zmin, cells.zmax) == (-1, 1) and cells.customdata[1][1] == 10
    assert "<i>가" not in figure.layout.xaxis.ticktext


def test_before_and_after_stand_on_one_axis_with_zero():
    figure = before_after([Measured("one", 8.0, -3.0), Measured("<b>two", 2.0, 2.5)])
    _, before, after = figure.data
    assert before.x.tolist() == [8.0, 2.0] and after.x.tolist() == [-3.0, 2.5]
    assert figure.layout.xaxis.range[0] < -3 and figure.layout.xaxis.range[1] > 8
    assert "<b>" not in figure.layout.yaxis.ticktext[1]


TOKENS = [("가", "<b>", "</s>"), ("가", "다", "라", "</s>")]
PROBABILITIES = [(1, 0.5, 0.75), (1, 0.01, 0.5, 0.99)]


def test_each_cell_holds_a_token_and_its_probability():
    figure = token_branches(TOKENS, PROBABILITIES, ["observed", "what if"], parted=1)
    (cells,) = figure.data
    np.testing.assert_array_equal(np.isnan(cells.z), [[0, 0, 0, 1], [0, 0, 0, 0]])
    np.testing.assert_allclose(cells.z[1], PROBABILITIES[1])
    assert cells.customdata.tolist() == [list(row) for row in cells.text]  # for the hover, in the usual type
    assert cells.text[0] == ["가", "&lt;b&gt;", "&lt;/s&gt;", ""]
    assert (cells.zmin, cells.zmax, cells.x0) == (0, 1, 1)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1) == (1.5, 2.5)  # step 2 for people
    assert list(figure.layout.yaxis.ticktext) == ["observed", "what if"]
