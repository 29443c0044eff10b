"""``Classrooms`` in memory: rights of teacher and seats, polls, codes, limits."""

import threading
import time

import pytest

from classroom.classroom import (
    AFTER,
    BEFORE,
    MOST_SEATS,
    PRESENT,
    ClosedError,
    FullError,
    NotAllowedError,
    NotTheTeacherError,
    Poll,
    Quiz,
    QuizAnswer,
    UnknownCodeError,
)
from classroom.store import (
    DAY,
    LENGTH,
    MINUTE,
    MOST_CLASSROOMS,
    MOST_WRONG,
    QUIET,
    Classrooms,
    new_code,
    tidy,
)

ABOUT = (("sentence", "친구와 가치 밥을 머거요."), ("edit", "1"))


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def rooms(clock):
    return Classrooms(clock)


@pytest.fixture
def opened(rooms):
    return rooms.open()


# --- joining and following ---


def test_the_version_grows_with_a_change_and_only_with_one(rooms, opened):
    code, key = opened
    rooms.show(code, key, "attention", ABOUT)
    version = rooms.state_of(code).version
    rooms.show(code, key, "attention", ABOUT)
    assert rooms.state_of(code).version == version
    rooms.show(code, key, "attention", (("layer", "2"), *ABOUT))
    assert rooms.state_of(code).version == version + 1


@pytest.fixture
def polled(rooms, opened):
    """(code, key, seat) of a class with a poll of two options."""
    code, key = opened
    rooms.ask(code, key, Poll("where", ("가", "나"), 1, ABOUT))
    return code, key, rooms.join(code)


def test_the_teachers_own_answers_count_only_where_nobody_else_is(rooms, opened):
    code, key = opened
    teacher = rooms.join(code, key=key)
    rooms.ask(code, key, Poll("where", ("가", "나"), 1, ABOUT))
    rooms.answer(code, teacher, 1, [0])
    rooms.check(code, key, Quiz("lesson-plan", ABOUT, (2,), BEFORE))
    rooms.answer_check(code, teacher, QuizAnswer(2, BEFORE, 0, 1))
    assert rooms.state_of(code, teacher).answered == 1  # one who is alone asks and answers
    assert rooms.results(code, key)[0].seats == (1, 0)
    phone = rooms.join(code, key="made up")
    assert rooms.join(code, teacher, key) == teacher  # after a reload
    assert rooms.state_of(code, teacher).answered == 0
    rooms.answer(code, phone, 1, [1])
    rooms.reveal(code, key)
    state = rooms.state_of(code, teacher)
    assert (state.answered, state.counts, state.mine) == (1, (0, 1), (0,))
    found = rooms.results(code, key)[0]
    assert found.seats == (0, 0) and found.before == ((0, 0),)


def test_who_was_not_heard_of_for_a_while_is_not_present_and_finds_the_same_seat_again(rooms, opened, clock):
    code, _ = opened
    seat = rooms.join(code)
    clock.now += PRESENT + 1
    assert rooms.state_of(code).present == 0
    assert rooms.join(code, seat) == seat
    clock.now += 1
    assert rooms.state_of(code).present == 1


def test_a_code_is_read_whatever_a_person_types_between_its_characters():
    assert tidy("012-345 ") == tidy("０１２ ３４５") == "012345"
    assert tidy("-" * 40 + "012345") == ""  # too much for a typed code
    for wrong in ("", "123", "123-45", "123-4567", "123-45a", "가" * 6, "٠١٢٣٤٥", "1" * 10_000):
        assert tidy(wrong) == ""


# --- predicting together ---


def test_the_last_answer_of_a_seat_counts_once_and_is_shown_to_nobody_before_the_reveal(rooms, opened):
    code, key = opened
    seats = [rooms.join(code) for _ in range(3)]
    assert len(set(seats)) == 3
    rooms.ask(code, key, Poll("where", ("가", "나", "다"), 2, ABOUT))
    for seat, chosen in zip([seats[0], *seats], ([1], [0], [0, 2, 2], []), strict=True):
        rooms.answer(code, seat, 1, chosen)
    state = rooms.state_of(code, seats[1])
    assert (state.answered, state.counts, state.mine) == (2, (), (0, 2))
    rooms.reveal(code, key)
    assert rooms.state_of(code).counts == (2, 0, 1)


