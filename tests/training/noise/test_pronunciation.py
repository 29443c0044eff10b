"""Pronunciation rules: each by itself, and chained to the standard pronunciation."""

import random

import pytest

from training.noise.draft import Draft
from training.noise.pronunciation import (
    PRESCRIBED,
    as_heard,
    letter_table,
    write_as_heard,
)


def heard(text: str, **extra: float) -> str:
    draft = Draft(text)
    write_as_heard(draft, random.Random(0), 1.0, {**PRESCRIBED, **extra})
    return draft.wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("그룹에 고객님을 초대하고 싶습니다", "그루베 고갱니믈 초대하고 십씀니다"),
        ("손님이 왔는데 방이 없으면 어떡해요?", "손니미 완는데 방이 업쓰면 어떠캐요?"),
        ("예약하려고 전화를 드렸어요", "예야카려고 전화를 드려써요"),
        ("체크아웃하시면", "체크아우타시면"),
        ("올 거예요", "올 꺼예요"),
        ("할 것을", "할 꺼슬"),
        ("재판매 사업자", "재판매 사업짜"),
        ("닫혀 같이", "다처 가치"),
        ("국물 신라 독립 협력", "궁물 실라 동닙 혐녁"),
        ("값이 앉아 않는 앓는", "갑씨 안자 안는 알른"),
        ("좋아요 많이 싫어", "조아요 마니 시러"),
        ("축하합니다 좋습니다", "추카함니다 조씀니다"),
        ("넓다 밟다 없다 맑게 닭과", "널따 밥따 업따 말께 닥꽈"),
        ("밟는 읽는 없는 놓는", "밤는 잉는 엄는 논는"),
        ("꽃잎 한여름 색연필 서울역 십육", "꼰닙 한녀름 생년필 서울력 심뉵"),
        ("맛없다 헛웃음 넓죽하다 문의", "마덥따 허두슴 넙쭈카다 무니"),
    ],
)
def test_prescribed_rules_chain_to_the_standard_pronunciation(text, expected):
    assert heard(text) == "".join(as_heard(text)) == expected


def test_optional_rules_join_when_they_are_given_a_weight():
    assert heard("다시는 여기에 안 올 거예요", liaison_across_space=1.0) == "다시느 녀기에 아 놀 꺼예요"
    assert heard("못 일", n_insertion_across_space=1.0, nasalisation_across_space=1.0) == "몬 닐"
    assert heard("사람의 문의", ui_particle=1.0, ui_not_first=1.0) == "사라메 무니"
    assert heard("했습니다", coda_absorbed=1.0) == heard("했습니다").replace("핻", "해")


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_outside_0_to_1_is_refused(rate):
    with pytest.raises(ValueError, match=str(rate)):
        write_as_heard(Draft("옷이"), random.Random(0), rate)


@pytest.mark.parametrize("line", ["ㄱ ㄴ ㅇ =", "ㄱ → ㅇ =", "ㄱ ㄴ → ㅇ"])
def test_a_change_of_letters_in_another_form_is_refused(line):
    with pytest.raises(ValueError, match=line):
        letter_table(line)


def test_rate_0_changes_nothing_and_the_seed_decides_the_rest():
    text = "닭을 밟지 않고 넓은 앞마당의 희망을 읽는 것은 싫었습니다."

    def written(seed: int, rate: float = 0.5) -> str:
        draft = Draft(text)
        write_as_heard(draft, random.Random(seed), rate)
        return draft.wrong

    assert written(1, rate=0.0) == text
    assert written(1) == written(1) and len({written(seed) for seed in range(20)}) > 10
