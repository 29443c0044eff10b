"""Pronunciation rules: each by itself, and chained to the standard pronunciation."""

import random
from pathlib import Path

import pytest

from tests.examples import examples
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


STANDARD = [each[1:] for each in examples(Path(__file__).with_name("heard.txt")) if each[0] == "standard"]


@pytest.mark.parametrize(("text", "expected"), STANDARD)
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
