"""Bytes inside an HTML page. Base64 makes them a third longer; here they are the characters of windows-1252, which are one byte each.

HTML keeps all but a few: NUL, the carriage return, and "<", which might begin a tag. Each of these, and the escape itself, is written as
the escape and the character SHIFT further on. So the page is declared as windows-1252 and has nothing else than ASCII in it.
"""

import re

ESCAPE, SHIFT = 0x7E, 64
_SPECIAL = re.compile(rb"[\x00\r<~]")
ENCODING = "windows-1252"


def high() -> str:
    """What a browser reads for the bytes from 128 on. Five bytes have no character; they stay controls (WHATWG, Encoding).

    >>> high()[0]
    '€'
    """
    return "".join(_character(byte) for byte in range(128, 256))


def _character(byte: int) -> str:
    try:
        return bytes([byte]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(byte)


def written(content: bytes) -> bytes:
    """The bytes that stand in the page.

    >>> written(b"a<b")
    b'a~|b'
    """
    return _SPECIAL.sub(lambda found: bytes([ESCAPE, found[0][0] + SHIFT]), content)


def ascii_html(text: str) -> bytes:
    """HTML outside of scripts and styles."""
    return text.encode("ascii", "xmlcharrefreplace")


def ascii_script(text: str) -> str:
    """A script or JSON: what is not ASCII is spelled by its UTF-16 units.

    >>> ascii_script('"가"')
    '"\\\\uac00"'
    """
    return "".join(each if each.isascii() else _units(each) for each in text)


def _units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(rf"\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
