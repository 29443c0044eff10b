"""The load program answers a page that asks to be asked again, as a browser does."""

import asyncio
import json

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.visitor import Visitor


class Page:
    """The server's end of the websocket: gives what it is told to, and keeps what comes."""

    def __init__(self):
        self.given, self.came = asyncio.Queue(), asyncio.Queue()

    async def recv(self):
        return await self.given.get()

    async def send(self, raw):
        await self.came.put(BackMsg.FromString(raw).rerun_script)

    async def close(self):
        pass

    def give(self, message: ForwardMsg) -> None:
        self.given.put_nowait(message.SerializeToString())

    def draw_ticking(self, turn: int) -> None:
        message = ForwardMsg()
        message.delta.fragment_id = "part"
        component = message.delta.new_element.bidi_component
        component.component_name, component.id = "here.ticking", "$$ID-1"
        component.json = json.dumps({"seconds": 0.0, "turn": turn})
        self.give(message)

    def finish(self, status=ForwardMsg.FINISHED_SUCCESSFULLY) -> None:
        self.give(ForwardMsg(script_finished=status))


async def a_visit() -> list:
    page = Page()
    visitor = Visitor("http://127.0.0.1:1", _socket=page)
    page.draw_ticking(1)
    page.finish()
    await visitor.next_run()
    asked = [await page.came.get()]
    listening = asyncio.create_task(visitor.next_run())
    page.draw_ticking(2)  # the fragment alone is run, and asks again
    page.finish(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
    asked.append(await page.came.get())
    page.give(ForwardMsg(new_session={"page_script_hash": "0"}))
    page.finish()  # a run without it
    await listening
    asked.append(dict(visitor._ticks))
    await visitor.close()
    return asked


def test_a_fragment_that_ticks_is_run_again_until_it_is_gone():
    first, second, left = asyncio.run(a_visit())
    for turn, asked in enumerate((first, second), start=1):
        (state,) = asked.widget_states.widgets
        assert asked.fragment_id == "part"
        assert state.id == "$$STREAMLIT_INTERNAL_KEY_$$ID-1__events"
        assert json.loads(state.json_trigger_value) == [{"event": "tick", "value": turn}]
    assert left == {}
