"""The class's page: a student sees the teacher's view, and cannot act as the teacher."""

import pytest

from tests.ui.computing_corrector import ComputingCorrector
from tests.ui.screen import component, components, figure, html, keys, messages, send, setting, title
from ui.wording import table

KO = table("ko")
SENTENCE = "고갱님이 왓어요"
SHOWN = (("sentence", SENTENCE), ("edit", "1"), ("layer", "2"), ("head", "1"))
DESK = ("class_reveal_now", "class_stop", "class_to_lesson", "class_kind_where", "class_results_csv")


def press(app, key: str):
    return next(each for each in app.button if each.key == key).click().run()


def touch(app, key: str, place):
    """Touch an option of a row of pills."""
    return next(each for each in app.button_group if each.key == key).set_value(place).run()


@pytest.fixture
def open_phone(open_app, opened):
    """Opens the page of the class as a phone does that has its link."""
    return lambda page="classroom", **settings: open_app(page, **{"class": opened[0]} | settings)


# --- coming in ---


def test_whoever_opens_a_class_is_its_teacher_and_neither_seat_nor_key_can_be_seen(open_app, rooms):
    app = press(open_app("classroom"), "class_open")
    code = setting(app, "class")
    assert len(rooms) == 1 and rooms.state_of(code).present == 1
    assert f"classroom?class={code}" in html(app)
    assert '<img class="class-qr" src="data:image/svg+xml' in html(app)
    assert "class_to_lesson" in keys(app)
    name, value = component(app, "classroom_keeper").values()
    assert name == f"classroom_{code}"
    seat, _, key = value.partition(".")
    assert rooms.is_teacher(code, key)
    others = [each.proto.json for each in app.get("bidi_component") if each.key != "classroom_keeper"]
    told = html(app) + "".join(others)
    assert seat not in told and key not in told


def test_a_phone_comes_in_by_the_link_alone_or_by_a_typed_code_and_is_told_of_the_end(
    open_phone, rooms, opened
):
    app, code = open_phone(), opened[0]
    assert rooms.state_of(code).present == 1
    assert messages(app) == [KO["class_nothing_shown"]]
    rooms.end(*opened)
    assert messages(app.run()) == [KO["class_ended"]]  # and not that a code is wrong: none was typed
    assert "class_open" not in keys(app)
    app = press(app, "class_over")
    assert setting(app, "class") == "" and not messages(app) and "class_open" in keys(app)
    code, _ = rooms.open()
    dashed = f" {code[:3]}-{code[3:]} "
    for typed, told in (("", "class_code_missing"), ("000000", "class_unknown"), (dashed, None)):
        app.text_input(key="class_code").input(typed)
        app = next(each for each in app.button if each.label == KO["class_join"]).click().run()
        assert messages(app) == [KO[told or "class_nothing_shown"]]
    assert setting(app, "class") == code and rooms.state_of(code).present == 1


def test_one_who_looks_around_alone_is_told_of_the_end_in_the_bar(open_phone, rooms, opened):
    rooms.show(*opened, "attention", SHOWN)
    app = open_phone("attention")
    rooms.end(*opened)
    app = send(app, "classroom_pulse", "beat", 1).run()
    assert f">{KO['class_ended']}<" in html(app)
    assert "class_over" not in keys(press(app, "class_over"))


@pytest.mark.parametrize("code", ["000000", "<b>"])
def test_a_code_that_no_class_has_is_told_on_every_page(open_app, rooms, code):
    assert KO["class_unknown"] in messages(open_app("classroom", **{"class": code}))
    other = open_app("positions", **{"class": code})
    assert "class_over" in keys(other)
    assert len(rooms) == 0


def test_a_class_that_is_full_says_so(open_phone, rooms, opened, monkeypatch):
    monkeypatch.setattr("classroom.classroom.MOST_SEATS", 1)
    rooms.join(opened[0])
    assert messages(open_phone()) == [KO["class_full"]]


# --- following ---


def test_a_phone_shows_the_sentence_the_correction_and_the_picture_of_the_teacher(open_phone, rooms, opened):
    rooms.show(*opened, "attention", SHOWN)
    app = open_phone()
    assert "<del><bdi>갱</bdi></del><ins><bdi>객</bdi></ins>님이" in html(app)
    assert "2층 헤드 1" in html(app)
    assert "class_plot_0" in components(app)
    assert setting(app, "layer") == "3"  # its own settings stay


VIEWS = {  # the view, and the first picture of it that a phone shows
    "heatmap": "class_plot_0",
    "lines": "class_lines_0",
    "steps": "class_steps_0",
    "edits": "class_plot_0",
    "received": "class_plot_0",
    "numbers": "class_plot_1",
}


def types(app, key: str) -> set[str]:
    """The types of a figure's traces."""
    return {trace["type"] for trace in figure(app, key)["data"]}


def test_every_view_has_a_picture_on_the_phone_and_the_calculation_is_whole(
    open_phone, rooms, correctors, opened
):
    correctors["transformer"] = ComputingCorrector()
    for view, picture in VIEWS.items():
        rooms.show(*opened, "attention", (*SHOWN, ("view", view), ("cell", "2,0")))
        app = open_phone()
        assert picture in components(app), view
        assert view != "edits" or "bar" in types(app, picture)
    assert [each.value for each in app.subheader] == [
        KO[f"numbers_{part}_heading"] for part in ("vectors", "scores", "sum")
    ]
    assert len(app.latex) > 3 and {"class_plot_1", "class_plot_3", "class_plot_5"} <= set(components(app))


