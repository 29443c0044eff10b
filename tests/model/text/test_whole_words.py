"""No word of a text vanishes and none comes from nowhere."""

import pytest

from model.text.changes import find_changes
from model.text.protected import spares_words


def spared(source: str, target: str) -> bool:
    changes = find_changes(source, target)
    assert changes
    return all(spares_words(each, source) for each in changes)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("안되요", "안 돼요"),
        ("꼬치 피었다", "꽃이 피었다"),
        ("방이 업쓰며", "방이 없으면"),
        ("시이 없다", "시간이 없다"),
        ("그 책 편지를를 보냈다", "그 책 편지를 보냈다"),
        ("나는 나는 학교에 갔다", "나는 학교에 갔다"),  # slipped in twice
        ("저희 나라의 문화", "우리나라의 문화"),
        ("학교 에서", "학교에서"),
        ("ㅇㅓ제 왔다", "어제 왔다"),
        ("전화 드립니다", "전화드립니다"),
        ("응답 읍 처리", "응답을 처리"),
    ],
)
def test_a_word_written_in_another_way_is_there(source, target):
    assert spared(source, target)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("오늘 학교 갔다", "학교 갔다"),
        ("할수있다 할수있다 할수있다", "할 수 있다 할 수 있다"),
        ("괜찮아 괜찮아", "괜찮아"),  # said twice, and nothing else
        ("그 일", "그 일 끝나고"),
        ("아침 점심 저녁에 먹는다", "밥을 먹는다"),
        ("하늘 씨 왔어", "하늘이 왔어"),
        ("하늘 씨, 왔어", "하늘이, 왔어"),
    ],
)
def test_a_word_that_vanishes_or_comes_is_no_correction(source, target):
    assert not spared(source, target)
