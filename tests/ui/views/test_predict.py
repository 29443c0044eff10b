"""View *predict*: a student's marks, no attention before the reveal, the comparison."""

from functools import partial

import numpy as np

from model.analysis.edits import agreeing_head, agreement, attention_of_change
from model.text.changes import find_changes
from tests.ui import screen
from tests.ui.fake_corrector import random_trace
from tests.ui.screen import chosen, figures, html, setting
from tests.ui.view_script import open_view
from ui.wording import table

KO, EN = table("ko"), table("en")
SOURCE, TARGET = "고갱이 왓다 갔다", "고객이 왔다 갔다"
LONG = "가나다라 " * 24


def offered(app) -> list[str]:
    return app.pills(key="control_marks").options


def is_revealed(app) -> bool:
    return "predict_bars" in figures(app)


def figure(app) -> dict:
    return screen.figure(app, "predict_bars")


def bars(app) -> np.ndarray:
    return screen.bars(app, "predict_bars")


def focus(app, edit: str) -> None:
    """Put another change in focus."""
    app.session_state["view"]["edit"] = edit
    app.run()


def everything_shown(app) -> list[str]:
    """All texts sent to the browser, but for the names Streamlit gives to elements."""
    labels = [label for pills in app.pills for label in pills.options]
    return [html(app), *labels, *(button.label for button in app.button), *(m.value for m in app.markdown)]


def test_a_student_marks_then_reveals_then_starts_again():
    app = open_view("predict", SOURCE, TARGET, edit="2")
    assert not is_revealed(app)
    assert "‘왓→왔’" in html(app)
    app.pills(key="control_marks").set_value([5, 4]).run()
    assert chosen(app, "marks", "revealed") == ("4,5", "")
    assert not is_revealed(app)
    app.button(key="predict_reveal").click().run()
    assert setting(app, "revealed") == "1" and is_revealed(app)
    app.button(key="predict_again").click().run()
    assert chosen(app, "marks", "revealed") == ("", "")
    assert app.pills(key="control_marks").value == [] and not is_revealed(app)


def test_before_the_reveal_nothing_depends_on_what_the_network_looked_at(monkeypatch):
    before, after = [], []
    for seed in (0, 9):
        monkeypatch.setattr("tests.ui.fake_corrector.random_trace", partial(random_trace, seed=seed))
        app = open_view("predict", SOURCE, TARGET, edit="1", marks="1,2")
        before.append(everything_shown(app))
        app.button(key="predict_reveal").click().run()
        after.append(everything_shown(app))
    assert before[0] == before[1]
    assert after[0] != after[1]


def test_the_comparison_shows_the_numbers_of_its_definition():
    app = open_view("predict", SOURCE, TARGET, edit="1", marks="1,2", revealed="1", lang="en")
    attention = attention_of_change(random_trace(SOURCE, TARGET), find_changes(SOURCE, TARGET)[0])
    characters = attention[..., :-1]
    mean, heads = agreement(characters.mean(axis=(0, 1)), [1, 2]), agreement(characters, [1, 2])
    head = agreeing_head(heads)
    np.testing.assert_allclose(bars(app), [attention.mean(axis=(0, 1)), attention[head]], rtol=1e-6)
    for found, place in ((mean, ()), (heads, head)):
        shares = (found.share, found.random, found.best)
        cells = [f"{share[place]:.0%}" for share in shares]
        assert "".join(f"<td>{cell}</td>" for cell in [*cells, f"{found.hits[place]} / 2"]) in html(app)
    assert EN["place_head"].format(layer=head[0] + 1, head=head[1] + 1) in html(app)
    assert EN["predict_not_an_explanation"] in html(app)
    # The bars are a mean over the characters that were written; the text below names each one's heaviest key.
    row = random_trace(SOURCE, TARGET).attention("cross_attention").mean(axis=(0, 1))[1]
    looked = int(row.argmax())
    assert f"‘객’ → ‘{SOURCE[looked].replace(' ', '␣')}’ (place {looked + 1}) {row[looked]:.3f}" in html(app)
    outline = next(trace for trace in figure(app)["data"] if trace["type"] == "scatter")
    assert sorted({round(x, 2) for x in outline["x"] if x is not None}) == [1.53, 3.47]

    app.button(key="predict_open").click().run()
    assert chosen(app, "view", "layer", "head") == ("heatmap", str(head[0] + 1), str(head[1] + 1))


