"""What a person typed reaches a figure as the signs that were typed."""

import json

import plotly.graph_objects as go
import pytest

from viz.labels import MOST_ODDS, log_odds, plain_text, template_text, token_label, width_in_em


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("손", "손"),
        ("<s>", "&lt;s&gt;"),
        ("</s>", "&lt;/s&gt;"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("&", "&amp;"),
        ("&lt;", "&amp;lt;"),
        ("$x$", "&#36;x&#36;"),
        ("🙂", "🙂"),
        (" ", "␣"),
        ("\n", "↵"),
        ("\t", "⇥"),
        ("\x00", "U+0000"),
        ("\u202e", "U+202E"),
        ("\u3000", "U+3000"),
        ("\u0301", "◌\u0301"),
        ("\u200d", "U+200D"),
        ("👨\u200d👩", "👨\u200d👩"),
        ("", ""),
    ],
)
def test_token_label(token, label):
    assert token_label(token) == label


def test_a_link_keeps_no_tag_that_plotly_would_follow():
    label = token_label("<a href='javascript:alert(1)'>x</a>", limit=100)
    assert label == "&lt;a␣href='javascript:alert(1)'&gt;x&lt;/a&gt;"


def test_a_long_label_is_cut_before_it_is_escaped():
    assert token_label("&" * 50, limit=4) == "&amp;&amp;&amp;…"
    assert token_label("가" * 16) == "가" * 16
    assert token_label("가" * 17) == "가" * 15 + "…"


def test_a_lone_surrogate_survives_json():
    figure = go.Figure(layout={"title": {"text": token_label("\ud800")}})
    assert json.loads(figure.to_json())["layout"]["title"]["text"] == "U+D800"


def test_titles_keep_their_spaces_and_templates_their_percent_signs():
    assert plain_text("1층 · 머리 <2>") == "1층 · 머리 &lt;2&gt;"
    assert template_text("100 %{z}") == "100 &#37;{z}"


def test_syllables_are_wider_than_letters():
    assert width_in_em("가") == 1.0
    assert width_in_em("ab") == pytest.approx(1.2)


def test_log_odds_go_on_where_the_digits_of_a_probability_end():
    told = [log_odds(1 - 10.0**-digits) for digits in range(1, 6)]
    assert told == sorted(told, key=lambda text: float(text)) and len(set(told)) == 5
    assert log_odds(0.5) == "+0.0" and log_odds(0.25) == log_odds(0.75).replace("+", "−")
    assert log_odds(1.0) == f">+{MOST_ODDS:.0f}"
