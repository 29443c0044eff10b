"""Changes between two texts: their search, application, selection; protected characters."""

import itertools
import random

import pytest

from model.text.changes import apply_changes, find_changes, select_changes
from model.text.protected import spares_protected


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("기뻐 하 는모양", "기뻐하는 모양"),
        ("파이 한조각", "파이 한 조각"),
        ("설립 이민간에", "설립이 민간에"),
    ],
)
def test_a_moved_space_moves_no_letter(source, target):
    for change in find_changes(source, target):
        assert change.wrong.strip() == change.right.strip() == ""
        assert apply_changes(source, [change]).replace(" ", "") == source.replace(" ", "")


def random_pairs(count: int):
    rng = random.Random(2)
    for _ in range(count):
        yield ("".join(rng.choices("가나다 .1🙂", k=rng.randrange(0, 12))) for _ in range(2))


def test_spans_hold_what_they_say_never_touch_and_rebuild_the_target():
    for source, target in random_pairs(500):
        changes = find_changes(source, target)
        for change in changes:
            assert source[change.source_start : change.source_end] == change.wrong
            assert target[change.target_start : change.target_end] == change.right
            assert change.wrong != change.right
        for before, after in itertools.pairwise(changes):
            assert before.source_end < after.source_start  # merged where they would meet
        assert apply_changes(source, changes) == target
        assert apply_changes(source, ()) == source


def keep_protected(source: str, target: str) -> str:
    return apply_changes(source, filter(spares_protected, find_changes(source, target)))


@pytest.mark.parametrize(
    ("source", "target", "kept"),
    [
        ("3시에 만낫다", "4시에 만났다", "3시에 만났다"),  # a digit is not spelling
        ("漢字 조아요", "漢 좋아요", "漢字 좋아요"),
        ("조아요", "조아요🙂", "조아요"),  # invented
        ("Kim은 조아", "Lim은 좋아", "Kim은 좋아"),
        ("조아요,", "좋아요.", "좋아요."),  # a sentence's last mark may change
        ("“조아요” 하고", "“좋아요 하고", "“좋아요” 하고"),  # quotation marks may not
        ("https://a.kr 조아", "https:/a.kr 좋아", "https://a.kr 좋아"),
        ("가 🙂 나", "가🙂나", "가🙂나"),  # so may the spaces around
        ("ㅋㅋ 조아", "ㅋ 좋아", "ㅋ 좋아"),  # so may single jamo
    ],
)
def test_characters_that_no_correction_may_touch(source, target, kept):
    assert keep_protected(source, target) == kept


def test_selected_changes_point_into_the_text_they_make():
    rng = random.Random(3)
    for source, target in random_pairs(500):
        accepted = {change: rng.random() < 0.5 for change in find_changes(source, target)}
        selected = select_changes(accepted, accepted.get)
        made = apply_changes(source, selected)
        assert [change.right for change in selected] == [c.right for c, kept in accepted.items() if kept]
        for change in selected:
            assert source[change.source_start : change.source_end] == change.wrong
            assert made[change.target_start : change.target_end] == change.right


@pytest.mark.parametrize(
    ("source", "target", "written", "instead"),
    [
        ("안되요", "안 돼요", "돼", "되"),
        ("왜않되니", "왜 안 되니", "안", "않"),
        ("할수있어요", "할 수 있어요", " ", "수"),
        ("수 밖에", "수밖에", "밖", " "),
        ("머거요", "먹어요", "먹", "머"),
    ],
)
def test_the_mistake_is_a_space_only_where_nothing_else_was_changed(source, target, written, instead):
    change = find_changes(source, target)[0]
    typed, fixed = change.mistake
    assert target[change.target_start + fixed] == written
    assert source[change.source_start + typed] == instead