def test_an_answer_that_comes_too_late_or_to_another_question_is_not_taken(rooms, polled):
    code, key, seat = polled
    rooms.ask(code, key, Poll("where", ("다", "라"), 1, ABOUT))
    with pytest.raises(ClosedError):
        rooms.answer(code, seat, 1, [0])
    rooms.reveal(code, key)
    with pytest.raises(ClosedError):
        rooms.answer(code, seat, 2, [0])
    rooms.stop_asking(code, key)
    with pytest.raises(ClosedError):
        rooms.answer(code, seat, 2, [0])
    assert rooms.state_of(code).poll is None


@pytest.mark.parametrize("chosen", [[2], [-1], [0, 1]])
def test_what_is_no_answer_is_not_taken(rooms, polled, chosen):
    code, _, seat = polled
    with pytest.raises(NotAllowedError):
        rooms.answer(code, seat, 1, chosen)
    assert rooms.state_of(code).answered == 0


# --- questions before and after ---


def test_first_answers_before_and_after_the_lesson_are_told_to_the_teacher_alone(rooms, opened):
    code, key = opened
    one, other = rooms.join(code), rooms.join(code)
    rooms.check(code, key, Quiz("plan", ABOUT, (2, 3), BEFORE))
    number = rooms.state_of(code).quiz.number
    rooms.answer_check(code, one, QuizAnswer(number, BEFORE, 0, 1))
    rooms.answer_check(
        code, one, QuizAnswer(number, BEFORE, 0, 0)
    )  # the second try helps to learn, and does not count
    rooms.answer_check(code, other, QuizAnswer(number, BEFORE, 1, 2))
    assert (rooms.state_of(code, one).checked, rooms.state_of(code, other).checked) == ((0,), (1,))
    rooms.check(code, key, Quiz("plan", ABOUT, (2, 3), AFTER))
    assert rooms.state_of(code).quiz.number == number  # the same questions again
    rooms.answer_check(code, one, QuizAnswer(number, AFTER, 0, 0))
    with pytest.raises(ClosedError):
        rooms.answer_check(code, one, QuizAnswer(number, BEFORE, 0, 0))
    (found,) = rooms.results(code, key)
    assert (found.before, found.after) == (((0, 1), (0, 0, 1)), ((1, 0), (0, 0, 0)))
    assert found.seats == (2, 1)


# --- only the key speaks for the teacher ---


def teachers_calls(rooms, code, key):
    return {
        "show": lambda: rooms.show(code, key, "attention", ()),
        "ask": lambda: rooms.ask(code, key, Poll("where", ("가", "나"), 1, ())),
        "reveal": lambda: rooms.reveal(code, key),
        "stop_asking": lambda: rooms.stop_asking(code, key),
        "check": lambda: rooms.check(code, key, Quiz("plan", (), (2,), BEFORE)),
        "forget_checks": lambda: rooms.forget_checks(code, key),
        "results": lambda: rooms.results(code, key),
        "end": lambda: rooms.end(code, key),
    }


@pytest.mark.parametrize("call", teachers_calls(None, "", ""))
def test_who_has_not_the_key_changes_nothing(rooms, opened, call):
    code, key = opened
    seat, (_, key_of_another) = rooms.join(code), rooms.open()
    rooms.show(code, key, "attention", ABOUT)
    before = rooms.state_of(code, seat)
    for forged in ("", seat, code, key_of_another, key[:-1], key + "x", "열쇠", "\udc80"):
        with pytest.raises(NotTheTeacherError):
            teachers_calls(rooms, code, forged)[call]()
        assert not rooms.is_teacher(code, forged)
    assert rooms.state_of(code, seat) == before
    assert rooms.is_teacher(code, key)


def test_a_seat_of_another_classroom_is_no_seat_here(rooms, polled):
    code, elsewhere = polled[0], rooms.open()[0]
    for seat in ("", "made up", rooms.join(elsewhere)):
        with pytest.raises(NotTheTeacherError):
            rooms.answer(code, seat, 1, [0])
    assert rooms.state_of(code).answered == 0


def test_a_state_says_nothing_that_would_let_anybody_act_for_another(rooms, polled):
    code, key, seat = polled
    seats = [seat, *(rooms.join(code) for _ in range(4))]
    told = repr(rooms.state_of(code, seats[0])) + repr(rooms.results(code, key))
    assert key not in told and not any(seat in told for seat in seats)


