"""What the network reads while its visitor may still be typing."""

from tests.ui.hostile import VALUES
from tests.ui.screen import components, send
from ui.sentence.page import LONGEST_AHEAD
from ui.shell import runs


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
    assert not app.exception


def test_no_text_is_read_ahead_while_pages_wait(open_app, correctors, monkeypatch):
    monkeypatch.setattr(runs.Turns, "nobody_waits", False)
    app = open_app()
    send(app, "ahead", "text", "또 고갱")
    assert correctors["transformer"].asked_ahead == []


def test_it_stands_on_the_pages_where_something_is_typed(open_app):
    for page, expected in (("attention", 1), ("laboratory", 1), ("masks", 0)):
        assert components(open_app(page=page)).count("ahead") == expected
