"""A visitor in a classroom without a browser: hears the parts of the page that are drawn alone, presses buttons, touches options.

``visitor.py`` knows whole runs of the page; a class's page is mostly drawn in fragments.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from visitor import KeptMessage, Visitor

PULSE, KEEPER = "classroom_pulse", "classroom_keeper"


@dataclass
class Guest(Visitor):
    """``open``, then ``listen`` in a task of its own. ``on_text`` gets each text that is drawn, with the time."""

    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)  # key -> (id, fragment)
    # Key of a row of pills -> what stands on them.
    options: dict[str, list[str]] = field(default_factory=dict)
    cookie: tuple[str, str] = ("", "")  # that the page wants kept
    on_text: Callable[[str], None] = lambda text: None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    runs: int = 0  # that came to their end
    errors: int = 0

    async def listen(self) -> None:
        """Take what the server sends, until cancelled."""
        while True:
            self._take(await self._socket.recv())

    async def wait_for(self, key: str, seconds: float = 60) -> None:
        """Return once a widget with this ``key`` has been drawn. Raises TimeoutError."""
        ends = time.monotonic() + seconds
        while key not in self.widgets:
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), ends - time.monotonic())

    async def beat(self, every: float, ahead: float) -> None:
        """Ask what is new every so many seconds, as the page's script does, until cancelled."""
        await asyncio.sleep(ahead)
        while True:
            if PULSE in self.widgets:
                await self.trigger(PULSE, "beat", time.monotonic())
            await asyncio.sleep(every)

    async def trigger(self, key: str, event: str, value: object) -> None:
        id_, fragment = self.widgets[key]
        state = WidgetState(id=_make_trigger_id(id_, "events"))
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        await self._send(fragment, state)

    async def press(self, key: str) -> None:
        id_, fragment = self.widgets[key]
        await self._send(fragment, WidgetState(id=id_, trigger_value=True))

    async def touch(self, key: str, options: list[str]) -> None:
        """Choose ``options`` of a row of pills, by what stands on them."""
        id_, fragment = self.widgets[key]
        state = WidgetState(id=id_)
        state.string_array_value.data.extend(options)
        await self._send(fragment, state)

    async def _send(self, fragment: str, *states: WidgetState) -> None:
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.query_string = self.query
        message.rerun_script.page_script_hash = self.page
        message.rerun_script.cached_message_hashes.extend(self._kept)
        message.rerun_script.context_info.locale = "ko-KR"
        message.rerun_script.context_info.url = f"{self.address}/{self.page_name}"
        message.rerun_script.widget_states.widgets.extend(states)
        await self._socket.send(message.SerializeToString())

    def _take(self, raw: bytes) -> None:
        message = ForwardMsg.FromString(raw)
        if message.WhichOneof("type") == "ref_hash":
            message = ForwardMsg.FromString(self._kept[message.ref_hash].message)
        elif message.metadata.cacheable:
            self._kept[message.hash] = KeptMessage(raw, self._runs)
        match message.WhichOneof("type"):
            case "new_session":
                self.session = message.new_session.initialize.session_id or self.session
                self.page = message.new_session.page_script_hash
                self._longest_kept = message.new_session.config.max_cached_message_age
            case "navigation":
                self.page = message.navigation.page_script_hash
            case "delta":
                self._drawn(message.delta)
            case "script_finished":
                self._forget_old_messages()
                self.runs += 1
        self.changed.set()

    def _drawn(self, delta) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        self.errors += kind == "exception"
        if kind == "bidi_component":
            found = element.bidi_component
            name = found.component_name.rpartition(".")[2]
            self.components[found.component_name] = found.id
            self.widgets[name] = found.id, delta.fragment_id
            if name == KEEPER:
                self.cookie = tuple(json.loads(found.json)[0].values())
            if name == "address_bar":
                given = dict(json.loads(found.json)[0]["settings"])
                self.query = "&".join(f"{each}={value}" for each, value in given.items() if value)
        elif kind in ("button", "button_group"):
            found = getattr(element, kind)
            key = found.id.rpartition("-")[2]
            self.widgets[key] = found.id, delta.fragment_id
            if kind == "button_group":
                self.options[key] = [option.content for option in found.options]
        elif kind == "html":
            self.on_text(element.html.body)
