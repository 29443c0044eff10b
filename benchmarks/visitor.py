"""One visitor of the app without a browser: Streamlit's own messages over its websocket.

The messages are described by streamlit/proto/BackMsg.proto and ForwardMsg.proto. A visitor types into the
text area (``ui/components/widgets.py``), whose state travels as JSON under the id that the page gave the
component.
"""

import asyncio
import json
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from http.cookiejar import CookieJar
from urllib.parse import urlencode, urlsplit

from streamlit.proto.AutoRerun_pb2 import AutoRerun
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin, Subprotocol

TEXT_AREA = "live_text"
CORRECTION = "correction"  # the component that shows the corrected text
ADDRESS_BAR = "address_bar"  # the component by which the page writes its settings into the address
_FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
GONE = (OSError, HTTPException, WebSocketException, TimeoutError)  # errors of a lost connection


@dataclass
class Seen:
    """The messages of one run of the page's script."""

    finished: bool = False  # not where the run was given up for a newer one
    shown: str = ""  # all that was drawn, but for the text area itself
    corrected: list[tuple[float, str]] = field(default_factory=list)  # (when it came, a corrected text)
    errors: int = 0  # red boxes, and exceptions
    size: int = 0  # bytes


@dataclass(frozen=True)
class KeptMessage:
    """A message that the server need not send again, the number of the last run that showed it, and its
    fragment.
    """

    message: bytes
    run: int
    part: str