def test_a_short_sentence_offers_all_of_it_and_revealing_without_a_mark_asks_for_one():
    app = open_view("predict", SOURCE, TARGET)
    assert len(offered(app)) == len(SOURCE)
    assert not app.segmented_control
    app.button(key="predict_reveal").click().run()
    assert app.warning[0].value == KO["predict_no_marks"]
    assert not is_revealed(app) and setting(app, "revealed") == ""
    app = open_view("predict", SOURCE, TARGET, revealed="1", marks="99,x,²,-1")  # a link to no mark
    assert not is_revealed(app)
    app.pills(key="control_marks").set_value([1]).run()
    assert setting(app, "marks") == "1" and not is_revealed(app)


def test_another_change_another_text_and_another_network_hide_the_answer():
    app = open_view("predict", SOURCE, TARGET, edit="1", marks="1", revealed="1")
    focus(app, "2")
    assert not is_revealed(app) and chosen(app, "marks", "revealed") == ("", "")

    for asked, marks in (({"model": "seq2seq"}, "1"), ({"source": f"{SOURCE}!", "target": f"{TARGET}!"}, "")):
        app = open_view("predict", SOURCE, TARGET, edit="1", marks="1", revealed="1")
        assert is_revealed(app)
        app.kwargs |= asked
        app.run()
        assert not is_revealed(app) and chosen(app, "marks", "revealed") == (marks, "")


def test_repeated_syllables_are_different_the_changed_one_is_bold_and_nothing_typed_is_markdown_or_html():
    app = open_view("predict", "가가갱가가", "가가객가가")
    signs = ("가", "가", "**갱**", "가", "가")
    assert offered(app) == [f"{sign} :small[{place}]" for place, sign in enumerate(signs, 1)]
    app.pills(key="control_marks").set_value([3]).run()
    assert setting(app, "marks") == "3"
    app = open_view("predict", "*$`[<:갱", "*$`[<:객", marks="0", revealed="1")
    assert is_revealed(app)
    app.button(key="predict_again").click().run()
    typed = [label.split()[0] for label in offered(app)[:6]]
    assert typed == [f"\\{sign}\u2060" for sign in "*$`[<:"]


def test_a_long_sentence_offers_the_neighbourhood_and_marks_far_from_the_change_are_shown_beside_it():
    source = f"{LONG[:60]}갱{LONG[60:]}"
    app = open_view("predict", source, source.replace("갱", "객"), marks="2,60")
    assert len(offered(app)) == 25
    assert app.pills(key="control_marks").value == [60]
    assert KO["predict_hidden"].format(count=1) in html(app)
    app.pills(key="control_marks").set_value([60, 61]).run()
    assert setting(app, "marks") == "2,60,61"
    app.segmented_control(key="control_around").set_value("all").run()
    assert len(offered(app)) == len(source)
    assert app.pills(key="control_marks").value == [2, 60, 61]
    app.pills(key="control_marks").set_value([40, 60]).run()
    app.button(key="predict_reveal").click().run()
    bar = next(trace for trace in figure(app)["data"] if trace["type"] == "bar")
    assert bars(app).shape == (2, 29)  # from the mark at 40 to 8 behind the change at 60
    assert bar["text"][:5] == list("가나다라␣")


def test_one_attention_map_is_compared_alone():
    app = open_view("predict", SOURCE, TARGET, marks="1", revealed="1", model="seq2seq")
    assert bars(app).shape == (1, len(SOURCE) + 1)
    assert html(app).count("<tr>") == 2  # the head of the table and one row
    assert [button.key for button in app.button] == ["predict_again"]


def test_an_insertion_and_a_deletion_can_be_asked_about_and_where_nothing_changed_nothing():
    for source, target in (("가나", "가 나"), ("가 나", "가나"), ("가", "가.")):
        assert is_revealed(open_view("predict", source, target, marks="0", revealed="1"))
    app = open_view("predict", "가나다", "가나다", marks="1", revealed="1")
    assert not app.button and KO["predict_nothing"] in html(app)
