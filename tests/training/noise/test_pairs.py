"""Generator of (wrong, right) pairs: families of errors by their shares in a mix."""

import random
from collections import Counter

import pytest

from training.noise.pairs import MIX, make_pair, read_mix

SENTENCES = (
    "손님이 왔는데 방이 없으면 어떡해요?",
    "며칠 뒤에 다시 올게요.",
    "안녕하세요, 예약하려고 전화를 드렸어요.",
    "그 사람은 밥을 먹지 않고 꽃밭에 앉아 있을 수 있다.",
    "솔직히 이 음식은 정말 맛있네요.",
)
DRAWS = 400


@pytest.fixture(scope="module")
def pairs():
    rng = random.Random(11)
    return [make_pair(rng.choice(SENTENCES), rng) for _ in range(DRAWS * len(SENTENCES))]


def test_families_are_drawn_about_as_often_as_the_mix_says(pairs):
    counts = Counter(pair.family for pair in pairs)
    assert set(counts) == set(MIX)
    for family, share in MIX.items():
        assert counts[family] / len(pairs) == pytest.approx(share, abs=0.07), family


@pytest.mark.parametrize("family", list(MIX))
def test_a_family_that_is_asked_for(family):
    rng = random.Random(0)
    made = Counter(make_pair(text, rng, family).family for text in SENTENCES * 20)
    possible = {family, "clean"} if family != "mixed" else set(MIX)
    assert set(made) <= possible
    assert made[family] > 50


def test_any_text_can_be_drawn_for():
    rng = random.Random(3)
    for text in ("", " ", "a", "가", "🙂🙂", "ㅋㅋ ㅠㅠ", "漢字 3.14", "…"):
        for _ in range(30):
            assert make_pair(text, rng).right == text


def test_a_mix_keeps_the_shares_that_are_not_named():
    mix = read_mix("typing=40,clean=0")
    assert mix == pytest.approx(
        {family: 100 * share for family, share in MIX.items()} | {"typing": 40, "clean": 0}
    )
    assert read_mix("") == pytest.approx({family: 100 * share for family, share in MIX.items()})


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        ("grammar=3", "received 'grammar'"),
        ("typing", "a number of 0 or more, received 'typing'"),
        ("typing=-1", "0 or more, received 'typing=-1'"),
        ("typing=nan", "0 or more, received 'typing=nan'"),
        ("typing=x", "0 or more, received 'typing=x'"),
        (",".join(f"{family}=0" for family in MIX), "all shares are 0"),
    ],
)
def test_an_impossible_mix_is_refused(mix, message):
    with pytest.raises(ValueError, match=message):
        read_mix(mix)
