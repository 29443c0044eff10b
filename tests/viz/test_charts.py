"""Rules of all charts: empty input, typed text, titles, themes, named errors."""

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import fields

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import viz
from viz import (
    THEMES,
    Amount,
    Captions,
    GraphEdge,
    GraphNode,
    Hidden,
    MapTexts,
    Measured,
    MethodPanel,
    ShiftReference,
)
from viz.theme import palette

TYPED = "<i>%{q}$y$"  # read as a tag, as a template and as a formula where it is not escaped
HEAD = ("cross", 0, 0)
ROWS = np.array([[0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])  # (Q, K)
TWO, THREE = ["가", TYPED], ["가", TYPED, "</s>"]
RECORDS = pd.DataFrame(
    {"step": [1, 2], "loss": [2.0, 1.0], "learning_rate": [1e-3, 1e-4], "dev": [0.5, 0.75]}
)
BINS = pd.DataFrame(
    {"low": [0.0], "high": [1.0], "count": [5], "mean_confidence": [0.7], "share_right": [0.8]}
)


PANELS = [
    MethodPanel(TYPED, np.array([0.5, -1.0, 0.0]), note=TYPED),
    MethodPanel("intervened", np.ones(3), intervened=True),
]
SQUARE = np.array([[2, -1], [-1, 2]], np.float32)
GRID = np.full((2, 3, 4, 5), 0.2)
BRANCHES = [("가", TYPED, "</s>"), ("가", "다", "라", "</s>")]
SURE = [(1, 0.5, 0.75), (1, 0.01, 0.5, 0.99)]
TEXTS = MapTexts(*[TYPED] * len(fields(MapTexts)))
CURVES = {"effect": [(0, 0.8, 0.99), (4, 0, 0)], "random 1": [(0, 0.8, np.nan)]}

INPUTS = {  # name of a chart -> positional arguments, further ones
    "attention_bars": ((ROWS, THREE, TWO), {"outlined": [1]}),
    "attention_effect_scatter": (([0.5], [-1.0], [HEAD]), {"names": {"cross": TYPED}}),
    "attention_heatmap": (
        (ROWS, TWO, THREE),
        {"emphasis_rows": [1], "selected": (1, 1), "masked": ROWS == 0, "texts": TEXTS},
    ),
    "attention_steps": (([np.array([2.0, -np.inf])], [1.0, 0.0], TWO, ["÷√d", TYPED]), {}),
    "before_after": (([Measured(TYPED, 2.0, 2.5)],), {}),
    "circuit_graph": (([GraphNode(TYPED, 0, "token"), GraphNode("1·1", 1)], [GraphEdge(0, 1, 2.5)], TWO), {}),
    "contribution_panels": ((PANELS, THREE), {"outlined": [1]}),
    "embedding_sizes": ((TWO, [1, 2], [4, 8], [5, 5]), {}),
    "growth_curves": (([0, 100], [2.0, 0.1], [0.1, 0.4], ROWS[:, :2], TWO), {}),
    "head_grid": ((GRID,), {"order": [(1, 2)], "marked": [(1, 2)], "labels": [TYPED], "head_names": THREE}),
    "head_mosaic": (({"cross": SQUARE},), {"names": {"cross": TYPED}}),
    "history_curves": ((RECORDS,), {"scores": {"dev": TYPED}}),
    "layer_curve": (([-2.0, 3.5], TWO), {"details": THREE[:2]}),
    "layer_grid": (([THREE, THREE], ROWS, TWO, THREE), {"details": [THREE, THREE]}),
    "number_heatmap": ((ROWS, TWO, THREE), {"hidden": Hidden(masked=ROWS == 0, masked_name=TYPED)}),
    "place_map": ((ROWS, TWO, THREE), {"details": ROWS}),
    "position_shift": (([0, 2, 3], [ShiftReference(TYPED, 5.0)]), {}),
    "position_similarity_curve": (([2, 1, 0.5],), {}),
    "position_similarity_heatmap": ((SQUARE,), {}),
    "positional_encoding_curves": ((SQUARE / 2, [0, 1]), {}),
    "positional_encoding_heatmap": ((SQUARE / 2,), {}),
    "pruning_curve": ((CURVES,), {"main": "effect"}),
    "reliability_curve": ((BINS,), {}),
    "role_mosaic": (
        ({"cross": [["own"]]}, {"own": (TYPED, TYPED)}),
        {"names": {"cross": TYPED}, "details": {"cross": [[TYPED]]}},
    ),
    "token_branches": ((BRANCHES, SURE, TWO), {}),
    "waterfall": (([Amount(TYPED, 5.5, HEAD), Amount("나", -2.0)],), {}),
}
ALL = pytest.mark.parametrize("name", INPUTS)
CAPTIONED = {  # name of a chart that takes Captions -> how many titles, hover names and legend names it has
    "attention_steps": (2, 3, 1),
    "before_after": (1, 0, 2),
    "circuit_graph": (1, 0, 0),
    "embedding_sizes": (2, 0, 3),
    "history_curves": (4, 0, 0),
    "layer_curve": (1, 0, 0),
    "position_shift": (2, 0, 2),
    "position_similarity_curve": (2, 0, 0),
    "position_similarity_heatmap": (2, 0, 0),
    "positional_encoding_curves": (2, 2, 2),
    "positional_encoding_heatmap": (3, 3, 0),
    "pruning_curve": (3, 0, 2),
    "reliability_curve": (3, 0, 2),
    "role_mosaic": (1, 0, 0),
    "token_branches": (2, 0, 0),
    "waterfall": (1, 0, 3),
}
MARKS = {"growth_curves": 2, "reliability_curve": 1}  # the traces that stay: loss and score; the diagonal


def drawing(name: str) -> Callable[..., go.Figure]:
    return getattr(viz, name)


def worded(name: str, text: str) -> dict:
    """The options that are texts of the chart, or tuples of texts, with ``text`` for each."""
    if name in CAPTIONED:
        counts = zip(("titles", "hover", "names"), CAPTIONED[name], strict=True)
        return {"title": text} | {group: (text,) * count for group, count in counts if count}
    words = {}
    for key, option in inspect.signature(drawing(name)).parameters.items():
        match option.default:
            case str() if key not in ("theme", "scale", "small_name"):
                words[key] = text
            case (str(), *others):
                words[key] = (text,) * (1 + len(others))
    return words


def strings(part: object, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, text) of every text in a figure's JSON."""
    if isinstance(part, str):
        yield key, part
    elif isinstance(part, dict | list):
        for inner, each in part.items() if isinstance(part, dict) else ((key, each) for each in part):
            yield from strings(each, inner)


def test_each_exported_chart_is_held_to_these_rules():
    functions = {
        name: inspect.signature(each) for name, each in vars(viz).items() if inspect.isfunction(each)
    }
    themed = {name for name, each in functions.items() if {"theme", "captions"} & set(each.parameters)}
    assert themed - {"explore"} == set(INPUTS)
    assert {name for name, each in functions.items() if "captions" in each.parameters} == set(CAPTIONED)


def looks(name: str, **words: object) -> dict:
    """Title, theme and words as the chart takes them."""
    return {"captions": Captions(**words)} if name in CAPTIONED else words


def drawn(name: str, **changed: object) -> go.Figure:
    given, options = INPUTS[name]
    return drawing(name)(*given, **options | changed)


def emptied(part: object) -> object:
    """The input of the same type without an element."""
    match part:
        case np.ndarray():
            return np.zeros((0,) * part.ndim)
        case pd.DataFrame():
            return part.iloc[:0]
    return type(part)()


@pytest.mark.parametrize("name", sorted(INPUTS.keys() - {"attention_steps"}))  # it has steps always
def test_empty_input_is_an_empty_figure_with_its_layout(name):
    titled = {"texts": MapTexts(title="제목")} if name == "attention_heatmap" else {"title": "제목"}
    main = {"main": "effect"} if name == "pruning_curve" else {}
    titled = looks(name, **titled)
    figure = drawing(name)(*map(emptied, INPUTS[name][0]), **titled, **main)
    assert len(figure.data) == MARKS.get(name, 0)
    assert figure.layout.title.text == "제목"
    filled = drawn(name, **titled).layout
    for axis in ("xaxis", "yaxis"):
        assert filled[axis].title.text in ("", None, figure.layout[axis].title.text)


@ALL
@pytest.mark.parametrize("theme", THEMES)
def test_typed_text_is_neither_markup_nor_template_nor_formula_and_has_the_theme_s_colour(name, theme):
    figure = drawn(name, **looks(name, theme=theme, **worded(name, TYPED)))
    assert figure.layout.font.color == palette(theme).text
    for key, text in strings(json.loads(figure.to_json())):
        if key == "legendgroup":  # never shown
            continue
        assert "<i>" not in text and "$y$" not in text, (key, text)
        assert "%{q}" not in text or not key.endswith(("template", "hovertext")), (key, text)


@ALL
def test_titles_and_names_are_the_callers(name):
    for option, words in worded(name, "내 말").items():
        figure = drawn(name, **looks(name, **{option: words}))
        assert [text for _, text in strings(json.loads(figure.to_json())) if "내 말" in text], option


@ALL
def test_a_theme_that_does_not_exist_is_named(name):
    with pytest.raises(ValueError, match=r"'light', 'dark'.*received 'sepia'"):
        drawn(name, **looks(name, theme="sepia"))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("attention_bars", {"weights": ROWS.T}, r"\(2, 3\) of names and tokens, received \(3, 2\)"),
        ("attention_bars", {"weights": ROWS * 2}, "0..1, received 0.0 to 1.5"),
        ("attention_bars", {"outlined": [5]}, r"0..2, received \[5\]"),
        ("attention_effect_scatter", {"attention": [0, 1]}, r"\(2,\), \(1,\), 1 heads"),
        ("attention_effect_scatter", {"attention": [7]}, r"attention should lie in 0..1, received \[7"),
        ("attention_effect_scatter", {"effects": [np.inf]}, r"effects should be finite, received \[inf\]"),
        ("attention_heatmap", {"weights": ROWS.T}, r"\(2, 3\) of the tokens, received \(3, 2\)"),
        ("attention_heatmap", {"weights": ROWS + 1}, "0..1, received 1.0 to 1.75"),
        ("attention_heatmap", {"weights": ROWS * np.nan}, "received nan"),
        ("attention_heatmap", {"query_tokens": [1, 2]}, r"tokens should be texts, received \[1, 2\]"),
        ("attention_heatmap", {"masked": np.zeros((3, 3), bool)}, r"\(2, 3\), received \(3, 3\)"),
        ("attention_heatmap", {"masked": np.ones((2, 3), bool)}, "exactly 0, received 0.5"),
        (
            "attention_heatmap",
            {"weights": -2 * ROWS, "difference": True, "masked": None},
            "-1..1, received -1.5 to -0.0",
        ),
        ("attention_heatmap", {"emphasis_rows": (0, 2)}, r"0\.\.1, received \[2\]"),
        ("attention_heatmap", {"selected": (0, 3)}, r"0\.\.1 and 0\.\.2, received \(0, 3\)"),
        ("attention_heatmap", {"ringed": [3, 0]}, r"ringed should have 2 numbers in 0\.\.2"),
        ("attention_heatmap", {"colour_max": 0.0}, "positive, received 0.0"),
        ("before_after", {"rows": [Measured("one", np.inf, 0)]}, "finite"),
        ("circuit_graph", {"edges": [GraphEdge(0, 9, 1.0)]}, "edges should lead between"),
        ("circuit_graph", {"nodes": [GraphNode("x", 2)], "edges": []}, "nodes should stand in"),
        ("circuit_graph", {"edges": [GraphEdge(0, 1, np.nan)]}, "effects should be finite"),
        (
            "contribution_panels",
            {"panels": [MethodPanel("a", np.zeros(2))]},
            r"'a' should be finite and \(3,\), received \(2,\)",
        ),
        ("contribution_panels", {"outlined": [3]}, r"0..2, received \[3\]"),
        ("contribution_panels", {"split": 4}, "0..3, received 4"),
        ("embedding_sizes", {"scaled": [1]}, r"2 tokens .* received \[\(2,\), \(1,\), \(2,\)\]"),
        ("growth_curves", {"losses": [1]}, r"losses should be \(2,\) as the steps are, received \(1,\)"),
        ("growth_curves", {"shares": ROWS[:, :2] + 0.75}, "received 0.75"),
        ("growth_curves", {"at": 3}, "received 3"),
        ("head_grid", {"weights": np.zeros((3, 4, 5))}, r"\(L, H, Q, K\), received \(3, 4, 5\)"),
        ("head_grid", {"weights": GRID * np.nan}, "finite and not negative, received nan"),
        ("head_grid", {"layer_names": ["가"]}, "layer_names should have 2 names, received 1"),
        ("head_grid", {"masked": np.zeros((2, 2), bool)}, r"\(4, 5\), received \(2, 2\)"),
        ("head_grid", {"order": [(0, 0), (0, 0)]}, r"2 x 3 once each, received \(\(0, 0\), \(0, 0\)\)"),
        ("head_grid", {"labels": ["a", "b"]}, "1 texts, received 2"),
        ("head_grid", {"chosen": [(0, 3)]}, r"received \[\(0, 3\)\]"),
        ("head_grid", {"colour_max": -1}, "positive, received -1"),
        ("head_mosaic", {"values": {"cross": np.zeros(3)}}, r"\(L, H\) and finite, received \(3,\)"),
        ("head_mosaic", {"chosen": [("cross", 2, 0)]}, "received .*2, 0"),
        ("head_mosaic", {"largest": 0}, "positive, received 0"),
        (
            "head_mosaic",
            {"margins": {"cross": np.zeros((1, 3))}},
            r"margins of cross .* \(2, 2\), received \(1, 3\)",
        ),
        ("head_mosaic", {"signed": False}, "below 0"),
        ("history_curves", {"frame": RECORDS[["step"]]}, r"too, received \['step'\]"),
        ("layer_curve", {"values": [1.0, np.inf]}, "values should be finite"),
        ("layer_curve", {"marked": 2}, "marked should lie in"),
        ("layer_grid", {"probabilities": np.zeros((2, 2))}, r"should be \(P, T\) = \(2, 3\)"),
        ("layer_grid", {"probabilities": ROWS * 2}, r"0\.\.1, received"),
        ("layer_grid", {"outlined": 3}, "columns should lie in"),
        ("number_heatmap", {"row_labels": "abc"}, r"= \(3, 3\) of the labels, received \(2, 3\)"),
        ("number_heatmap", {"scale": "loud"}, "received 'loud'"),
        ("number_heatmap", {"largest": 0}, "positive, received 0"),
        ("number_heatmap", {"label_every": 0}, "at least 1, received 0"),
        (
            "number_heatmap",
            {"hidden": Hidden(padded=np.ones((1, 3), bool))},
            r"padded should have the shape \(2, 3\)",
        ),
        ("place_map", {"places": ["start"]}, "values and details should be"),
        ("position_shift", {"moved": SQUARE}, r"\(P,\), received \(2, 2\)"),
        ("position_similarity_curve", {"by_distance": SQUARE}, r"received the shape \(2, 2\)"),
        ("position_similarity_heatmap", {"similarities": ROWS}, r"\(P, P\), received \(2, 3\)"),
        ("positional_encoding_curves", {"dimensions": [8, 0, -1]}, r"0\.\.1, received \[8, -1\]"),
        ("pruning_curve", {"main": "other"}, "received 'other'"),
        ("pruning_curve", {"curves": {"a": [(0, 1.2, 0)]}, "main": "a"}, "0..1"),
        (
            "reliability_curve",
            {"bins": BINS.drop(columns="count")},
            r"\['count'\] too, received \['low', 'high'",
        ),
        ("reliability_curve", {"bins": BINS.assign(share_right=1.5)}, "0..1, received .*1.5"),
        ("role_mosaic", {"roles": {"cross": [["liaison"]]}}, r"label, received \['liaison'\]"),
        ("token_branches", {"names": ["one"]}, r"received \(\[3, 4\], \[3, 4\], 1\)"),
        ("token_branches", {"probabilities": [(1, 1, 1), (1, 1, 1, 1.5)]}, "1.5"),
        ("token_branches", {"parted": 4}, "received 4"),
        ("waterfall", {"amounts": [Amount("가", np.nan)]}, "values should be finite, received"),
        ("attention_steps", {"weights": [0.5, 5]}, r"weights should lie in 0..1, received \[ ?0.5"),
        ("positional_encoding_curves", {"matrix": np.zeros(4)}, r"\(P, D\), received \(4,\)"),
        ("positional_encoding_curves", {"matrix": [[0.0, 2.0]]}, "-1..1, received 0.0 to 2.0"),
        ("positional_encoding_heatmap", {"matrix": np.zeros(4)}, r"\(P, D\), received \(4,\)"),
        ("positional_encoding_heatmap", {"matrix": [[0.0, 2.0]]}, "-1..1, received 0.0 to 2.0"),
    ],
)
def test_a_mistake_is_named_with_the_value_received(name, change, message):
    given, options = INPUTS[name]
    arguments = inspect.signature(drawing(name)).bind(*given, **options).arguments
    with pytest.raises(ValueError, match=message):
        drawing(name)(**arguments | change)