def test_codes_cannot_be_guessed_quickly_and_those_who_have_a_seat_keep_it(rooms, opened, clock):
    code, seat = opened[0], rooms.join(opened[0])
    wrong = (each for each in iter(new_code, None) if each != code)
    for _ in range(MOST_WRONG):
        with pytest.raises(UnknownCodeError):
            rooms.join(next(wrong))
    for guess, made_up in ((code, ""), (code, "made up"), (next(wrong), "")):
        with pytest.raises(FullError):
            rooms.join(guess, made_up)
    assert rooms.join(code, seat) == seat
    clock.now += MINUTE + 1
    assert rooms.join(code)
    assert DAY / MINUTE * MOST_WRONG < 10**LENGTH / 10


# --- it stays small ---


def test_a_thousand_join_and_seats_that_left_long_ago_make_room_and_those_that_answered_do_not(
    rooms, polled, clock
):
    code, _, first = polled
    begun = time.monotonic()
    seats = [first, *(rooms.join(code) for _ in range(MOST_SEATS - 1))]
    with pytest.raises(FullError):
        rooms.join(code)
    assert rooms.join(code, seats[7]) == seats[7]
    assert rooms.state_of(code).present == MOST_SEATS
    assert time.monotonic() - begun < 5
    for seat in seats[1:]:
        rooms.answer(code, seat, 1, [0])
    clock.now += 1000
    assert rooms.join(code) != first
    with pytest.raises(FullError):
        rooms.join(code)


def test_votes_from_many_threads_are_counted_right_and_leave_nothing_behind(rooms, opened):
    code, key = opened
    seats = [rooms.join(code) for _ in range(1000)]
    rooms.ask(code, key, Poll("where", tuple("가나다라마"), 2, ABOUT))

    def vote(some: list[str]) -> None:
        for turn in range(20):
            for place, seat in enumerate(some):
                rooms.answer(code, seat, 1, [(place + turn) % 5])

    threads = [threading.Thread(target=vote, args=(seats[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rooms.reveal(code, key)
    state = rooms.state_of(code)
    assert sum(state.counts) == state.answered == 1000
    assert state.counts == (200,) * 5


@pytest.mark.parametrize(
    "call",
    [
        lambda rooms, code, key: rooms.show(code, key, "x" * 41, ()),
        lambda rooms, code, key: rooms.show(code, key, "attention", (("sentence", "가" * 8_001),)),
        lambda rooms, code, key: rooms.ask(code, key, Poll("where", ("가",) * 201, 1, ())),
        lambda rooms, code, key: rooms.ask(code, key, Poll("where", ["가", "나" * 61], 1, ())),
        lambda rooms, code, key: rooms.ask(code, key, Poll("where", ("가", "나"), 3, ())),
        lambda rooms, code, key: rooms.check(code, key, Quiz("plan", (), (2,) * 17, BEFORE)),
        lambda rooms, code, key: rooms.check(code, key, Quiz("plan", (), (1,), BEFORE)),
        lambda rooms, code, key: rooms.check(code, key, Quiz("plan", (), (2,), "between")),
    ],
)
def test_a_teacher_cannot_fill_the_memory(rooms, opened, call):
    code, key = opened
    before = rooms.state_of(code)
    with pytest.raises(NotAllowedError):
        call(rooms, code, key)
    assert rooms.state_of(code) == before


def test_a_classroom_is_forgotten_after_a_day_or_at_once(rooms, opened, clock):
    code, key = opened
    clock.now += DAY - 1
    rooms.state_of(code)
    clock.now += 2
    with pytest.raises(UnknownCodeError):
        rooms.state_of(code)
    code, key = rooms.open()
    rooms.end(code, key)
    with pytest.raises(UnknownCodeError):
        rooms.join(code)
    assert len(rooms) == 0


def test_a_new_classroom_takes_the_place_of_one_that_is_silent_and_of_no_other(rooms, clock):
    codes = [rooms.open()[0] for _ in range(MOST_CLASSROOMS)]
    with pytest.raises(FullError):
        rooms.open()
    clock.now += QUIET - 1
    for code in codes[1:]:
        rooms.state_of(code)
    clock.now += 2
    rooms.open()
    with pytest.raises(UnknownCodeError):
        rooms.state_of(codes[0])
    assert len(rooms) == MOST_CLASSROOMS
