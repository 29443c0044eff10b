"""Why a sentence with an error did not come out right: the first cause that holds."""

from types import SimpleNamespace

import pytest

from training.measure.report import cause, count_causes

OTHER = (3, 4, "밥")  # of 되요 밤, in which only 되요 is wrong


def correction(text, proposed, made):
    proposed, made = (
        [SimpleNamespace(source_start=start, source_end=end, right=right) for start, end, right in changes]
        for changes in (proposed, made)
    )
    return SimpleNamespace(source="되요 밤", text=text, proposed=proposed, changes=made)


@pytest.fixture
def needed():
    from training.measure.metrics import edits

    (found,) = edits("되요 밤", "돼요 밤")
    return found


def test_the_first_cause_that_holds(needed):
    def of(text, proposed, made):
        return cause(correction(text, proposed, made), "돼요 밤")

    assert of("돼요 밤", [needed], [needed]) == "right"
    assert of("되요 밤", [needed], []) == "unsure"
    assert of("되요 밥", [needed, OTHER], [OTHER]) == "wrong_made"
    assert of("되요 밤", [needed, OTHER], []) == "wrong_proposed"
    assert of("되요 밤", [], []) == "unseen"


def test_only_sentences_with_an_error_are_counted(needed):
    def outcome(wrong):
        made = correction("되요 밤", [], [])
        return SimpleNamespace(correction=made, pair=SimpleNamespace(wrong=wrong, right="돼요 밤"))

    found = count_causes([outcome("되요 밤"), outcome("돼요 밤")])
    assert found == {"right": 0, "unsure": 0, "wrong_made": 0, "wrong_proposed": 0, "unseen": 1}
