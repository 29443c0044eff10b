"""Which sentences of a corpus lack a space for certain, and which only look like it."""

import pytest

from training.corpus.selection import find_spacing_faults


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("이 책상위에 메모가 있다.", "이 책상 위에 메모가 있다."),
        ("예산의 범위안에서 쓴다.", "예산의 범위 안에서 쓴다."),
        ("어제 친구를 만나러왔어요.", "어제 친구를 만나러 왔어요."),
        ("밖에 계시는분들은 오세요.", "밖에 계시는 분들은 오세요."),
        ("전화가 끊어질때 울었다.", "전화가 끊어질 때 울었다."),
        ("약속을 기억하는것 같다.", "약속을 기억하는 것 같다."),
        ("아이가 학교에다니고 있다.", "아이가 학교에 다니고 있다."),
        ("내일 영화보기로 한 장소", "내일 영화 보기로 한 장소"),
        ("정당한 사유없이 늦었다.", "정당한 사유 없이 늦었다."),
        ("오늘 날씨좀 알려 줘.", "오늘 날씨 좀 알려 줘."),
        ("배우 김민지씨가 왔다.", "배우 김민지 씨가 왔다."),
    ],
)
def test_a_missing_space_is_found_and_the_right_sentence_left_alone(wrong, right):
    (found,), (none,) = find_spacing_faults([wrong]), find_spacing_faults([right])
    assert [wrong[: joint.position] + " " + wrong[joint.position :] for joint in found] == [right]
    assert none == []


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("자주 쓰 잖아요.", "자주 쓰잖아요."),
        ("도서관 에서는 조용히 하자.", "도서관에서는 조용히 하자."),
        ("고기를 숙성 시킨다.", "고기를 숙성시킨다."),
    ],
)
def test_a_space_too_many_is_found_and_the_right_sentence_left_alone(wrong, right):
    (found,), (none,) = find_spacing_faults([wrong]), find_spacing_faults([right])
    assert [wrong[: joint.position - 1] + wrong[joint.position :] for joint in found] == [right]
    assert none == []


@pytest.mark.parametrize(
    "text",
    [
        "내가 먼저 할게요.",
        "제도 개편안을 냈다.",
        "마음속에 두었다.",
        "날씨에 상관없이 간다.",
        "돈이 없을뿐더러 시간도 없다.",
        "공정거래위가 조사했다.",
        "남은 건 택시밖에 없다.",
        "이것은 딸기속에 속한다.",
        "지난번 일은 잊었다.",
        "객체 로더를 쓴다.",
        "누나 나 배고파.",
        "커밋 해시를 고른다.",
        "꿈같은 일이다.",
        "책이 재미있는지 물었다.",
        "밥을 먹는데 전화가 왔다.",
        "그는 지난날을 잊었다.",
        "몇 개 먹으래",  # Kiwi ends it with a morpheme of no letters
        "",
        "API",
    ],
)
def test_what_looks_alike_and_is_right(text):
    assert next(find_spacing_faults([text])) == []


def test_texts_are_answered_in_order():
    assert [
        bool(found) for found in find_spacing_faults(["책상위에 있다.", "책상 위에 있다.", "책상위에 있다."])
    ] == [True, False, True]
