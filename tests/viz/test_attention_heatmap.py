"""An attention heatmap shows exactly the weights it was given, each in its own cell."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from viz import THEMES, attention_heatmap

SENTENCE = "손니미 완는데 방이 업쓰며 너떠캐요? "
HOSTILE = ["<b>x</b>", "<s>", "&", "<a href='javascript:alert(1)'>x</a>", "🙂", "%{z}", "$x$"]


def tokens(count: int) -> list[str]:
    return list((SENTENCE * 8)[:count])


def uniform_causal(count: int) -> np.ndarray:
    """(Q, K): row q looks equally at the columns 0..q."""
    return np.tril(np.ones((count, count))) / np.arange(1, count + 1)[:, None]


def look_ahead(count: int) -> np.ndarray:
    return np.triu(np.ones((count, count), bool), 1)


def numbers_in_json(figure: go.Figure) -> np.ndarray:
    """The first trace's z, decoded from what travels to the browser."""
    array = json.loads(figure.to_json())["data"][0]["z"]
    assert array["dtype"] == "f4"
    flat = np.frombuffer(base64.b64decode(array["bdata"]), np.float32)
    return flat.reshape([int(size) for size in array["shape"].split(",")])


@pytest.mark.parametrize("count", [1, 10, 40])
def test_the_numbers_are_the_weights(count):
    weights = np.random.default_rng(count).dirichlet(np.ones(count + 3), count).astype(np.float32)
    figure = attention_heatmap(weights, tokens(count), tokens(count + 3))
    np.testing.assert_array_equal(numbers_in_json(figure), weights)


def test_row_0_is_at_the_top_and_every_cell_lies_inside_the_axes():
    layout = attention_heatmap(np.full((2, 3), 1 / 3), "가나", "다라마").layout
    assert layout.yaxis.range == (1.5, -0.5)
    assert layout.xaxis.range == (-0.5, 2.5)


@pytest.mark.parametrize("count", [10, 40, 80, 128])
def test_repeated_tokens_keep_their_own_ticks(count):
    figure = attention_heatmap(uniform_causal(count), tokens(count), tokens(count))
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert list(axis.tickvals) == list(range(count))
        shown = [
            text.removesuffix("<br> ").removesuffix("<br> ").removesuffix("<br> ") for text in axis.ticktext
        ]
        assert shown == [token.replace(" ", "␣") for token in tokens(count)]


def test_texts_are_the_callers():
    figure = attention_heatmap(
        np.ones((1, 1)),
        "가",
        "나",
        title="1층",
        query_title="만드는 글자",
        key_title="보는 글자",
        hover=("만드는", "보는", "가중치"),
    )
    assert figure.layout.title.text == "1층"
    assert figure.layout.xaxis.title.text == "보는 글자"
    assert figure.layout.yaxis.title.text == "만드는 글자"
    template = figure.data[0].hovertemplate
    assert template.startswith("만드는 %{y:d}: <b>%{y}</b><br>보는 %{x:d}: <b>%{text}</b>")
    assert "가중치: <b>%{z:.3f}</b>" in template
    assert figure.data[0].text[0][0] == "나"


def test_nothing_typed_becomes_markup():
    count = len(HOSTILE)
    figure = attention_heatmap(
        np.full((count, count), 1 / count),
        HOSTILE,
        HOSTILE,
        title="<i>t</i>",
        query_title="<i>q</i>",
        key_title="<i>k</i>",
        hover=("<i>1</i>", "<i>2</i>", "<i>3</i>%{z}"),
    )
    data, layout = figure.data[0], figure.layout
    labels = [*layout.xaxis.ticktext, *layout.yaxis.ticktext, *np.ravel(data.text)]
    titles = [layout.title.text, layout.xaxis.title.text, layout.yaxis.title.text, data.colorbar.title.text]
    assert not [text for text in labels + titles if "<" in text or "$" in text]
    assert list(layout.yaxis.ticktext[:3]) == ["&lt;b&gt;x&lt;/b&gt;", "&lt;s&gt;", "&amp;"]
    assert "<i>" not in data.hovertemplate
    assert data.hovertemplate.count("%{z") == 1


def test_masked_cells_are_hatched_and_named_while_their_zeros_stay():
    figure = attention_heatmap(
        uniform_causal(4), "가나다라", "마바사아", masked=look_ahead(4), masked_title="가려짐"
    )
    heatmap, hatching = figure.data
    np.testing.assert_array_equal(np.asarray(heatmap.z)[look_ahead(4)], 0)
    assert heatmap.text[0] == ["마", "바 (가려짐)", "사 (가려짐)", "아 (가려짐)"]
    assert list(heatmap.text[3]) == ["마", "바", "사", "아"]
    assert hatching.fillpattern.shape == "/"
    assert (hatching.name, hatching.showlegend, hatching.hoverinfo) == ("가려짐", True, "skip")


