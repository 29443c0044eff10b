"""Faults in sentences of a corpus: misspellings and misplaced spaces."""

from pathlib import Path

import pytest

from model.correction.morphemes import load_kiwi
from tests.examples import examples
from training.corpus.faults import find_fault
from training.corpus.selection import spacing_faults

EXAMPLES = list(examples(Path(__file__).with_name("faults.txt")))
OF_SPACES = [(text, right) for told_by, text, right in EXAMPLES if told_by == "spaces"]


@pytest.mark.parametrize(("text", "right"), [each[1:] for each in EXAMPLES if each[0] == "letters"])
def test_a_fault_is_seen_by_its_letters_and_its_right_spelling_is_none(text, right):
    assert find_fault(right) is None
    assert text == right or find_fault(text)


@pytest.mark.parametrize(("text", "right"), OF_SPACES)
def test_a_misplaced_space_is_found_and_the_right_sentence_left_alone(text, right):
    joints, none = ([*spacing_faults(each, load_kiwi().tokenize(each))] for each in (text, right))
    assert none == [] and bool(joints) == (text != right)
    for joint in joints:
        place, missing = joint.position, len(right) > len(text)
        assert right == (f"{text[:place]} {text[place:]}" if missing else text[: place - 1] + text[place:])