def test_a_phone_sees_what_the_teacher_marks_and_the_attention_once_it_is_revealed(open_phone, rooms, opened):
    asked = (*SHOWN, ("view", "predict"), ("marks", "0,3"))
    rooms.show(*opened, "attention", asked)
    app = open_phone()
    assert html(app).count("<mark>") == 2
    assert KO["class_predict"][-20:] in html(app)  # and not that one should mark and press something
    assert not [each for each in components(app) if each.startswith("class_plot")]
    rooms.show(*opened, "attention", (*asked, ("revealed", "1")))
    app = app.run()
    assert "<mark>" not in html(app) and "bar" in types(app, "class_plot_0")


@pytest.mark.parametrize(
    ("page", "settings", "shown"),
    [
        ("positions", (("positions", "32"),), ["class_plot_1"]),
        ("masks", (("batch", "바다에 가요.\n바다."),), [f"class_plot_{number}" for number in (1, 3, 5)]),
        ("table", (), []),
    ],
)
def test_a_phone_shows_the_pictures_of_these_pages_or_tells_their_name(
    open_phone, rooms, opened, page, settings, shown
):
    rooms.show(*opened, page, settings)
    app = open_phone()
    assert [each for each in components(app) if "plot" in each or "diagram" in each] == shown
    assert messages(app) == ([] if shown else [KO["class_other_page"].format(page=KO[f"{page}_page"])])


def test_a_phone_lets_go_and_comes_back_with_one_press_each(open_phone, rooms, opened):
    rooms.show(*opened, "attention", SHOWN)
    app = press(open_phone(), "class_look_around")
    assert "live_text" in components(app)
    assert "welcome" not in components(app)  # it would lie over the way back
    assert {name: setting(app, name) for name, _ in SHOWN} == dict(SHOWN)
    assert setting(app, "class") == opened[0]
    app = press(app, "class_bar_open")
    assert title(app) == KO["classroom_page"]
    assert rooms.state_of(opened[0]).present == 1  # the same seat all the time


@pytest.mark.parametrize(
    "shown",
    [
        ("attention", ()),
        ("attention", (("sentence", "<img src=x onerror=alert(1)>"),)),
        ("attention", (("sentence", " "), ("edit", "-1"), ("layer", "99"), ("cell", "9,9"), ("view", "x"))),
        ("attention", (("sentence", "가" * 3000), ("model", "../../etc"))),
        ("laboratory", (("experiment", "<b>"), ("lang", "en"), ("class", "x"), ("no such setting", "1"))),
        ("<script>", (("sentence", SENTENCE),)),
    ],
)
def test_whatever_a_teacher_shows_no_phone_breaks(open_phone, rooms, opened, shown):
    rooms.show(*opened, *shown)
    app = open_phone()
    assert "<img src=x" not in html(app) and "<script>" not in html(app)
    assert title(app) == KO["classroom_page"]  # the language is the visitor's own


# --- the teacher's view reaches the class ---


def test_the_teachers_view_is_told_to_the_class_and_nothing_that_is_the_teachers_own(
    open_app, rooms, teacher
):
    code, _ = teacher
    app = open_app(**{"class": code, "lecture": "1", "lang": "en", "sentence": SENTENCE, "layer": "2"})
    shown = rooms.state_of(code).shown
    assert (shown.page, dict(shown.settings)) == ("attention", {"sentence": SENTENCE, "layer": "2"})
    version = rooms.state_of(code).version
    app.run()
    assert rooms.state_of(code).version == version


def test_who_is_in_no_class_meets_nothing_of_all_this(open_app, rooms):
    app = open_app()
    assert not {each for each in components(app) if "class" in each}
    assert "class_bar_open" not in keys(app)


# --- only the teacher speaks for the teacher ---


@pytest.mark.parametrize("forged", [{}, {"teacher": "1", "classroom_membership": "teacher"}])
def test_a_forged_address_gives_nobody_the_desk(open_phone, rooms, opened, forged):
    rooms.show(*opened, "attention", SHOWN)
    before = rooms.state_of(opened[0])
    assert not keys(open_phone(**forged)) & set(DESK)
    open_phone("attention", sentence="가짜 문장", **forged)
    assert rooms.state_of(opened[0]).shown == before.shown


@pytest.mark.parametrize("value", [".{other}", "{seat}.{seat}", "\udc80.\udc80"])
def test_a_forged_cookie_gives_nobody_the_desk(open_phone, rooms, cookies, opened, value):
    code, _ = opened
    other = rooms.open()[1]
    cookies[f"classroom_{code}"] = value.format(other=other, seat=rooms.join(code))
    assert not keys(open_phone()) & set(DESK)


def test_the_cookie_of_the_teacher_makes_the_teacher_after_a_reload(open_phone, rooms, teacher):
    assert "class_to_lesson" in keys(open_phone())
    assert rooms.state_of(teacher[0]).present == 1
