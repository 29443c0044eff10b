"""Who this session is in which classroom: a seat for everybody, and a key for the teacher.

The address names the classroom. Seat and key never stand there, because a projector shows the address: they are kept in the session,
and in a cookie of the browser, so that a reload finds the same seat and the teacher stays the teacher.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st

from classroom import ClassroomError, State, UnknownCodeError
from classroom.codes import tidy
from ui.asking import loaders
from ui.components.component import component
from ui.shell import address

SETTING = "class"  # the code, in the address
PAGE = "classroom"
_MINE = "classroom_membership"
_COMPONENT = component("classroom_keeper", js=Path(__file__).with_name("keeper.js").read_text("utf-8"))


@dataclass(frozen=True)
class Membership:
    """This session in the classroom ``code``. ``key`` is empty for everybody but the teacher."""

    code: str
    seat: str
    key: str = ""

    @property
    def teaches(self) -> bool:
        return bool(self.key)

    def state(self) -> State:
        """What this seat may know now; it counts as present."""
        return loaders.classrooms().state_of(self.code, self.seat)


def current() -> Membership | None:
    """The classroom that the address names, joined where this session has not joined it yet; None where it names none.

    Raises UnknownCodeError for a code that no classroom has, and FullError where no seat is left.
    """
    asked = address.get(SETTING)
    if not asked:
        return None
    code, mine = tidy(asked), st.session_state.get(_MINE)
    if mine is None or mine.code != code:
        mine = st.session_state[_MINE] = _joined(code)
    return mine


def _joined(code: str) -> Membership:
    """With the seat and the key of the browser's cookie, as far as they are right."""
    if not code:
        raise UnknownCodeError("this is no code")
    rooms = loaders.classrooms()
    seat, _, key = (cookie(_cookie_name(code)) or "").partition(".")
    return Membership(code, rooms.join(code, seat), key if key and rooms.is_teacher(code, key) else "")


def cookie(name: str) -> str | None:
    """The cookie ``name`` of this session's browser."""
    return st.context.cookies.get(name)


def open_classroom() -> None:
    """Before ``st.rerun``: open a classroom, of which this session is the teacher.

    Raises FullError where too many are open.
    """
    rooms = loaders.classrooms()
    code, key = rooms.open()
    st.session_state[_MINE] = Membership(code, rooms.join(code), key)
    address.put(SETTING, code)


def enter(typed: str) -> None:
    """Before ``st.rerun``: be in the classroom of this code from now on."""
    st.session_state.pop(_MINE, None)
    address.put(SETTING, tidy(typed) or typed[:40])


def forget_seat() -> None:
    """The classroom does not answer to this seat any more: ``current`` asks anew, and raises what is wrong."""
    st.session_state.pop(_MINE, None)


def leave() -> None:
    """From a callback: be in no classroom any more. The teacher's leaving ends it."""
    mine = st.session_state.pop(_MINE, None)
    if mine is not None and mine.teaches:
        try:
            loaders.classrooms().end(mine.code, mine.key)
        except ClassroomError:  # it is over already
            pass
    address.put(SETTING, "")


def keep(mine: Membership) -> None:
    """Have the browser keep seat and key for the next session."""
    value = f"{mine.seat}.{mine.key}" if mine.teaches else mine.seat
    _COMPONENT(key="classroom_keeper", data={"name": _cookie_name(mine.code), "value": value})


def link(code: str) -> str:
    """The address by which a phone joins."""
    place = urlsplit(st.context.url or "")
    path = place.path.removesuffix("/").removesuffix(f"/{PAGE}")
    return f"{place.scheme}://{place.netloc}{path}/{PAGE}?{SETTING}={code}"


def is_only_here(address_: str) -> bool:
    """Whether this address leads back to the machine that opens it, so that no phone can use it."""
    return (urlsplit(address_).hostname or "") in ("localhost", "127.0.0.1", "::1", "0.0.0.0")


def _cookie_name(code: str) -> str:
    return f"classroom_{code}"
