import random

import pytest

from training.noise.lookalikes import as_hearsay


def told(text: str) -> set[str]:
    rng = random.Random(0)
    return {as_hearsay(text, rng).rstrip(".?!") for _ in range(300)}


@pytest.mark.parametrize(
    ("stated", "heard"),
    [
        ("어제 결혼했다.", "어제 결혼했대"),
        ("어제 결혼했습니다.", "어제 결혼했대요"),
        ("방이 없어요.", "방이 없대요"),
        ("내일 비가 온다", "내일 비가 온대"),
        ("책을 읽는다.", "책을 읽는다던데"),
        ("그게 더 좋다.", "그게 더 좋대"),
        ("그 사람이 범인이다.", "그 사람이 범인이래"),
        ("그건 사실이 아니다.", "그건 사실이 아니래요"),
        ("같이 가자.", "같이 가재"),
    ],
)
def test_what_is_stated_is_told_on(stated, heard):
    assert heard in told(stated)


@pytest.mark.parametrize("text", ["", "안녕하세요.", "방법을 설명합니다.", "사용자", "필요하다.", "몇 시야?"])
def test_what_has_no_such_end_stays_as_it_is(text):
    assert as_hearsay(text, random.Random(0)) == text
