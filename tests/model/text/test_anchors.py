"""Anchors are copied in order; where one is lost, what stands beside it is read for itself."""

import pytest

from model.text.protected import Passage, lost_anchors, passages_beside, verbatim_spans


def part_of(text: str) -> Passage:
    return Passage.of(text, verbatim_spans(text))


def anchors(part: Passage) -> list[str]:
    return [part.text[a:b] for a, b in part.anchors]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* 지각 3회 ㅠㅠ", ["*", "3", "ㅠㅠ"]),
        ("#오늘의운동 3회", ["#오늘의운동", "3"]),
        ("<b>안되요</b>", ["<b>", "</b>"]),
        ("방이 없어요.", []),
        ("ㄱㅅ 그래애?", ["ㄱㅅ", "애"]),
        ("", []),
    ],
)
def test_what_is_an_anchor(text, expected):
    assert anchors(part_of(text)) == expected


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("* 않된다", "* 안 된다", []),
        ("* 않된다", "안 된다", ["*"]),
        ("| 민수 | 비고 |", "비닛문 수 비고 봐", ["|", "|", "|"]),
        ("결석 2회 @민수", "결석 2회 민주", ["@민수"]),
        ("* 역활 3회", "저녁 활 3회", ["*"]),
        ("<b>안되요</b>", "<b> 안 돼요 </b>", ["<b>", "</b>"]),  # an edit of its spaces touches a tag
        ("<b>ㅋㅋ</b>않되요", "<b>ㅋㅋ</b> 안 돼요", ["<b>ㅋㅋ</b>"]),  # tags beside a laugh make one anchor
        ("<br><br>않되요 3", "<br><br> 안 돼요 3", ["<br><br>"]),
        ("조아ㅋㅋ<b>", "좋아 ㅋㅋ<b>", []),  # the laugh's side of it is free
        ('{"할일": 1}', '1"할 일": 11', ['{"할일": 1}']),
        ("3회 결석", "3회 결석(2)", ["3"]),  # nothing is lost, but something protected came in
        ("조아ㅠㅠ", "좋아 ㅠㅠ", []),
    ],
)
def test_an_anchor_is_lost_where_the_target_does_not_copy_it(source, target, lost):
    part = part_of(source)
    assert [source[a:b] for a, b in lost_anchors(part, target)] == lost


def test_the_passages_beside_lost_anchors_keep_their_places_and_their_own_anchors():
    text = "  * 역활 3회 @민수 를 정하자 "
    part = part_of(text)
    star, _, mention = part.anchors
    parts = passages_beside(part, [star, mention])
    assert [each.text for each in parts] == ["역활 3회", "를 정하자"]
    for each in parts:
        assert text[each.start :].startswith(each.text)
        assert each.text == each.text.strip()
    assert anchors(parts[0]) == ["3"]


def test_every_cut_loses_an_anchor_so_reading_ends():
    part = part_of("1가2나3다")
    for anchor in part.anchors:
        assert all(len(each.anchors) < len(part.anchors) for each in passages_beside(part, [anchor]))


def test_what_is_no_prose_is_not_read():
    assert not part_of("www.쇼핑몰.한국/안되요").has_prose
    assert part_of("www.쇼핑몰.한국 에서 샀다").has_prose


def test_a_particle_that_is_joined_to_a_lost_anchor_is_too_little_to_read():
    part = part_of("신청서{두 쪽}를 내세요")
    assert [each.text for each in passages_beside(part, part.anchors)] == ["신청서", "두 쪽", "내세요"]