def test_the_hatching_covers_the_masked_cells_and_no_other():
    masked = np.array([[0, 1, 1, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
    hatching = attention_heatmap(np.zeros((3, 5)), "가나다", "가나다라마", masked=masked).data[1]
    covered = np.zeros((3, 5), bool)
    for corner in range(0, len(hatching.x), 5):
        left, right = hatching.x[corner], hatching.x[corner + 1]
        top, bottom = hatching.y[corner], hatching.y[corner + 2]
        covered[int(top + 0.5) : int(bottom + 0.5), int(left + 0.5) : int(right + 0.5)] = True
    np.testing.assert_array_equal(covered, masked)


def test_no_hatching_where_nothing_is_masked():
    figure = attention_heatmap(np.ones((1, 1)), "가", "나", masked=np.zeros((1, 1), bool))
    assert len(figure.data) == 1


def test_emphasised_rows_are_bold_and_only_they():
    labels = attention_heatmap(
        np.eye(3), ["가", "<b>", "다"], "가나다", emphasis_rows=(1,)
    ).layout.yaxis.ticktext
    assert [label.startswith("<b>") for label in labels] == [False, True, False]
    assert "&lt;b&gt;" in labels[1]


def test_the_colour_range_is_fixed_unless_asked_otherwise():
    weights = np.array([[0.25, 0.125]])
    assert [attention_heatmap(weights, "가", "나다").data[0][end] for end in ("zmin", "zmax")] == [0, 1]
    assert attention_heatmap(weights, "가", "나다", colour_max=0.5).data[0].zmax == 0.5
    assert attention_heatmap(weights, "가", "나다", colour_max=None).data[0].zmax == 0.25
    assert attention_heatmap(weights * 0, "가", "나다", colour_max=None).data[0].zmax == 1


@pytest.mark.parametrize(
    ("queries", "keys"),
    [(10, 10), (10, 40), (40, 40), (40, 10), (60, 60), (128, 128)],
)
def test_every_row_is_high_enough_for_its_label(queries, keys):
    layout = attention_heatmap(np.zeros((queries, keys)), tokens(queries), tokens(keys)).layout
    row_height = (layout.height - layout.margin.t - layout.margin.b) / queries
    assert 9 <= layout.yaxis.tickfont.size < row_height
    assert (layout.yaxis.scaleanchor == "x") == (keys <= 50)


def test_crowded_columns_stand_on_steps_and_long_ones_are_turned():
    crowded = attention_heatmap(np.zeros((1, 128)), "가", tokens(128)).layout.xaxis
    assert {text.count("<br> ") for text in crowded.ticktext} == {0, 1, 2}
    long = attention_heatmap(np.zeros((1, 20)), "가", [f"단어{n}" for n in range(20)]).layout.xaxis
    assert (crowded.tickangle, long.tickangle) == (0, -90)


def test_only_hundreds_of_columns_lose_labels():
    axis = attention_heatmap(np.zeros((1, 400)), "가", ["가"] * 400).layout.xaxis
    assert list(axis.tickvals) == list(range(0, 400, 2))
    assert len(axis.ticktext) == 200


@pytest.mark.parametrize("empty", [[], np.zeros((0, 0))])
def test_no_tokens_give_an_empty_figure_with_its_layout(empty):
    figure = attention_heatmap(empty, [], [], title="빈", masked=np.zeros((0, 0), bool))
    assert not figure.data
    assert (figure.layout.title.text, figure.layout.xaxis.title.text) == ("빈", "Key")
    assert figure.layout.yaxis.title.text == "Query"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": np.zeros((3, 2))}, r"\(2, 3\) of the tokens, received \(3, 2\)"),
        ({"weights": np.zeros((1, 2, 3))}, r"received \(1, 2, 3\)"),
        ({"weights": np.full((2, 3), 1.5)}, "0..1, received 1.5 to 1.5"),
        ({"weights": np.full((2, 3), np.nan)}, "received nan"),
        ({"masked": np.zeros((3, 3), bool)}, r"\(2, 3\), received \(3, 3\)"),
        ({"masked": np.ones((2, 3), bool)}, "exactly 0, received up to 0.25"),
        ({"emphasis_rows": (0, 2)}, r"0\.\.1, received \[2\]"),
        ({"colour_max": 0.0}, "positive, received 0.0"),
        ({"theme": "blue"}, "'light', 'dark'.*received 'blue'"),
    ],
)
def test_mistakes_are_named_with_what_was_received(arguments, message):
    arguments = {"weights": np.full((2, 3), 0.25), **arguments}
    with pytest.raises(ValueError, match=message):
        attention_heatmap(query_tokens="가나", key_tokens="다라마", **arguments)


@pytest.mark.parametrize("theme", THEMES)
def test_size_of_what_travels(theme):
    def size(count):
        figure = attention_heatmap(
            uniform_causal(count), tokens(count), tokens(count), masked=look_ahead(count), theme=theme
        )
        return len(figure.to_json().encode())

    assert size(40) < 50_000
    assert size(128) < 450_000
