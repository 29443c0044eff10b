"""``AnswerCache`` of the engine, and ``nearest``: the change that a question names."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event

import pytest

from engine.question import AnswerCache
from engine.questions import nearest
from model.text.changes import find_changes


def found(answer, size=1):
    return lambda: (answer, size)


def never():
    raise AssertionError("it should have been known")


def test_an_answer_is_found_once_and_the_oldest_go_first():
    cache = AnswerCache(entries=2, room=100)
    assert [cache.get(key, found(key.upper())) for key in "ab"] == ["A", "B"]
    assert cache.get("a", never) == "A"  # now "b" is the oldest
    assert cache.get("c", found("C")) == "C"
    assert (cache.get("a", never), cache.get("c", never)) == ("A", "C")
    assert cache.get("b", found("another B")) == "another B"
    assert len(cache) == 2


def test_answers_take_no_more_bytes_than_there_is_room_for():
    cache = AnswerCache(entries=10, room=100)
    for key, size in (("a", 60), ("b", 30), ("c", 20)):
        cache.get(key, found(key, size))
    assert (cache.get("b", never), cache.get("c", never), len(cache)) == ("b", "c", 2)
    assert cache.get("huge", found("huge", 101)) == "huge"  # given, not kept
    assert len(cache) == 0


def test_what_went_wrong_is_told_and_asked_again():
    cache = AnswerCache(entries=2, room=100)
    with pytest.raises(KeyError):
        cache.get("a", lambda: {}["nothing"])
    assert cache.get("a", found("A")) == "A"


def test_what_is_known_is_given_without_asking():
    cache = AnswerCache(entries=1, room=100)
    assert cache.known("a") is None
    assert cache.get("a", lambda: (cache.known("a"), 1)) is None  # it is on its way
    cache.get("b", found("B"))
    assert (cache.known("a"), cache.known("b")) == (None, "B")


def test_many_who_ask_at_once_get_the_answer_of_one():
    cache, everybody, go_on, times = AnswerCache(2, 100), Barrier(4), Event(), []

    def find():
        times.append(1)
        assert go_on.wait(30)
        return object(), 1

    def ask():
        everybody.wait(30)
        return cache.get("a", find)

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask) for _ in range(4)]
        go_on.set()
        answers = {id(each.result(30)) for each in asked}
    assert (len(answers), len(times)) == (1, 1)


SOURCE = "이 쟈리릘 빌려 감사의 말말씀을 드드립니다."
CHANGES = find_changes(SOURCE, "이 자리를 빌려 감사의 말씀을 드립니다.")


@pytest.mark.parametrize("syllable", ["말", "드"])
def test_a_deletion_is_found_at_either_of_two_equal_syllables(syllable):
    first = SOURCE.index(2 * syllable)
    for start in (first, first + 1):
        assert nearest(CHANGES, (start, start + 1)).wrong == syllable


def test_of_two_changes_that_begin_as_near_the_one_that_ends_nearer_is_meant():
    long, short = (replace(CHANGES[0], source_start=start, source_end=end) for start, end in ((2, 9), (4, 5)))
    assert nearest((long, short), (3, 4)) == short
    assert nearest((short, long), (3, 10)) == long
