"""Streamlit components: values from the browser, and text that is read ahead."""

from types import SimpleNamespace

import pytest

from tests.ui.hostile import VALUES
from tests.ui.screen import components, send
from ui.components import component, diagram, figures, live_text
from ui.components.component import chosen_row
from ui.components.correction import WHAT, correction
from ui.components.live_text import whole
from ui.sentence.page import LONGEST_AHEAD
from ui.shell import runs


@pytest.fixture
def tells(monkeypatch):
    """Makes the browser tell this of the component ``here``."""

    def tell(held: object) -> None:
        state = {} if held is None else {"here": held}
        monkeypatch.setattr(component, "st", SimpleNamespace(session_state=state))

    return tell


def test_what_was_told_is_heard_and_nothing_else(tells):
    tells({"click": 5})
    assert (component.heard("here", "click"), component.heard("here", "text")) == (5, None)
    for held in VALUES:
        tells(held)
        assert component.heard("here", "click") is None
        assert chosen_row("here", 9) is None


def test_a_row_is_one_of_the_table(tells):
    for rows, expected in (([0], 0), ([2], 2), ([3], None), ([-1], None), ([], None), ("0", None)):
        tells({"selection": {"rows": rows}})
        assert chosen_row("here", 3) == expected
    for value in VALUES:
        for selection in (value, {"rows": value}, {"rows": [value]}):
            tells({"selection": selection})
            assert chosen_row("here", 1) is None


# These look like requests of the corrected text and are none.
REQUESTS = [{"what": what, "number": 0} for what in (*VALUES, "choose ", "CHOOSE", "drop table")]
REQUESTS += [{"what": what, "number": each} for what in WHAT for each in VALUES if type(each) is not int]
PAIRS = ([True, 0], [1], [1, 2, 3], [1, "2"], [1.0, 2])


@pytest.mark.parametrize(
    ("drawn", "name", "good", "call"),
    [
        ("figures._STEPS", "step", 3, lambda told: figures.draw_steps({}, "here", told, pytest.fail)),
        (
            "figures._STEPS",
            "parted",
            [3, -1],
            lambda told: figures.draw_steps({}, "here", pytest.fail, lambda *both: told([*both])),
        ),
        ("figures._PLOT", "click", {"x": 1}, lambda told: figures.draw_plot({"spec": "{}"}, "here", told)),
        ("diagram._COMPONENT", "go", "mask", lambda told: diagram.diagram({}, "here", told)),
        ("live_text._COMPONENT", "text", "가", lambda told: live_text.live_text("가", {}, 9, told)),
        (
            "correction._COMPONENT",
            "asked",
            {"what": "open", "number": 1},
            lambda told: correction({}, "here", lambda what, number: told({"what": what, "number": number})),
        ),
    ],
)
def test_a_component_passes_on_what_it_means_alone(tells, monkeypatch, drawn, name, good, call):
    def component(**given):
        given[f"on_{name}_change"]()
        return SimpleNamespace(text=None)

    monkeypatch.setattr(live_text, "_KEY", "here")
    monkeypatch.setattr(f"ui.components.{drawn}", component)
    passed, others = [], REQUESTS if name == "asked" else PAIRS
    for value in (good, *others, *(each for each in VALUES if type(each) is not type(good))):
        tells({name: value})
        call(passed.append)
    assert passed == [good]


def test_the_network_reads_ahead_what_the_area_tells_and_nothing_else_changes(open_app, correctors):
    app = open_app(sentence="고갱", edit="1")
    asked, settings = correctors["transformer"].asked_ahead, dict(app.session_state["view"])
    assert asked == []
    send(app, "ahead", "text", "또 고갱\ud83d")  # half an emoji: the page would be run about the same text
    assert asked == ["또 고갱\ufffd"]
    for text in (" ", "가" * (LONGEST_AHEAD + 1), None, [1]):
        send(app, "ahead", "text", text)
    assert len(asked) == 1
    assert dict(app.session_state["view"]) == settings


def test_no_text_is_read_ahead_while_pages_wait_or_where_nothing_is_typed(open_app, correctors, monkeypatch):
    for page, expected in (("laboratory", 1), ("masks", 0)):
        assert components(open_app(page=page)).count("ahead") == expected
    monkeypatch.setattr(runs.Turns, "nobody_waits", False)
    send(open_app(), "ahead", "text", "또 고갱")
    assert correctors["transformer"].asked_ahead == []


def test_no_half_of_a_surrogate_pair_reaches_a_page():
    assert whole("\ud8fe가\udfff 나\ud83d") == "\ufffd가\ufffd 나\ufffd"
    assert whole("안되요 🙂 \ufffd") == "안되요 🙂 \ufffd"
