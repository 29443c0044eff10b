"""Why a classroom does not do what it was asked."""


class ClassroomError(Exception):
    """Any of those below."""


class UnknownCodeError(ClassroomError):
    """No classroom has this code: it was never opened, or it is over."""


class NotTheTeacherError(ClassroomError):
    """The key is not the one of this classroom's teacher, or the seat is not one of its seats."""


class FullError(ClassroomError):
    """There are as many seats, or as many classrooms, as there may be."""


class ClosedError(ClassroomError):
    """The answer comes too late: it was revealed, or something else is asked now."""


class NotAllowedError(ClassroomError):
    """What was sent is larger than allowed, or is no answer to what is asked."""
