"""Laughing and weeping stay as they were typed; slips with single jamo are still corrected."""

import pytest

from model.correction.candidates import Answer
from model.text.changes import Change, apply_changes, find_changes
from model.text.protected import Passage, spares_gaps, spares_outcries, spares_protected


def keep_outcries(source: str, target: str) -> str:
    """``source`` with those changes towards ``target`` that may be proposed."""
    changes = find_changes(source, target)
    return apply_changes(source, [each for each in changes if spares_outcries(each, source)])


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("ㅋㅋ", "금 뭐"),
        ("ㅠㅠ", "렇던"),
        ("ㅋㅋㅋㅋ", "ㅋㅋ"),
        ("네 ㅎㅎ", "네 흐흐"),
        ("네ㅋ", "네"),
        ("슬퍼 ㅜ", "슬퍼"),
        ("ㅇㅇ", "응응"),
        ("ㄷㄷ 무서워", "덜덜 무서워"),
        ("ㅡㅡ", "--"),
        ("ㅋㅎㅋ", "크흐크"),
        ("ㅠㅜㅠ", ""),
        ("안녕", "안녕ㅋㅋ"),
    ],
)
def test_a_change_of_laughing_or_weeping_is_no_proposal(source, target):
    assert keep_outcries(source, target) == source


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("안녀ㅇ", "안녕"),  # one jamo that lost its syllable
        ("ㅇ안녕", "안녕"),
        ("안녕ㅎ하세요", "안녕하세요"),
        ("ㅎㅏ나", "하나"),
        ("ㄱㅠ정", "규정"),
        ("조아 ㅋㅋ", "좋아 ㅋㅋ"),
        ("조아ㅠㅠ", "좋아 ㅠㅠ"),  # a space beside it does not alter it
        ("조아욬ㅋㅋ", "좋아요ㅋㅋ"),
    ],
)
def test_everything_else_is_still_corrected(source, target):
    assert keep_outcries(source, target) == target


def test_only_the_change_that_touches_it_is_left_out():
    assert keep_outcries("마니 웃었어 ㅋㅋ 또 마니", "많이 웃었어 크크 또 많이") == "많이 웃었어 ㅋㅋ 또 많이"


def test_a_change_inside_a_run_alters_it():
    assert not spares_outcries(Change(2, 2, 2, 3, "", " "), "ㅋㅋㅋㅋ")


@pytest.mark.parametrize(
    ("text", "place", "spared"),
    [
        ("합계\t3", 2, False),
        ("합계\t3", 3, False),
        ("(가나)", 1, False),
        ("(가나)", 3, False),
        ("(가나)", 2, True),
        ("", 0, True),
    ],
)
def test_no_space_comes_where_none_belongs(text, place, spared):
    assert spares_gaps(Change(place, place, place, place + 1, "", " "), text) is spared


def test_protected_characters_and_outcries_are_two_rules():
    (change,) = find_changes("ㅋㅋ", "금 뭐")
    assert spares_protected(change)


class Written:
    """What a network that is sure of everything wrote."""

    def __init__(self, ids):
        self.ids = ids

    def log_probability(self, place: int, token: int) -> float:
        return 0.0 if self.ids[place] == token else -9.0


def test_a_corrector_proposes_no_such_change(tiny_corrector):
    source, target = "마니 ㅋㅋ", "많이 금"
    answer = Answer(Passage.of(source), target, Written(tiny_corrector.tokenizer.encode_target(target)))
    ((changes, _),) = tiny_corrector._weigh([answer])
    assert [change.right for change in changes] == ["많이"]
