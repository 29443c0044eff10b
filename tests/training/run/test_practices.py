"""Every practice makes pairs that can be repeated, and some of them are right on both sides."""

import random

import pytest

from model.text.protected import protected
from training.run.examples import PRACTICES, ExampleMaker, ExampleSettings

SENTENCES = [
    "어제 친구와 함께 도서관에서 책을 읽었습니다.",
    "내일은 비가 올 것 같으니 우산을 가져가세요.",
    "동생이 만든 음식이 생각보다 훨씬 맛있었다.",
    "회의 때문에 늦을 수 있다고 선생님께 말씀드렸다.",
] * 50


@pytest.fixture(scope="module")
def maker():
    return ExampleMaker(SENTENCES, ExampleSettings(practice=dict.fromkeys(PRACTICES, 1.0)))


@pytest.mark.parametrize("name", PRACTICES)
def test_a_practice_makes_mistakes_and_leaves_some_right(maker, name):
    def made(seed: int) -> list[tuple[str, str]]:
        rng = random.Random(seed)
        found = (PRACTICES[name].make(maker, rng.choice(SENTENCES), rng) for _ in range(300))
        return [pair for pair in found if pair]

    pairs = made(1)
    assert pairs == made(1) != made(2)
    assert len(pairs) > 100
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    assert 0.4 * len(pairs) < len(wrong) < len(pairs)
    for one, other in wrong:
        assert protected(one) == protected(other)  # what no correction may touch is never practised
        assert max(len(one), len(other)) <= 200
