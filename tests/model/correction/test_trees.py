"""Trees are walked all at once, and written with the features by name."""

import json

import numpy as np
import pytest

from model.correction.confidence import Trees

FIELDS = ("height", "width", "depth")
OF_ALL_SHAPES = ((0, 0.0, -1.0, (1, 0.5, (2, -0.5, 2.0, 3.0), 4.0)), 0.5, (1, 0.0, (0, 1.0, 7.0, 8.0), 9.0))


def walked(tree, row):
    while isinstance(tree, tuple):
        tree = tree[3] if row[tree[0]] >= tree[1] else tree[2]
    return tree


def test_trees_of_all_shapes_are_walked_at_once():
    rows = np.random.default_rng(0).normal(size=(60, len(FIELDS)))
    expected = [0.25 + sum(walked(tree, row) for tree in OF_ALL_SHAPES) for row in rows]
    np.testing.assert_allclose(Trees(FIELDS, 0.25, OF_ALL_SHAPES).log_odds(rows), expected)


def test_no_rows_no_trees_and_no_questions_are_no_exception():
    rows = np.zeros((4, len(FIELDS)))
    assert Trees(FIELDS, 0.5, OF_ALL_SHAPES).log_odds([]).shape == (0,)
    np.testing.assert_allclose(Trees(FIELDS, 0.5, (1.0,)).log_odds(rows), 1.5)
    np.testing.assert_allclose(Trees(FIELDS, 0.5, ()).log_odds(rows), 0.5)


def test_what_is_written_has_names_and_is_read_again():
    trees = Trees(FIELDS, 0.25, OF_ALL_SHAPES)
    values = json.loads(trees.to_json())
    assert values["trees"][2] == ["width", 0.0, ["height", 1.0, 7.0, 8.0], 9.0]
    assert Trees.parse(FIELDS, values) == trees
    with pytest.raises(ValueError, match="not a tree"):
        Trees.parse(("height", "width"), values)
