"""Description of an attention map: changed rows and their strongest keys."""

import re
from dataclasses import replace

import numpy as np
import pytest

from model.text.changes import find_changes
from model.trace.trace import Selection
from tests.ui.fake_corrector import random_trace
from ui.wording import changed_rows, describe_map, spoken

FIRST_HEAD = Selection("cross_attention", 0, 0)
SOURCE, TARGET = "고갱님이 왓다", "고객님이 왔다"


describe_map = spoken("ko")(describe_map)


@pytest.fixture
def trace():
    return random_trace(SOURCE, TARGET)


def test_first_changed_row_and_its_strongest_key_are_told(trace):
    weights = np.zeros_like(trace.cross_attention)
    weights[0, 0, :, 0] = 0.17
    weights[0, 0, 1, 1] = 0.83
    told = replace(trace, cross_attention=weights)
    text = describe_map(told, FIRST_HEAD, find_changes(SOURCE, TARGET))
    assert re.match("‘갱’→‘객’: ‘객’ 자를 쓸 때, 이 어텐션.*1층.*원문의 ‘갱’ 자를 가장 많이 보았습니다", text)
    assert "0.83" in text


def test_encoder_rows_are_counted_in_the_source():
    source, target = "밥을 마니 머거", "밥을 많이 먹어"
    changes = find_changes(source, target)
    assert changed_rows(changes, "encoder_attention", 9) == [4 - 1, 4, 6, 7]
    assert [target[row] for row in changed_rows(changes, "cross_attention", 9)] == [*"많이먹어"]


def test_deletion_points_at_what_follows_it_and_insertion_at_what_is_new():
    deletion = find_changes("가나다", "가다")
    assert changed_rows(deletion, "cross_attention", 3) == [1]
    trace = random_trace("가나다", "가다")
    text = describe_map(trace, FIRST_HEAD, deletion)
    assert text.startswith("지운 ‘나’: ‘다’ 자를")
    insertion = find_changes("할수", "할 수")
    trace = random_trace("할수", "할 수")
    text = describe_map(trace, FIRST_HEAD, insertion)
    assert text.startswith("새로 넣은 ‘␣’: 빈칸(␣) 자리를")
    last = find_changes("가나", "가")
    assert "끝 표시" in describe_map(random_trace("가나", "가"), FIRST_HEAD, last)
