"""The overview without a browser: its tiles, their order, what it says, and what a click opens."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis import attention_maps as heads
from model.analysis.edits import attention_to_edit, row_positions
from model.trace.trace import ATTENTION_KINDS
from tests.ui import screen
from tests.ui.fake_corrector import HEADS, LAYERS, random_trace
from tests.ui.hostile import VALUES
from tests.ui.screen import html, send
from tests.ui.view_script import open_state, state
from ui.shell.settings import defaults
from ui.views import overview
from ui.wording import table

KO = table("ko")
PLACES = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


open_view = partial(open_state, "overview")


def figure(app: AppTest) -> dict:
    return screen.figure(app, "overview")


def order(app: AppTest) -> list[tuple[int, int]]:
    """The tiles (layer, head) in reading order."""
    return [tuple(pair) for pair in figure(app)["data"][1]["customdata"]]


def labels(app: AppTest) -> list[str]:
    return [note["text"] for note in figure(app)["layout"].get("annotations", [])]


def ranked(values: np.ndarray) -> list[tuple[int, int]]:
    """Places by rising value."""
    return sorted(PLACES, key=lambda place: float(values[place]))


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_heads_can_be_ranked_with_their_numbers_above_them(kind):
    shown = state(kind)
    assert order(open_view(kind)) == PLACES and not labels(open_view(kind))
    weights = shown.trace.attention(kind)
    entropy = heads.entropy(weights)
    assert order(open_view(kind, order="entropy")) == ranked(entropy)
    distance = heads.distance(weights, row_positions(shown.trace, kind, shown.sentence.changes))
    assert order(open_view(kind, order="distance")) == ranked(-distance)
    change = shown.sentence.changes[0]
    beyond = attention_to_edit(shown.trace, kind, change, shown.sentence.changes).beyond_usual
    app = open_view(kind, order="edit")
    assert order(app) == ranked(-beyond)
    layer, head = ranked(-beyond)[0]
    assert labels(app)[0] == f"{layer + 1}·{head + 1} {beyond[layer, head]:+.2f}".replace("-", "−")


def test_the_edit_is_offered_only_where_there_is_one():
    for source, count in (("비가 또 온다", 3), ("고갱이 또 왔다", 4)):
        assert len(open_view(source=source).segmented_control(key="control_order").options) == count
    assert order(open_view(source="비가 또 온다", order="edit")) == PLACES


@pytest.mark.parametrize(
    ("layer", "head", "framed"),
    [(1, 2, 1), (1, None, HEADS), (None, 0, LAYERS), (None, None, LAYERS * HEADS)],
)
def test_what_is_open_is_framed_and_named(layer, head, framed):
    app = open_view(layer=layer, head=head)
    assert len(figure(app)["layout"].get("shapes", [])) == framed
    assert state(layer=layer, head=head).place in html(app)


def test_a_view_may_frame_other_heads():
    for framed in ([(0, 0), (1, 1)], []):
        assert len(figure(open_view(framed=framed))["layout"].get("shapes", ())) == len(framed)


def test_a_point_that_is_no_tile_opens_nothing(settings):
    customs = [*VALUES, [1, 2, 3], ["1", "2"], [1.0, 2.0], [None, 0], [[0], [1]], {"0": 1, "1": 2}]
    for point in [{}, {"x": 1, "y": 1}, *({"custom": custom} for custom in customs)]:
        overview.open_tile(None, point)
        overview.open_tile(state(), point)
        assert settings == defaults(), point


def test_a_tile_that_this_network_lacks_falls_back(open_app):
    app = open_app(sentence="고갱이 왔다")
    for custom in ([-5, -9], [99, 99], [10**300, 0]):
        send(app, "overview", "click", {"custom": custom})
        assert screen.numbers(app).shape


def test_the_sentence_names_the_two_ends_of_the_ranking_with_their_numbers():
    entropy = heads.entropy(state().trace.cross_attention)
    first, last = ranked(entropy)[0], ranked(entropy)[-1]
    told = html(open_view())
    for place in (first, last):
        assert KO["place_head"].format(layer=place[0] + 1, head=place[1] + 1) in told
        assert f"{2 ** float(entropy[place]):.1f}" in told


@pytest.mark.parametrize("change", [None, 0])
def test_the_sentence_about_a_correction_compares_with_the_usual(change):
    shown = state()
    attention = attention_to_edit(shown.trace, shown.kind, shown.sentence.changes[0], shown.sentence.changes)
    best = ranked(-attention.beyond_usual)[0]
    told = html(open_view(order="edit", change=change))
    assert f"{attention.share[best]:.0%}" in told
    assert f"{attention.usual[best]:.0%}" in told


def test_where_no_head_looks_at_a_correction_more_than_usual_none_is_called_so():
    def even(source: str, target: str):
        trace = random_trace(source, target)
        return replace(trace, cross_attention=np.full_like(trace.cross_attention, 0.125))

    shown = state(trace=even)
    assert "평소보다 더 보는 헤드가 없습니다" in overview._describe(shown, overview.rank(shown, "edit"))


@pytest.mark.parametrize("source", ["가", "고갱"])
def test_a_network_with_one_map_and_the_shortest_sentences_work(source):
    app = open_view(recurrent=True, layer=0, head=0, source=source)
    assert order(app) == [(0, 0)]
    assert not app.segmented_control


@pytest.mark.parametrize(("tokens", "joined"), [(128, False), (129, True)])
def test_a_long_sentence_is_told_to_be_shrunk(tokens, joined):
    shown = state(source="가", trace=lambda *_: random_trace("가" * (tokens - 1), "가" * (tokens - 1)))
    notes = overview.notes(shown, overview.rank(shown, "entropy"))
    assert (KO["overview_joined"].format(count=2) in notes) == joined
