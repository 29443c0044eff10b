"""Curves of a training: losses, scores, roles of heads."""

import numpy as np
import pandas as pd
import pytest

from viz import growth_curves, history_curves
from viz.figure import Captions
from viz.training_curves import coolings


def history() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "step": [100, 200, 300, 400],
            "loss": [4.0, 2.0, 1.0, 0.5],
            "learning_rate": [1e-4, 2e-4, 1.5e-4, 1e-4],
            "dev_exact": [np.nan, 0.25, np.nan, 0.5],
        }
    )


def test_each_kind_has_its_panel_and_all_share_the_steps():
    figure = history_curves(history(), captions=Captions(titles=("단계", "손실", "점수", "Learning rate")))
    assert [trace.yaxis for trace in figure.data] == ["y", "y2", "y3"]
    assert {trace.xaxis for trace in figure.data} == {"x"}
    loss, exact, rate = figure.data  # the columns without their empty cells
    assert (list(loss.x), list(loss.y)) == ([100, 200, 300, 400], [4.0, 2.0, 1.0, 0.5])
    assert (list(exact.x), list(exact.y)) == ([200, 400], [0.25, 0.5])
    assert list(rate.y) == [1e-4, 2e-4, 1.5e-4, 1e-4]
    titles = [figure.layout[name].title.text for name in ("xaxis", "yaxis", "yaxis2", "yaxis3")]
    assert titles == ["단계", "손실", "점수", "Learning rate"]
    tops = [figure.layout[name].domain for name in ("yaxis", "yaxis2", "yaxis3")]
    assert tops[0][0] > tops[1][1] > tops[1][0] > tops[2][1]


def test_losses_share_a_logarithmic_panel_whose_legend_tells_them_apart():
    figure = history_curves(
        history().assign(dev_loss=[np.nan, 2.5, np.nan, 1.5]), losses={"loss": "학습", "dev_loss": "새 문장"}
    )
    assert [trace.yaxis for trace in figure.data] == ["y", "y", "y2", "y3"]
    assert [trace.mode for trace in figure.data[:2]] == ["lines", "lines+markers"]
    axes = (figure.layout.yaxis, figure.layout.yaxis2, figure.layout.yaxis3)
    assert [axis.type for axis in axes] == ["log", None, None]
    legends = {trace.name: trace.legend for trace in figure.data if trace.showlegend}
    assert legends == {"학습": "legend", "새 문장": "legend", "dev_exact": "legend2"}
    assert figure.layout.legend2.y == figure.layout.yaxis2.domain[1]


def test_records_without_a_number_give_the_same_empty_figure_and_take_no_room_beside_others():
    figure = history_curves(history().assign(dev_loss=np.nan, dev_exact=np.nan))
    assert [trace.name for trace in figure.data] == ["Loss", "Learning rate"]
    unmeasured = history().assign(loss=np.nan, learning_rate=np.nan)
    captions = Captions(titles=("Step", "Loss", "Development score", ""), names=("cooling",))
    shown = {"losses": {"loss": "Loss"}, "scores": {}, "captions": captions}
    assert history_curves(unmeasured, **shown) == history_curves(unmeasured.iloc[:0], **shown)


@pytest.mark.parametrize(
    ("rates", "found"),
    [
        ([1, 2, 2, 1, 0.1], [(2, 4)]),  # from the last step at the full rate
        ([1, 2, 1, 0.3], []),  # it did not come down to a tenth
        ([2, 1, 0, 1, 1, 0], [(0, 2), (4, 5)]),
        ([1, 0, 0, 2, 2], [(0, 2)]),
        ([3], []),
        ([], []),
    ],
)
def test_a_rate_that_comes_down_to_nothing_is_a_cooling(rates, found):
    assert coolings(np.array(rates, float)) == found


def test_coolings_are_marked_behind_every_panel_and_named_once():
    cooled = history().assign(learning_rate=[1e-3, 1e-3, 5e-4, 1e-6])
    figure = history_curves(cooled, captions=Captions(names=("식힘",)))
    (band,) = figure.layout.shapes
    assert (band.x0, band.x1, band.yref, band.y0, band.y1, band.layer) == (200, 400, "paper", 0, 1, "below")
    assert [trace.name for trace in figure.data if trace.showlegend].count("식힘") == 1
    assert not history_curves(cooled).layout.shapes
    assert not history_curves(history(), captions=Captions(names=("식힘",))).layout.shapes
    assert not history_curves(cooled.iloc[:0], captions=Captions(names=("식힘",))).layout.shapes


STEPS, LOSSES, SCORES = [0, 100, 2000], [np.nan, 2.0, 0.1], [0.1, 0.0, 0.4]
SHARES = np.array([[0.1, 0.2], [0.3, 0.4], [0.9, 0.5]])


def test_each_line_holds_the_shares_of_one_head():
    figure = growth_curves(STEPS, LOSSES, SCORES, SHARES, ["1·1", "<2>"], at=1)
    loss, score, *heads = figure.data
    np.testing.assert_array_equal(loss.y, np.float32(LOSSES))
    np.testing.assert_array_equal(score.y, np.float32(SCORES))
    assert score.yaxis not in (loss.yaxis, heads[0].yaxis)
    np.testing.assert_array_equal([list(line.y) for line in heads], SHARES.T.astype(np.float32))
    assert [line.name for line in heads] == ["1·1", "&lt;2&gt;"]
    assert list(heads[0].text) == ["0", "100", "2,000"]
    (mark,) = figure.layout.shapes  # the open snapshot
    assert mark.x0 == mark.x1 == 2
    assert not growth_curves(STEPS, LOSSES, SCORES, SHARES, ["a", "b"]).layout.shapes
