"""Overview of all heads: tiles, their order, description, the view behind a tile."""

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
from tests.ui.screen import html
from tests.ui.view_script import open_state, state
from ui.shell.settings import defaults
from ui.views import overview
from ui.wording import percent, spoken, table

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


@pytest.mark.parametrize("kind", ATTENTION_KINDS[:2])
def test_heads_can_be_ranked_with_their_numbers_above_them_and_the_two_ends_are_told(kind):
    shown, plain = state(kind), open_view(kind)
    assert order(plain) == PLACES and not labels(plain)
    weights = shown.trace.attention(kind)
    entropy = heads.entropy(weights)
    assert order(open_view(kind, order="entropy")) == ranked(entropy)
    for layer, head in (ranked(entropy)[0], ranked(entropy)[-1]):
        assert KO["place_head"].format(layer=layer + 1, head=head + 1) in html(plain)
        assert f"{2 ** float(entropy[layer, head]):.1f}" in html(plain)
    distance = heads.distance(weights, row_positions(shown.trace, kind, shown.sentence.changes))
    assert order(open_view(kind, order="distance")) == ranked(-distance)
    found = attention_to_edit(shown.trace, kind, shown.sentence.changes[0], shown.sentence.changes)
    app, places = open_view(kind, order="edit", change=0), ranked(-found.beyond_usual)
    assert order(app) == order(open_view(kind, order="edit")) == places
    (layer, head), beyond = places[0], found.beyond_usual[places[0]]
    assert labels(app)[0] == f"{layer + 1}·{head + 1} {beyond:+.2f}".replace("-", "−")
    for share in (found.share[layer, head], found.usual[layer, head]):
        assert spoken("ko")(percent)(share) in html(app)


def test_the_edit_is_offered_only_where_there_is_one():
    for source, count in (("비가 또 온다", 3), ("고갱이 또 왔다", 4)):
        assert len(open_view(source=source).segmented_control(key="control_order").options) == count
    assert order(open_view(source="비가 또 온다", order="edit")) == PLACES


def test_a_point_that_is_no_tile_opens_nothing(settings):
    customs = [*VALUES, [1, 2, 3], ["1", "2"], [1.0, 2.0], [None, 0], [[0], [1]], {"0": 1, "1": 2}]
    for point in [{}, {"x": 1, "y": 1}, *({"custom": custom} for custom in customs)]:
        overview.open_tile(None, point)
        overview.open_tile(state(), point)
        assert settings == defaults(), point


def test_where_no_head_looks_at_a_correction_more_than_usual_none_is_called_so():
    def even(source: str, target: str):
        trace = random_trace(source, target)
        return replace(trace, cross_attention=np.full_like(trace.cross_attention, 0.125))

    shown = state(trace=even)
    assert "평소보다 더 보는 헤드가 없습니다" in overview._describe(shown, overview.rank(shown, "edit"))


def test_a_network_with_one_map_and_the_shortest_sentence_work():
    app = open_view(recurrent=True, layer=0, head=0, source="가")
    assert order(app) == [(0, 0)]
    assert not app.segmented_control


@pytest.mark.parametrize(("tokens", "joined"), [(128, False), (129, True)])
def test_a_long_sentence_is_told_to_be_shrunk(tokens, joined):
    shown = state(source="가", trace=lambda *_: random_trace("가" * (tokens - 1), "가" * (tokens - 1)))
    notes = overview.notes(shown, overview.rank(shown, "entropy"))
    assert (KO["overview_joined"].format(count=2) in notes) == joined
