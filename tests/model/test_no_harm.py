"""What holds for every correction of the shipped model, on 2,000 texts composed of prose, marks, repetitions,
code and names.

``python benchmarks/harm.py --texts 50000`` checks the same on more.
"""

import pytest

from benchmarks.harm import check, compose
from model import Corrector


@pytest.fixture(scope="module")
def shipped():
    return Corrector.load()


def test_no_text_is_harmed(shipped):
    checked, violations = check(shipped, compose(seed=1, count=2000))
    assert len(checked) == 6, checked  # no word lost, no evidence against, spans, order, settled, repetitions
    assert min(checked.values()) > 150
    assert not violations


@pytest.mark.parametrize(
    ("typed", "corrected"),
    [
        ("* 않된다", "* 안 된다"),
        ("| 영희 | 비고 |", "| 영희 | 비고 |"),
        ("* 역활 정하기", "* 역할 정하기"),
        ("{아빠께 전화}", "{아빠께 전화}"),
        ("결석 2회 @영수", "결석 2회 @영수"),
        ("희안하네^^", "희한하네^^"),
        ("할수있다 " * 5 + "할수있다", "할 수 있다 " * 5 + "할 수 있다"),
        ("www.꽃가게.한국/안되요", "www.꽃가게.한국/안되요"),
        ("<b>안되요</b>", "<b>안 돼요</b>"),
        ("#오늘의숙제", "#오늘의숙제"),
        ("고맙습니다아", "고맙습니다아"),
        ("ㅁㄴㅇㄹ", "ㅁㄴㅇㄹ"),
    ],
)
def test_marks_spans_and_repetitions_stay_and_the_prose_beside_them_is_mended(shipped, typed, corrected):
    assert shipped.correct(typed).text == corrected
