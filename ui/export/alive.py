"""The page with its network, to take along: the one file of ``deploy/site``, in which the sentence of the view stands.

``python -m deploy.site static/see-attention.html --one-file`` makes that file once. Where it lies there, the app offers it.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import assets

FILE = assets.STATIC / "see-attention.html"
MEGABYTES = 22  # what it weighs at most
_HEAD = 2000  # bytes at the file's beginning, among them _NETWORK
_NETWORK = '<meta name="network" content="{fingerprint}">'
_BEGINNING = b'<script type="text/plain" id="beginning"></script>'


def holds(fingerprint: str, file: Path = FILE) -> bool:
    """Whether the file is there and has the network with this fingerprint::

    holds(corrector.fingerprint)
    """
    if not file.is_file():
        return False
    with file.open("rb") as page:
        return _NETWORK.format(fingerprint=fingerprint).encode() in page.read(_HEAD)


def to_alive(settings: Mapping[str, str], file: Path = FILE) -> bytes:
    """The file that begins with ``settings``, as they stand in the site's address behind ``#``::

    to_alive({"text": "밥을 머거요.", "lang": "ko"})
    """
    # A command line may hand over half a surrogate pair, which no address can hold.
    told = urlencode(settings, errors="replace").encode()
    opening, closing = _BEGINNING.split(b"><")
    return file.read_bytes().replace(_BEGINNING, opening + b">" + told + b"<" + closing, 1)
