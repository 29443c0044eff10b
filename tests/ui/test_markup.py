"""What was typed is shown as it is: nothing in it is ever HTML."""

from model.changes import find_changes
from ui import markup


def test_changes_are_marked_and_the_rest_is_untouched():
    source, target = "고갱이 왓다", "고객이 왔다"
    changes = find_changes(source, target)
    spans = [(change.target_start, change.target_end) for change in changes]
    assert markup._marked(target, spans, "ins") == "고<ins>객</ins>이 <ins>왔</ins>다"


def test_an_empty_span_marks_nothing():
    assert markup._marked("가다", [(1, 1)], "ins") == "가다"


def test_html_is_escaped_inside_and_outside_of_a_change():
    text = "<b>&\"'</b>"
    assert markup._marked(text, [(0, 3)], "del") == "<del>&lt;b&gt;</del>&amp;&quot;&#x27;&lt;/b&gt;"
