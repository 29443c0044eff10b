"""What was typed is shown as it is: nothing in it is ever HTML."""

from model.changes import find_changes
from ui import markup


def test_changes_are_marked_and_the_rest_is_untouched():
    source, target = "고갱이 왓다", "고객이 왔다"
    changes = find_changes(source, target)
    marks = [markup.Mark("ins", change.target_start, change.target_end, "0.9") for change in changes]
    expected = '고<ins title="0.9">객</ins>이 <ins title="0.9">왔</ins>다'
    assert markup._marked(target, marks) == expected


def test_an_empty_span_marks_nothing():
    assert markup._marked("가다", [markup.Mark("ins", 1, 1, "0.9")]) == "가다"


def test_a_reachable_mark_can_be_reached_by_keyboard():
    marks = [markup.Mark("ins", 0, 1, "0.9", reachable=True)]
    assert markup._marked("가다", marks) == '<ins title="0.9" tabindex="0">가</ins>다'


def test_html_is_escaped_inside_and_outside_of_a_change():
    text = "<b>&\"'</b>"
    marks = [markup.Mark("del", 0, 3, '"><i>')]
    expected = '<del title="&quot;&gt;&lt;i&gt;">&lt;b&gt;</del>&amp;&quot;&#x27;&lt;/b&gt;'
    assert markup._marked(text, marks) == expected
