"""``SharedClassrooms``: page processes share an engine's classrooms, or over a wire."""

from functools import partial
from itertools import repeat
from pathlib import Path

import pytest

from classroom.classroom import (
    BEFORE,
    ClosedError,
    NotAllowedError,
    NotTheTeacherError,
    Poll,
    Quiz,
    QuizAnswer,
    UnknownCodeError,
)
from classroom.store import CALLS, Classrooms
from engine import remote as wire
from engine.client import Engine
from engine.links import Link, SharedClassrooms
from engine.records import CLASSROOMS, EngineError, ModelKey
from engine.worker_process import Orders, WorkerProcess, prepare_folder
from tests.waiting import wait_until

ABOUT = (("sentence", "친구와 가치 밥을 머거요."),)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One worker without a model, as ``python -m engine FOLDER`` starts it."""
    folder = tmp_path_factory.mktemp("engine")
    (place,) = prepare_folder(folder, 1)
    orders = Orders((), 1, 8, False, place.address)
    with Engine([Link(partial(WorkerProcess, orders, place.secret))]):
        wait_until(Path(place.address).exists)  # a page process tries a few times, then every half minute
        yield folder


class OneLink:
    """The only link of an engine."""

    is_lost, under_way = False, 0

    def has(self, key):
        return False

    def wait_for_loss(self):
        pass


class OverTheWire(OneLink):
    """The link to an engine on other machines, with the same bytes in the same order but no network."""

    def __init__(self):
        self.rooms = Classrooms()

    def ask(self, question: tuple, deadline: float) -> tuple:
        body = wire.write_question(*question)
        try:
            answered = wire.write_answer(self.rooms.call(*wire.read_call(body)))
        except Exception as error:  # noqa: BLE001  the caller gets it
            raise wire.read_error(wire.write_error(error)) from None
        return wire.read_answer(answered), len(answered)


@pytest.fixture(params=["one process", "one machine", "several machines"])
def pages(request):
    """The classrooms as two page processes see them."""
    if request.param == "one process":
        with Engine([]) as engine:
            yield engine.classrooms, engine.classrooms
    elif request.param == "several machines":
        link = OverTheWire()
        yield SharedClassrooms(link), SharedClassrooms(link)
    else:
        folder = request.getfixturevalue("folder")
        with Engine.connect(folder) as one, Engine.connect(folder) as other:
            yield one.classrooms, other.classrooms


def test_a_class_meets_whatever_page_process_each_of_them_has(pages):
    teachers, phones = pages
    code, key = teachers.open()
    seat, own = phones.join(code), teachers.join(code, key=key)
    teachers.show(code, key, "attention", ABOUT)
    teachers.ask(code, key, Poll("where", ("가", "나"), 1, ABOUT))
    teachers.answer(code, own, 1, (0,))  # the teacher's own counts nowhere
    phones.answer(code, seat, 1, (1,))
    assert teachers.state_of(code) == phones.state_of(code)
    assert phones.state_of(code, seat).mine == (1,)
    assert phones.state_of(code).shown.settings == ABOUT
    teachers.reveal(code, key)
    assert phones.state_of(code).counts == (0, 1)
    teachers.check(code, key, Quiz("plan", ABOUT, (2, 2), BEFORE))
    phones.answer_check(code, seat, QuizAnswer(phones.state_of(code).quiz.number, BEFORE, 1, 0))
    assert teachers.results(code, key)[0].before == ((0, 0), (1, 0))
    teachers.end(code, key)
    with pytest.raises(UnknownCodeError):
        phones.state_of(code)


def test_what_is_refused_is_refused_with_the_same_error(pages):
    teachers, phones = pages
    code, key = teachers.open()
    seat = phones.join(code)
    with pytest.raises(NotTheTeacherError):
        phones.show(code, seat, "attention", ())
    with pytest.raises(ClosedError):
        phones.answer(code, seat, 1, (0,))
    with pytest.raises(NotAllowedError):
        teachers.ask(code, key, Poll("where", ("가",), 1, ()))


def test_only_the_calls_of_a_classroom_can_be_called(pages):
    with pytest.raises(AttributeError):
        _ = pages[0]._rooms if hasattr(pages[0], "_link") else pages[0].no_such_call
    assert all(callable(getattr(pages[0], name)) for name in CALLS)
    for arguments in (("__len__",), ("_room", "x"), (), (1,)):
        with pytest.raises(ValueError, match="no call"):
            Classrooms().call(*arguments)


def test_what_only_begins_like_a_call_is_none():
    call = wire.write_question(ModelKey("", None, ""), CLASSROOMS, ("open",))
    assert wire.read_call(call) == ("open",)
    assert wire.read_call(wire.write_question(ModelKey("/m/tiny", None, "0"), "correct", ("가",))) is None
    for broken in (call[:-1], call + b"]", call[:-9] + b"7]"):
        with pytest.raises(wire.WireError):
            wire.read_call(broken)


class Failing(OneLink):
    """A link that raises the given errors before it answers."""

    def __init__(self, errors):
        self.errors, self.rooms = iter(errors), Classrooms()

    def ask(self, question, deadline):
        if error := next(self.errors, None):
            raise error
        return self.rooms.call(*question[2]), 0


def test_a_call_on_a_way_that_broke_is_made_once_more_and_an_engine_that_is_gone_is_named():
    rooms = SharedClassrooms(Failing([ConnectionError("status 500")]))  # a replica was killed on the way
    assert rooms.is_teacher(*rooms.open())
    with pytest.raises(EngineError, match="does not answer"):
        SharedClassrooms(Failing(repeat(EOFError()))).open()
