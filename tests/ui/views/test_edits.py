"""View *this change*: heads that attend to a change more than usual, and its bars."""

import numpy as np
import pytest

from model.analysis.edits import attention_of_change, leading_heads
from model.text.changes import find_changes
from tests.ui.fake_corrector import random_trace
from tests.ui.screen import bars, chosen, figure, figures, html, told
from tests.ui.view_script import open_view
from ui.wording import table

KO, EN = table("ko"), table("en")
SOURCE, TARGET = "고갱 왓다 갔 다", "고객 왔다 갔다"


def leading(number: int):
    changes, trace = find_changes(SOURCE, TARGET), random_trace(SOURCE, TARGET)
    return leading_heads(trace, changes[number], changes)


def test_without_a_change_in_focus_the_first_one_is_asked_as_in_all_views():
    app = open_view("edits", SOURCE, TARGET)
    assert "‘갱→객’: ‘객’ 자를 쓸 때" in told(app)
    assert bars(app, "edits_bars").shape[0] == 3


@pytest.mark.parametrize("number", [1, 3])
def test_the_leading_heads_are_named_drawn_and_opened(number):
    app = open_view("edits", SOURCE, TARGET, edit=str(number), lang="en", kind="encoder_attention")
    change, heads = find_changes(SOURCE, TARGET)[number - 1], leading(number - 1)
    places = [EN["place_head"].format(layer=h.layer + 1, head=h.head + 1) for h in heads]
    assert [button.label for button in app.button] == [EN["edits_open"].format(place=p) for p in places]
    attention = attention_of_change(random_trace(SOURCE, TARGET), change)
    np.testing.assert_allclose(bars(app, "edits_bars"), [attention[h.layer, h.head] for h in heads])
    assert places[0] in told(app)
    titles = str(figure(app, "edits_bars")["layout"])
    for place, found in zip(places, heads, strict=True):
        shares = {"share": f"{found.share:.0%}", "usual": f"{found.usual:.0%}"}
        assert EN["edits_head"].format(place=place, **shares) in titles
    app.button[2].click().run()
    head = str(heads[2].layer + 1), str(heads[2].head + 1)
    expected = ("heatmap", "cross_attention", *head, str(number))
    assert chosen(app, "view", "kind", "layer", "head", "edit") == expected


def test_one_attention_map_leaves_no_heads_to_choose_and_where_nothing_changed_nothing_is_drawn():
    app = open_view("edits", SOURCE, TARGET, edit="1", model="seq2seq")
    assert not app.button
    assert bars(app, "edits_bars").shape == (1, len(SOURCE) + 1)
    assert KO["edits_reading_only"][-30:] in told(app)
    app = open_view("edits", "가나다", "가나다")
    assert not figures(app) and not app.button
    assert KO["edits_none"] in told(app)


def test_the_bars_of_a_long_sentence_are_those_around_the_change():
    source, target = "가나다라 " * 9 + "갱" + " 마바사아" * 9, "가나다라 " * 9 + "객" + " 마바사아" * 9
    app = open_view("edits", source, target, edit="1", lang="en")
    changes, trace = find_changes(source, target), random_trace(source, target)
    found = leading_heads(trace, changes[0], changes)
    rows = attention_of_change(trace, changes[0])[[h.layer for h in found], [h.head for h in found]]
    np.testing.assert_allclose(bars(app, "edits_bars"), rows[:, 37:54])
    assert EN["edits_window"] in html(app)
    assert EN["edits_window"] not in html(open_view("edits", "갱", "객", edit="1", lang="en"))
