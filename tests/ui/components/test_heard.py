"""What a browser, or somebody who has tampered with it, tells of a component."""

from types import SimpleNamespace

import pytest

from tests.ui.hostile import VALUES
from tests.ui.screen import components, send
from ui.components import component, diagram, figures, live_text
from ui.components.component import chosen_row
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


@pytest.mark.parametrize(
    ("module", "name", "good"),
    [(figures, "step", 3), (figures, "parted", [3, -1]), (diagram, "go", "mask"), (live_text, "text", "가")],
)
def test_a_component_passes_on_its_own_type_alone(tells, monkeypatch, module, name, good):
    passed = []
    monkeypatch.setattr(module, "_KEY", "here", raising=False)

    def component(**given):
        given[f"on_{name}_change"]()
        return SimpleNamespace(text=None)

    monkeypatch.setattr(module, "_STEPS" if module is figures else "_COMPONENT", component)
    calls = {
        figures: lambda: figures.draw_steps({}, "here", passed.append, lambda *both: passed.append([*both])),
        diagram: lambda: diagram.diagram({}, "here", passed.append),
        live_text: lambda: live_text.live_text("가", {}, 9, passed.append),
    }
    pairs = ([True, 0], [1], [1, 2, 3], [1, "2"], [1.0, 2])
    for value in (good, *pairs, *(each for each in VALUES if type(each) is not type(good))):
        tells({name: value})
        calls[module]()
    assert passed == [good]


def test_the_network_reads_ahead_what_the_area_tells_and_nothing_else_changes(open_app, correctors):
    app = open_app(sentence="고갱", edit="1")
    asked, settings = correctors["transformer"].asked_ahead, dict(app.session_state["view"])
    assert asked == []
    send(app, "ahead", "text", "또 고갱\ud83d")  # half an emoji: the page would be run about the same text
    assert asked == ["또 고갱\ufffd"]
    for text in (" ", "가" * (LONGEST_AHEAD + 1), *(value for value in VALUES if not isinstance(value, str))):
        send(app, "ahead", "text", text)
    assert len(asked) == 1
    assert dict(app.session_state["view"]) == settings


def test_no_text_is_read_ahead_while_pages_wait(open_app, correctors, monkeypatch):
    monkeypatch.setattr(runs.Turns, "nobody_waits", False)
    send(open_app(), "ahead", "text", "또 고갱")
    assert correctors["transformer"].asked_ahead == []


def test_it_stands_on_the_pages_where_something_is_typed(open_app):
    for page, expected in (("attention", 1), ("laboratory", 1), ("masks", 0)):
        assert components(open_app(page=page)).count("ahead") == expected


def test_no_half_of_a_surrogate_pair_reaches_a_page():
    assert whole("\ud8fe가\udfff 나\ud83d") == "\ufffd가\ufffd 나\ufffd"
    assert whole("안되요 🙂 \ufffd") == "안되요 🙂 \ufffd"
