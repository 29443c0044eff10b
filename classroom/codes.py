"""The code of a classroom: short enough to be read out, and too many of them to be guessed.

Nine characters of an alphabet without letters and digits that look alike are 31 ** 9 = 2.6e13 codes. A thousand guesses a second are 8.6e7
a day. Even if all MOST_CLASSROOMS are open, the probability that one of these guesses is a code is below 1 in 1,000.
"""

import re
import secrets

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # no 0 and o, no 1, i and l
LENGTH = 9
_GROUP = 3


def new_code() -> str:
    """A code that nobody can foresee.

    >>> code = new_code()
    >>> len(code), set(code) <= set(ALPHABET)
    (9, True)
    """
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def tidy(typed: str) -> str:
    """The code that a person typed, whatever stands between its characters; empty if it cannot be one.

    >>> tidy(" ABC-def 234 "), tidy("abc")
    ('abcdef234', '')
    """
    found = re.sub(r"[\s-]", "", typed.lower()) if len(typed) <= 4 * LENGTH else ""
    return found if len(found) == LENGTH and set(found) <= set(ALPHABET) else ""


def in_groups(code: str) -> str:
    """The code as it is shown and read out.

    >>> in_groups("abcdef234")
    'abc-def-234'
    """
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))