@dataclass
class Visitor:
    """``open``, then ``type`` and ``next_run`` as often as wanted; ``open`` again after one of GONE."""

    address: str  # such as http://127.0.0.1:8501
    query: str = ""
    session: str = ""
    page: str = ""
    components: dict[str, str] = field(default_factory=dict)  # name -> the id that the page gave it last
    text: str | None = None
    cookies: dict[str, str] = field(default_factory=dict)
    _kept: dict[str, KeptMessage] = field(default_factory=dict)  # by hash
    _longest_kept: int = 0  # runs; the server says it
    _runs: int = 0
    _part: str = ""  # the fragment of the page that holds the text area
    _timers: list[asyncio.Task] = field(default_factory=list)  # of the fragments that run again and again
    _socket: ClientConnection | None = None

    @property
    def area(self) -> str:
        """The id of the text area; empty until the page has drawn it."""
        return next((id_ for name, id_ in self.components.items() if name.endswith(TEXT_AREA)), "")

    @property
    def sees_loading(self) -> bool:
        """Whether a part of the page runs again and again, which tells how far the model is."""
        return bool(self._timers)

    async def open(self, patience: float) -> None:
        """Fetch the shell as a browser does, with its cookies, and open the websocket. A visitor who was here
        before asks for the same session and brings the typed text."""
        await self.close()
        await asyncio.to_thread(self._fetch_shell, patience)
        parts = urlsplit(self.address)
        scheme = "wss" if parts.scheme == "https" else "ws"
        wanted = "streamlit", self.cookies.get("_streamlit_xsrf", "xsrf"), self.session
        self._socket = await connect(
            f"{scheme}://{parts.netloc}/_stcore/stream",
            subprotocols=[Subprotocol(each) for each in wanted if each],
            origin=Origin(self.address),
            additional_headers=self._cookie_header,
            max_size=64 * 2**20,
            open_timeout=patience,
            ping_interval=None,  # a browser sends none
        )
        await self._run_script()

    async def type(self, text: str) -> None:
        """Put ``text`` into the text area, as its component does after a pause."""
        self.text = text
        await self._run_script(self._part)

    @property
    def _cookie_header(self) -> dict[str, str]:
        known = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": known} if known else {}

    @property
    def _opened(self) -> ClientConnection:
        assert self._socket is not None, "open it first"
        return self._socket

    async def next_run(self, patience: float | None = None) -> Seen:
        """The drawn elements of the next run that comes to its end, given up or not.

        Raises:
            TimeoutError: where nothing comes for ``patience`` seconds; None sets no limit.
        """
        seen = Seen()
        shown: list[str] = []
        while True:
            raw = await asyncio.wait_for(self._opened.recv(decode=False), patience)
            message = ForwardMsg.FromString(raw)
            seen.size += len(raw)
            if message.WhichOneof("type") == "ref_hash":
                raw = self._kept[message.ref_hash].message
                message = ForwardMsg.FromString(raw)
            if message.metadata.cacheable:
                self._kept[message.hash] = KeptMessage(raw, self._runs, message.delta.fragment_id)
            match message.WhichOneof("type"):
                case "new_session":
                    self.session = message.new_session.initialize.session_id or self.session
                    self.page = message.new_session.page_script_hash
                    self._longest_kept = message.new_session.config.max_cached_message_age
                    shown.clear()
                    # The page as a whole is run, and sends everything anew.
                    if not message.metadata.run.fragment_ids:
                        self._stop_timers()
                case "auto_rerun":
                    self._timers.append(asyncio.create_task(self._run_again_and_again(message.auto_rerun)))
                case "page_info_changed":
                    self.query = message.page_info_changed.query_string
                case "delta":
                    element = message.delta.new_element
                    component, kind = element.bidi_component, element.WhichOneof("type")
                    if name := component.component_name:  # empty for all other kinds
                        self.components[name] = component.id
                    if name.endswith(TEXT_AREA):
                        self._part = message.delta.fragment_id
                        continue
                    if name.endswith(ADDRESS_BAR):
                        settings = json.loads(component.json)[0]["settings"]
                        known = [(name, value) for name, value in settings if value is not None]
                        # Halves of surrogate pairs are replaced, as a browser does.
                        self.query = urlencode(known, errors="replace")
                        continue
                    if name.endswith(CORRECTION):
                        seen.corrected.append((time.monotonic(), component.json))
                    seen.errors += kind == "exception" or element.alert.format == _ERROR_BOX
                    shown.append(raw.decode("utf-8", "replace"))
                case "script_finished":
                    status, parts = message.script_finished, list(message.metadata.run.fragment_ids)
                    self._forget_old_messages(parts)
                    if status == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY and self._part not in parts:
                        continue
                    seen.finished = status in _FINISHED
                    seen.shown = "\n".join(shown)
                    return seen

    def _forget_old_messages(self, parts: list[str]) -> None:
        """Drop messages that no run has shown for a while, as a browser does.

        A run of some parts says nothing about the others.
        """
        self._runs += 1
        oldest = self._runs - self._longest_kept
        self._kept = {
            key: kept
            for key, kept in self._kept.items()
            if kept.run >= oldest or (parts and kept.part not in parts)
        }

    async def close(self) -> None:
        self._stop_timers()
        if self._socket is not None:
            await self._socket.close()

    async def _run_again_and_again(self, wanted: AutoRerun) -> None:
        """Ask for a fragment as often as its ``run_every`` says."""
        with suppress(*GONE):  # ``next_run`` tells
            while True:
                await asyncio.sleep(wanted.interval)
                await self._run_script(wanted.fragment_id, timed=True)

    def _stop_timers(self) -> None:
        while self._timers:
            self._timers.pop().cancel()

    async def _run_script(self, fragment: str = "", timed: bool = False) -> None:
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = timed
        message.rerun_script.query_string = self.query
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.cached_message_hashes.extend(self._kept)
        message.rerun_script.context_info.locale = "ko-KR"
        message.rerun_script.context_info.url = self.address
        if self.text is not None and self.area:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.json_value = self.area, json.dumps({"text": self.text})
        await self._opened.send(message.SerializeToString())

    def _fetch_shell(self, patience: float) -> None:
        jar = CookieJar()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        request = urllib.request.Request(self.address, headers=self._cookie_header)
        with opener.open(request, timeout=patience) as page:
            page.read()
        self.cookies |= {cookie.name: cookie.value or "" for cookie in jar}


async def wait_for_the_network(address: str, seconds: float) -> None:
    """Return once the network of a server that has just been started corrects typed text, and nothing
    replaces it any more. Raises TimeoutError.
    """
    visitor, ends = Visitor(address), time.monotonic() + seconds
    try:
        await visitor.open(seconds)
        while time.monotonic() < ends:
            with suppress(TimeoutError):
                seen = await visitor.next_run(30)  # longer than a run takes on a busy machine
                if visitor.text and seen.finished and FIRST in seen.shown and not visitor.sees_loading:
                    return
                await asyncio.sleep(_BETWEEN_LOOKS)
            await visitor.type(f"고갱이 왔다 {FIRST}")
        raise TimeoutError("the network did not answer")
    finally:
        await visitor.close()


FIRST = "9876543210"  # no correction touches it
_BETWEEN_LOOKS = 0.5  # seconds
_ERROR_BOX = 1  # Alert.Format.ERROR
