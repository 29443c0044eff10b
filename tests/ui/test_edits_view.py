"""The chips of the changes, and the heads that looked at the chosen one."""

import base64
import json

import numpy as np
import pytest

from model.analysis.agreement import attention_of_change
from model.analysis.edits import leading_heads
from model.changes import find_changes
from tests.ui.fake_corrector import random_trace
from tests.ui.view_script import open_view
from ui.texts import table

KO, EN = table("ko"), table("en")
SOURCE, TARGET = "고갱 왓다 갔 다", "고객 왔다 갔다"


def chips(app) -> list[str]:
    return app.pills(key="control_edit").options


def setting(app, name: str) -> str:
    return app.session_state["view"][name]


def html(app) -> str:
    return "\n".join(element.proto.body for element in app.html)


def bars(app) -> np.ndarray:
    """(R, S): the heights of the bars as they travel to the browser."""
    data = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    heights = [trace["y"] for trace in data if trace["type"] == "bar"]
    return np.array([np.frombuffer(base64.b64decode(y["bdata"]), y["dtype"]) for y in heights])


def test_each_change_is_a_chip_with_its_confidence_and_its_kind():
    app = open_view("edits", SOURCE, TARGET)
    assert not app.exception
    assert chips(app) == [
        f"1. 갱→객 · 0.90 · {KO['edits_kind_jamo']}",
        f"2. 왓→왔 · 0.89 · {KO['edits_kind_sound']}",
        f"3. ␣ 빼기 · 0.88 · {KO['edits_kind_spacing']}",
    ]
    assert open_view("edits", "가나", "가 나").pills(key="control_edit").options[0].startswith("1. ␣ 넣기")


def test_nothing_chosen_is_the_whole_sentence_and_names_the_least_certain():
    app = open_view("edits", SOURCE, TARGET)
    assert app.pills(key="control_edit").value is None
    assert KO["edits_invite"].format(count=3, change="␣ 빼기", confidence="0.88") in html(app)
    assert not app.button and not app.get("plotly_chart")


def test_choosing_a_chip_is_a_setting_and_choosing_it_again_takes_it_back():
    app = open_view("edits", SOURCE, TARGET)
    app.pills(key="control_edit").set_value("2").run()
    assert setting(app, "edit") == "2"
    assert "‘왓→왔’" in html(app)
    app.pills(key="control_edit").set_value(None).run()
    assert setting(app, "edit") == ""
    assert not app.button


@pytest.mark.parametrize("edit", ["4", "0", "-1", "둘", "1.0", "9" * 30, "²"])
def test_a_setting_that_does_not_fit_the_text_is_the_whole_sentence(edit):
    app = open_view("edits", SOURCE, TARGET, edit=edit)
    assert not app.exception
    assert app.pills(key="control_edit").value is None
    assert not app.button


@pytest.mark.parametrize("number", [1, 3])
def test_the_leading_heads_are_named_drawn_and_opened(number):
    app = open_view("edits", SOURCE, TARGET, edit=str(number), lang="en", kind="encoder_attention")
    changes, trace = find_changes(SOURCE, TARGET), random_trace(SOURCE, TARGET)
    change = changes[number - 1]
    heads = leading_heads(trace, change, changes)
    places = [EN["place_head"].format(layer=h.layer + 1, head=h.head + 1) for h in heads]
    expected = [
        EN["edits_head"].format(place=place, share=f"{h.share:.0%}", usual=f"{h.usual:.0%}")
        for place, h in zip(places, heads, strict=True)
    ]
    assert [button.label for button in app.button] == expected
    attention = attention_of_change(trace, change)
    np.testing.assert_allclose(bars(app), [attention[h.layer, h.head] for h in heads])
    assert places[0] in html(app)

    app.button[2].click().run()
    found = heads[2]
    view = [setting(app, name) for name in ("kind", "layer", "head")]
    assert view == ["cross_attention", str(found.layer + 1), str(found.head + 1)]
    assert setting(app, "edit") == str(number)


def test_the_bars_inside_the_outline_add_up_to_the_share_that_is_named():
    app = open_view("edits", SOURCE, TARGET, edit="1")
    heads = leading_heads(random_trace(SOURCE, TARGET), *_first_of(find_changes(SOURCE, TARGET)))
    np.testing.assert_allclose(bars(app)[:, 1], [h.share for h in heads], rtol=1e-6)


def _first_of(changes):
    return changes[0], changes


def test_one_attention_map_leaves_no_heads_to_choose():
    app = open_view("edits", SOURCE, TARGET, edit="1", model="seq2seq")
    assert not app.exception and not app.button
    assert bars(app).shape == (1, len(SOURCE) + 1)
    assert KO["edits_reading_only"][-30:] in html(app)


def test_nothing_changed_offers_nothing():
    app = open_view("edits", "가나다", "가나다", edit="1")
    assert not app.exception and not app.pills
    assert KO["edits_none"] in html(app)


@pytest.mark.parametrize("typed", ["*굵게*", "$x$", ":smile:", "`a`", "[가](나)", "<b>", "**", ":red[가]"])
def test_what_was_typed_is_neither_markdown_nor_html(typed):
    app = open_view("edits", f"{typed}갱", f"{typed}객", edit="1")
    assert not app.exception
    app = open_view("edits", f"라{typed}", "라마", edit="1")
    (label,) = chips(app)
    assert typed not in label
    assert label.replace("\\", "").replace("\u2060", "").startswith(f"1. {typed}→마 ·")
    assert "<b>" not in html(app)


def test_twenty_changes_are_twenty_different_chips():
    app = open_view("edits", "갱 " * 20, "객 " * 20, edit="20")
    assert len(set(chips(app))) == 20
    assert app.pills(key="control_edit").value == "20"
    assert bars(app).shape == (3, 11)  # as far as there are 8 tokens on each side


def test_a_long_change_is_shortened():
    app = open_view("edits", "가" * 30, "나" * 30, edit="1")
    assert chips(app)[0].startswith(f"1. {'가' * 11}…→{'나' * 11}… ·")


def test_the_bars_of_a_long_sentence_are_those_around_the_change():
    source, target = "가나다라 " * 9 + "갱" + " 마바사아" * 9, "가나다라 " * 9 + "객" + " 마바사아" * 9
    app = open_view("edits", source, target, edit="1", lang="en")
    changes, trace = find_changes(source, target), random_trace(source, target)
    found = leading_heads(trace, changes[0], changes)
    rows = attention_of_change(trace, changes[0])[[h.layer for h in found], [h.head for h in found]]
    np.testing.assert_allclose(bars(app), rows[:, 37:54])
    rest = 1 - rows[:, 37:54].sum(axis=1).min()
    assert EN["edits_rest"].format(rest=f"{rest:.1%}") in html(app)
