"""The kind of a mistake is called by the rule of sound where one decides it."""

import pytest

from model.text.changes import find_changes
from ui.wording import kind_name
from viz.browser.texts import LANGUAGES, table


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("typed", "corrected", "keys"),
    [
        ("가치", "같이", ["rule_palatalisation"]),
        ("고갱니믈", "고객님을", ["rule_nasalisation", "rule_liaison"]),
        ("강기", "감기", ["edits_kind_sound"]),
        ("할수", "할 수", ["edits_kind_spacing"]),
        ("안되", "안 돼", ["edits_kind_spacing", "rule_vowel"]),
        ("날싸", "날씨", ["edits_kind_jamo"]),
    ],
)
def test_kinds_by_example(language, typed, corrected, keys):
    texts = table(language)
    (change,) = find_changes(typed, corrected)
    assert kind_name(lambda key: texts[key], change, typed, corrected) == ", ".join(map(texts.get, keys))
