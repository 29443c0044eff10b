"""The load program runs a page's fragments again and again where they want it, as a browser does."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

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

    def give(self, **message) -> None:
        self.given.put_nowait(ForwardMsg(**message).SerializeToString())


async def a_visit() -> tuple[list, list, list]:
    page = Page()
    visitor = Visitor("http://127.0.0.1:1", _socket=page)
    page.give(auto_rerun={"fragment_id": "part", "interval": 0.01})
    page.give(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)
    await visitor.next_run()
    asked = [await page.came.get(), await page.came.get()]
    during = list(visitor._timers)
    page.give(new_session={"page_script_hash": "0"})
    page.give(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)  # a run without it
    await visitor.next_run()
    after = list(visitor._timers)
    await visitor.close()
    return asked, during, after


def test_a_fragment_is_run_again_until_the_page_no_longer_has_it():
    with ThreadPoolExecutor(1) as pool:  # the browser tests keep a loop running in this thread
        asked, during, after = pool.submit(lambda: asyncio.run(a_visit())).result()
    assert [(each.fragment_id, each.is_auto_rerun) for each in asked] == [("part", True)] * 2
    assert len(during) == 1
    assert after == []
