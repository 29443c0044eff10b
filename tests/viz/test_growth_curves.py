"""Growth: a line for each head, the loss above, and the snapshot that is open."""

import numpy as np
import pytest

from viz import growth_curves

STEPS, LOSSES, SCORES = [0, 100, 2000], [np.nan, 2.0, 0.1], [0.1, 0.0, 0.4]
SHARES = np.array([[0.1, 0.2], [0.3, 0.4], [0.9, 0.5]])


def test_each_line_holds_the_shares_of_one_head():
    loss, score, *heads = growth_curves(STEPS, LOSSES, SCORES, SHARES, ["1·1", "<2>"], at=2).data
    np.testing.assert_array_equal(loss.y, np.float32(LOSSES))
    np.testing.assert_array_equal(score.y, np.float32(SCORES))
    assert score.yaxis not in (loss.yaxis, heads[0].yaxis)
    np.testing.assert_array_equal([list(line.y) for line in heads], SHARES.T.astype(np.float32))
    assert [line.name for line in heads] == ["1·1", "&lt;2&gt;"]
    assert list(heads[0].text) == ["0", "100", "2,000"]


def test_the_open_snapshot_is_marked_and_none_leaves_no_mark():
    (mark,) = growth_curves(STEPS, LOSSES, SCORES, SHARES, ["a", "b"], at=1).layout.shapes
    assert mark.x0 == mark.x1 == 2
    assert not growth_curves(STEPS, LOSSES, SCORES, SHARES, ["a", "b"]).layout.shapes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"losses": [1]}, r"losses should be \(3,\) as the steps are, received \(1,\)"),
        ({"scores": [1]}, "scores should be"),
        ({"shares": SHARES + 0.5}, "received 0.6"),
        ({"at": 3}, "received 3"),
        ({"theme": "pink"}, "received 'pink'"),
    ],
)
def test_mistakes_are_named(change, message):
    given = {
        "steps": STEPS,
        "losses": LOSSES,
        "scores": SCORES,
        "shares": SHARES,
        "names": ["a", "b"],
        **change,
    }
    with pytest.raises(ValueError, match=message):
        growth_curves(**given)
