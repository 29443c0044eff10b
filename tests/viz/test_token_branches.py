"""Branches: each token with its probability, and where they part."""

import numpy as np
import pytest

from viz.graphs import token_branches

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


def test_nothing_leaves_the_layout():
    assert not token_branches([], [], []).data
    assert not token_branches([()], [()], ["none"]).data


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["one"]}, r"received \(\[3, 4\], \[3, 4\], 1\)"),
        ({"probabilities": [(1, 1, 1), (1, 1)]}, r"received \(\[3, 4\], \[3, 2\], 2\)"),
        ({"probabilities": [(1, 1, 1), (1, 1, 1, 1.5)]}, "1.5"),
        ({"parted": 4}, "received 4"),
        ({"theme": "pink"}, "received 'pink'"),
    ],
)
def test_mistakes_are_named(arguments, message):
    given = {"tokens": TOKENS, "probabilities": PROBABILITIES, "names": ["a", "b"], **arguments}
    with pytest.raises(ValueError, match=message):
        token_branches(**given)
