"""View *lines*: its heads and weights, marked changes, and its description."""

from dataclasses import replace
from functools import partial

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.ui import view_script
from tests.ui.fake_corrector import HEADS, LAYERS, one_map_trace, random_trace
from tests.ui.screen import component
from tests.ui.screen import told as reading
from tests.ui.view_script import open_state
from ui.views.lines import Lines, chosen_heads, heads_of
from ui.wording import table
from viz.browser.lines import MOST_HEADS, MOST_LINES, lines_data

SENTENCE = "고갱이 왔다"
state = partial(view_script.state, layer=None, head=None, source=SENTENCE)


def say(key: str, /, **values) -> str:
    return table("en")[key].format(**values)


open_view = partial(open_state, "lines", head=None, source=SENTENCE)


def sent(app: AppTest) -> dict:
    """The data that travels to the browser."""
    return component(app, "lines")


def test_without_a_choice_the_mean_over_heads_is_drawn_as_its_heads():
    assert heads_of(state(layer=1)) == [(1, head) for head in range(HEADS)]
    assert heads_of(state(layer=1, head=2)) == [(1, 2)]
    assert heads_of(state(head=2)) == [(layer, 2) for layer in range(LAYERS)]
    assert heads_of(state()) == [(None, None)]


def test_heads_of_an_address_are_read_as_far_as_they_exist_and_have_colours():
    for text, heads in (
        ("1.2,2.3", [(0, 1), (1, 2)]),
        ("2.3, 1.1,2.3", [(1, 2), (0, 0)]),
        ("9.1,1.9,0.1,1.0", []),
        ("<b>,1.2.,١.٢,999.1", [(0, 1)]),
    ):
        assert chosen_heads(text, LAYERS, HEADS) == heads
    everything = ",".join(f"{layer}.{head}" for layer in range(1, 9) for head in range(1, 9))
    assert len(chosen_heads(everything, 8, 8)) == MOST_HEADS


def test_each_token_keeps_its_place_and_is_sent_as_it_was_typed():
    data = sent(open_view(source="<b>갱 갱</b>"))
    assert [token["sign"] for token in data["keys"]] == [*"<b>갱␣갱</b>", "</s>"]
    assert len({token["name"] for token in data["keys"]}) == len(data["keys"])


def test_changed_tokens_are_marked_on_both_sides_and_a_chosen_change_is_isolated_and_spoken_of():
    data = sent(open_view())
    assert [token["sign"] for token in data["queries"] if token["changed"]] == ["객"]
    assert [token["sign"] for token in data["keys"] if token["changed"]] == ["갱"]
    assert data["isolated"] == []
    decoder = state("decoder_attention")
    assert [decoder.keys[column] for column in decoder.changed_columns] == ["객"]
    app = open_view(change=1, head=0, source="고갱이 고갱은", lang="en")
    assert sent(app)["isolated"] == [5]
    weights = random_trace("고갱이 고갱은", "고객이 고객은").cross_attention[1, 0, 5]
    assert f"{weights.max():.3f}" in reading(app) and "no. 6 ‘객’" in reading(app)


def test_the_reading_counts_the_rows_that_look_at_their_own_place():
    straight = (random_trace(SENTENCE, "고객이 왔다").cross_attention[1].argmax(-1) == np.arange(7)).sum(-1)
    assert f"{straight[0]} of 7" in reading(open_view(head=0, lang="en"))
    several = reading(open_view(lang="en"))
    assert f"{straight.max()} of 7" in several
    assert straight.max() > straight.min()
    assert f"but {straight.min()} in" in several


def test_the_reading_names_the_line_that_strays_farthest():
    weights = random_trace(SENTENCE, "고객이 왔다").encoder_attention[0, 1]
    keys = weights.argmax(-1)
    row = int(np.abs(keys - np.arange(len(keys))).argmax())
    spoken = reading(open_view("encoder_attention", layer=0, head=1, lang="en"))
    told = f"no. {row + 1} ", f"no. {keys[row] + 1} ", f"{weights[row, keys[row]]:.3f}"
    assert all(each in spoken for each in told)


def test_where_all_lines_are_straight_the_weakest_is_named():
    weights = 0.1 + 0.6 * np.eye(4, dtype=np.float32)
    weights[2] = (0.2, 0.2, 0.4, 0.2)
    trace = replace(one_map_trace("가나다", "가나다"), cross_attention=weights[None, None])
    spoken = Lines(state(layer=0, head=0, source="가나다", trace=lambda *_: trace), {}).reading()
    assert spoken.startswith("하나뿐인 어텐션: 4자 모두") and "3번 ‘다’" in spoken and "0.400" in spoken


def test_choosing_heads_changes_the_address_and_the_lines_and_one_map_leaves_none_to_choose():
    app = open_view()
    app.multiselect(key="control_heads").set_value(["2.3", "1.1"]).run()
    assert app.session_state["view"]["heads"] == "2.3,1.1"
    assert [head["name"] for head in sent(app)["heads"]] == ["2층 헤드 3", "1층 헤드 1"]
    app.multiselect(key="control_heads").set_value([]).run()
    assert app.session_state["view"]["heads"] == ""
    assert len(sent(app)["heads"]) == HEADS
    app = open_view(layer=0, head=0, recurrent=True)
    assert not app.multiselect and len(sent(app)["heads"]) == 1


def test_a_long_sentence_leaves_out_weak_lines_of_every_row_and_says_how_many():
    length = 200
    trace = one_map_trace("가" * (length - 1), "가" * (length - 1))
    even = np.full((length, length), 1 / length, np.float32)
    even[7] = np.eye(length)[7]
    drawing = partial(lines_data, say, trace, "cross_attention", mass=0.95, label="lines")
    data = drawing([("even", even), ("alike", even)])
    rows = [query for head in data["heads"] for query, _, _ in head["edges"]]
    assert len(rows) <= MOST_LINES
    counts = np.bincount(rows, minlength=length)
    assert counts[7] == 2
    assert len(set(np.delete(counts, 7))) == 1
    hidden = 2 * (199 * 190 + 1) - len(rows)
    assert f"{hidden:,}" in data["words"]["hidden"]
    assert drawing([("even", np.eye(length, dtype=np.float32))])["words"]["hidden"] == ""
