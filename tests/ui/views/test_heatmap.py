"""View *heatmap*: its cells by scale, difference, word and sink; selection of a cell."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.text.changes import find_changes
from model.trace.trace import ATTENTION_KINDS, AttentionTrace, Selection
from tests.ui.fake_corrector import FakeCorrector, random_trace
from tests.ui.hostile import VALUES
from tests.ui.screen import component, figure, html, numbers, send, setting, told
from tests.ui.view_script import SENTENCE, open_state, state
from ui.sentence.state import SentenceState
from ui.views.heatmap import cells_for, cells_of, choose_cell
from ui.wording import table
from viz import attention_heatmap

PLAIN = {"by_words": False, "without_marks": False, "minus_copy": False}
SYLLABLES = {"shown": "weights", "unit": "syllable", "unmarked": False, "fitted": False, "logarithmic": False}
KO = table("ko")


open_view = partial(open_state, "heatmap")


def click(app: AppTest, row: int, column: int) -> str:
    """The setting after a click on a cell, counted from 1."""
    send(app, "heatmap", "click", {"x": column, "y": row})
    return setting(app, "cell")


@pytest.mark.parametrize(
    ("kind", "layer", "head"),
    [("encoder_attention", 1, 2), ("decoder_attention", 0, None), ("cross_attention", None, None)],
)
def test_the_numbers_are_the_traces(kind, layer, head):
    app = open_view(kind, layer=layer, head=head)
    np.testing.assert_array_equal(numbers(app), state(kind, layer, head).weights)
    assert numbers(app).dtype == np.float32


def test_a_scale_changes_no_number_and_fitted_colours_end_at_the_largest_weight():
    for scale, largest in (("logarithmic", None), ("fitted", state().weights.max())):
        app = open_view(**{scale: "1"})
        np.testing.assert_array_equal(numbers(app), state().weights)
        assert largest is None or figure(app)["data"][0]["zmax"] == pytest.approx(largest)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_a_plain_copy_leaves_no_difference(kind):
    shown = state(kind)
    difference = cells_of(shown, **PLAIN | {"minus_copy": True}).values - shown.weights
    np.testing.assert_allclose(difference, -np.eye(len(shown.queries), len(shown.keys)), atol=1e-6)


def test_an_inserted_character_has_nothing_subtracted():
    trace = random_trace("가다", "가나다")
    sentence = SimpleNamespace(source="가다", text="가나다", changes=find_changes("가다", "가나다"))
    shown = SentenceState(FakeCorrector(), sentence, trace, Selection("cross_attention", 0, 0), None, "light")
    difference = cells_of(shown, **PLAIN | {"minus_copy": True}).values - shown.weights
    expected = [[-1, 0, 0], [0, 0, 0], [0, -1, 0], [0, 0, -1]]
    np.testing.assert_allclose(difference, expected, atol=1e-6)


def test_the_difference_is_drawn_around_0_and_its_place_that_a_copy_would_not_look_at_is_named():
    app, shown = open_view(shown="difference"), state()
    heatmap = figure(app)["data"][0]
    assert heatmap["zmax"] == -heatmap["zmin"] == pytest.approx(np.abs(numbers(app)).max())
    np.testing.assert_allclose(numbers(app).sum(axis=1), 0, atol=1e-6)
    assert KO["heatmap_difference_cross_attention"] in html(app)
    assert KO["caption_cross_attention"] not in html(app)
    row = shown.rows[0]
    column = int(numbers(app)[row].argmax())
    names = f"‘{shown.queries[row]}’", f"‘{shown.keys[column]}’", f"{numbers(app)[row, column]:.3f}"
    assert all(name in told(app) for name in names)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_words_sum_keys_and_average_queries(kind):
    shown = state(kind)
    cells = cells_of(shown, **PLAIN | {"by_words": True})
    if kind == "decoder_attention":
        assert cells.keys == ("<s>", "고객이", "또", "왔다")
    else:
        assert cells.keys[-1] == "</s>"
    np.testing.assert_allclose(cells.values.sum(axis=1), 1, atol=1e-6)
    (start, end), (left, right) = cells.query_spans[0], cells.key_spans[1]
    expected = shown.weights[start:end, left:right].sum(axis=1).mean()
    assert cells.values[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_hidden_marks_leave_the_positions_of_the_others_alone_and_are_told_of(kind):
    shown, cells = state(kind), cells_of(state(kind), **PLAIN | {"without_marks": True})
    assert not {"<s>", "</s>"} & {*cells.queries, *cells.keys}
    rows, columns = (slice(spans[0][0], spans[-1][1]) for spans in (cells.query_spans, cells.key_spans))
    np.testing.assert_array_equal(cells.values, shown.weights[rows, columns])
    assert cells.first == (rows.start, columns.start)
    assert cells.first[1] == (1 if kind == "decoder_attention" else 0)
    assert KO["heatmap_unmarked_note"] in html(open_view(kind, unmarked="1"))
    empty = state(source="가", trace=lambda *_: random_trace("", ""))
    assert cells_of(empty, **PLAIN | {"without_marks": True}).keys == ("</s>",)  # the only key


def test_a_click_selects_a_cell_that_is_framed_and_named_and_a_second_one_lets_it_go():
    app = open_view(cell="1,0")
    row, column = figure(app)["layout"]["shapes"]
    assert (row["y0"], row["y1"], column["x0"], column["x1"]) == (1.5, 2.5, 0.5, 1.5)
    assert f"‘객’ → ‘고’, 가중치 {state().weights[1, 0]:.3f}" in told(app)
    assert click(app, 2, 1) == "" and not figure(app)["layout"].get("shapes")
    assert click(app, 3, 6) == "2,5"  # the figure counts from 1
    assert click(app, 3, 5) == "2,4"
    assert click(app, 3, 5) == ""


def test_a_click_on_a_word_selects_its_first_characters_and_without_marks_the_cell_under_it():
    app = open_view(unit="word")
    assert click(app, 2, 3) == "4,6"
    assert [(f["x0"] + f["x1"]) / 2 for f in figure(app)["layout"]["shapes"]][1] == 3
    assert click(app, 2, 3) == ""
    app = open_view("decoder_attention", unmarked="1")
    assert figure(app)["data"][0]["x0"] == 2
    assert click(app, 3, 2) == "2,1"
    assert click(app, 3, 1) == "2,1"  # the hidden column of the start mark is no cell
    assert not figure(open_view(cell=f"0,{len(state().keys) - 1}", unmarked="1"))["layout"].get("shapes")


def test_a_point_that_is_no_cell_selects_nothing(settings):
    cells = cells_for(state(), SYLLABLES)
    rows, columns = cells.values.shape
    points = [{}, {"x": 1}, {"y": 1}, {"x": 0, "y": 1}, {"x": 1, "y": rows + 1}, {"x": columns + 1, "y": 1}]
    numbers = [value for value in VALUES if value is not True and value != 1.5]
    points += [point for value in numbers for point in ({"x": value, "y": 1}, {"x": 1, "y": value})]
    for point in points:
        choose_cell(cells, point)
        assert settings["cell"] == "", point
    choose_cell(cells, {"x": 2, "y": 1})
    assert settings["cell"] == "0,1"


def test_the_picture_is_called_after_the_sentence_and_the_head():
    data = component(open_view(source="고갱 <b>x</b>"), "heatmap")
    assert data["file"] == "고객-b-x-b-cross-layer2-head3-attention"
    assert "<" not in data["title"] and "고객" in data["title"]
    mean = component(open_view(layer=None, head=None), "heatmap")
    assert mean["file"].endswith("layermean-headmean-attention") and mean["answers"] is True


def test_a_cell_that_is_none_selects_nothing_and_a_masked_one_is_named_as_such():
    for cell in ("99,0", "a,b", "1,2,3"):
        assert not figure(open_view(cell=cell))["layout"].get("shapes"), cell
    assert "가려져 있어서" in told(open_view("decoder_attention", cell="0,3"))


def sinking_trace(source: str, target: str, **fields):
    trace = random_trace(source, target, **fields)
    return replace(trace, cross_attention=trace.cross_attention / 2, sinks=("cross_attention",))


@pytest.mark.parametrize("unit", ["syllable", "word"])
@pytest.mark.parametrize("unmarked", [False, True])
def test_a_sink_is_a_column_of_its_own_that_no_click_selects(unit, unmarked):
    values = SYLLABLES | {"unit": unit, "unmarked": unmarked}
    plain = cells_for(state("cross_attention", 1, 2, None, SENTENCE, random_trace), values)
    cells = cells_for(state("cross_attention", 1, 2, None, SENTENCE, sinking_trace), values)
    assert cells.keys == ("∅", *plain.keys) and cells.first == (plain.first[0], plain.first[1] - 1)
    np.testing.assert_allclose(cells.values[:, 0], 0.5, atol=1e-3)
    np.testing.assert_allclose(cells.values[:, 1:], plain.values / 2, atol=1e-6)
    assert not cells.holds(cells.first) and cells.holds(plain.first)
    assert cells.tokens_of(plain.first) == plain.tokens_of(plain.first)


def test_changed_rows_are_emphasised_and_nothing_typed_becomes_markup():
    labels = figure(open_view())["layout"]["yaxis"]["ticktext"]
    assert [row for row, label in enumerate(labels) if label.startswith("<b>")] == [1]
    app = open_view(source="고갱 <b>x</b>", shown="difference", unit="word", cell="3,3")
    axes = figure(app)["layout"]
    labels = [label for axis in ("xaxis", "xaxis2", "yaxis2") for label in axes[axis]["ticktext"]]
    assert "<b>x" not in html(app) and not any("<b>x" in label for label in labels)


@pytest.mark.parametrize("minus_copy", [False, True])
def test_words_of_half_precision_can_be_drawn(minus_copy):
    """Such rows sum to a little more than 1, and the columns of a word are added up."""
    weights = np.full((1, 1, 2, 2), 0.503, np.float32)
    trace = AttentionTrace(source_tokens=("가", "나"), encoder_attention=weights)
    trace.check()
    shown = state("encoder_attention", 0, 0, source="가나", trace=lambda *_: trace)
    cells = cells_of(shown, by_words=True, without_marks=False, minus_copy=minus_copy)
    figure = attention_heatmap(cells.values, cells.queries, cells.keys, difference=minus_copy)
    assert figure.data[0].z[0, 0] == pytest.approx(0.006 if minus_copy else 1, abs=1e-6)
