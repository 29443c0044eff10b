"""Benchmark of a keystroke on the main page: time of each stage to its picture, and bytes.

    python benchmarks/keystroke.py [--keys 40] [--tokens 40]
    python benchmarks/keystroke.py --heads 5        # best of 5: all texts that are written without one head

Needs requirements-dev.txt and Chromium. Server and model are warm: the first keys, which count for nothing,
make sentences of the same length. Each counted key replaces the last character, so that it makes a sentence
that neither the model nor the page has met. Nothing is counted before the processors are idle.

The clock is the browser's (``keystroke.js``). It starts at the area's ``input`` event; the typing pause ends
when the browser sends the text. The picture is there when the heatmap's columns spell the new sentence, the
overview holds other numbers than before, and the browser has painted both. Bytes of an update are those of
the connection's messages, plain and compressed as the server compresses them; the first load is everything
that the page requested.
"""

import base64
import math
import os
import random
import statistics
import sys
import time
import zlib
from pathlib import Path
from typing import NamedTuple

import click
from playwright.sync_api import CDPSession, Page, expect, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.server import running_app, wait_until_idle
from model import Corrector
from model.activations.replacements import every_head
from model.analysis.head_effects import ablate_heads
from tests.browser.chromium import launched

WATCH = Path(__file__).with_name("keystroke.js").read_text("utf-8")
WORDS = (
    "우리는 어제 학교에서 머글 것을 차잣고 고양이가 조용히 안자 있엇다 친구와 함께 도서관에 가서 책을 일거따"
).split()
LONG = "어제 친구들과 함께 공원에서 축구를 하다가 무릅을 다쳤는데 별로 아프지 않아서 그냥 집에 걸어갓어요."
WARMING = 5  # keys that count for nothing


class Update(NamedTuple):
    """One key: milliseconds by stage, runs of the script, and bytes."""

    stages: dict[str, float]
    runs: int
    size: int
    compressed: int


class Wire:
    """Messages of a page, as the browser's debugging protocol reports it: its clock does not wait for
    the page, which may be busy drawing."""

    def __init__(self, session: CDPSession):
        self.sent = 0.0  # seconds, when the page sent its last message
        self.messages: list[tuple[float, bytes]] = []  # (seconds, message) received
        self.resources = 0  # bytes of everything else
        session.on("Network.webSocketFrameSent", self._note)
        session.on("Network.webSocketFrameReceived", self._keep)
        session.on("Network.loadingFinished", self._add)
        session.send("Network.enable")

    def _note(self, event: dict) -> None:
        self.sent = event["timestamp"]

    def _keep(self, event: dict) -> None:
        frame = event["response"]
        data = base64.b64decode(frame["payloadData"]) if frame["opcode"] == 2 else b""
        self.messages.append((event["timestamp"], data))

    def _add(self, event: dict) -> None:
        self.resources += int(event["encodedDataLength"])

    def sizes(self) -> tuple[int, int]:
        """(bytes, bytes compressed) of the messages."""
        squeeze = zlib.compressobj(wbits=-15)
        compressed = [
            len(squeeze.compress(each) + squeeze.flush(zlib.Z_SYNC_FLUSH)) for _, each in self.messages
        ]
        return sum(len(each) for _, each in self.messages), sum(compressed)


def sentence(tokens: int, rng: random.Random) -> str:
    """A text of ``tokens`` - 1 characters: the end mark is a token, too."""
    text = ""
    while len(text) < tokens:
        text += rng.choice(WORDS) + " "
    return text[: tokens - 1].rstrip().ljust(tokens - 1, "요")


def type_key(page: Page, wire: Wire, character: str) -> Update:
    """Replace the last character of the sentence, and wait for the picture."""
    page.get_by_label("고칠 글").evaluate(
        "area => { area.focus(); area.setSelectionRange(area.value.length - 1, area.value.length); }"
    )
    wire.messages.clear()
    page.evaluate("watch.start()")
    page.keyboard.type(character)
    seen = page.wait_for_function("watch.result()", timeout=120_000).json_value()
    page.wait_for_timeout(500)  # messages after the picture belong to this key, too
    at, runs = {}, 0
    for came, data in wire.messages:
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        runs += kind == "new_session" and not message.metadata.run.fragment_ids
        if message.delta.new_element.bidi_component.component_name == "plot":
            kind = "figure"
        at[kind] = 1000 * (came - wire.sent)  # the last message of its kind, after the pause
    sent, written, drawn = (seen[name] for name in ("sent", "written", "drawn"))
    stages = {
        "typing pause": sent,
        "server: until its first message": at["new_session"],
        "server: until the last figure": at["figure"] - at["new_session"],
        "browser: until both are painted": drawn - sent - at["figure"],
        "AFTER THE PAUSE: corrected text": written - sent,
        "AFTER THE PAUSE: both pictures": drawn - sent,
        "after the key": drawn,
        "run's last message, after the pause": at["script_finished"],
        "browser busy in long tasks": seen["blocked"],  # tasks of more than 50 ms
    }
    return Update(stages, runs, *wire.sizes())


def report(keys: list[Update], wire_at_start: tuple[int, int], resources: int) -> None:
    click.echo(f"{'milliseconds':38} median    p95")
    for name in keys[0].stages:
        values = [key.stages[name] for key in keys]
        p95 = statistics.quantiles(values, n=20)[-1]
        click.echo(f"{name:38} {statistics.median(values):6.0f} {p95:6.0f}")
    size, compressed = (statistics.median(each) for each in zip(*(key[2:] for key in keys), strict=True))
    click.echo(f"an update: {size / 1000:.1f} kB, compressed {compressed / 1000:.1f} kB")
    click.echo(f"script runs a key: {max(key.runs for key in keys)}")
    plain, squeezed = wire_at_start
    click.echo(
        f"first load: {resources / 1000:,.0f} kB of files and {plain / 1000:.0f} kB of messages"
        f" ({squeezed / 1000:.0f} kB compressed)"
    )


def measure_heads(times: int) -> None:
    """Print the best seconds, by the clock and of CPU, of the texts that are written without each head."""
    corrector = Corrector.load()
    heads = [(), *((head,) for head in every_head(corrector.config))]
    for text in ("바다에 가치 가요.", "동생과 가치 학교에 안되요.", LONG):
        best = [math.inf, math.inf]
        for _ in range(times):
            begun = time.perf_counter(), time.process_time()
            ablate_heads(corrector, text, heads)
            ended = time.perf_counter(), time.process_time()
            best = [min(one, b - a) for one, a, b in zip(best, begun, ended, strict=True)]
        click.echo(f"{len(text)} characters, {len(heads) - 1} heads: {best[0]:.2f} s, {best[1]:.2f} s of CPU")


@click.command()
@click.option("--keys", default=40, show_default=True)
@click.option("--tokens", default=40, show_default=True)
@click.option("--heads", default=0, help="Instead: so many measurements of the texts without each head.")
def main(keys: int, tokens: int, heads: int) -> None:
    """Print the median and the 95th percentile of each stage, and the bytes."""
    if heads:
        measure_heads(heads)
        return
    rng = random.Random(tokens)
    # Syllables without a final consonant, a different one for each key.
    characters = [chr(code) for code in rng.sample(range(ord("가"), ord("힣"), 28), keys + WARMING)]
    with running_app() as address, sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(WATCH)
        wire = Wire(page.context.new_cdp_session(page))
        page.goto(address)
        page.wait_for_selector(".plot[data-drawn]", timeout=180_000)
        page.wait_for_timeout(3_000)
        first = wire.sizes()
        text = sentence(tokens, rng)
        page.get_by_label("고칠 글").fill(text)
        page.wait_for_timeout(8_000)
        expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=120_000)
        wait_until_idle()
        updates = [type_key(page, wire, character) for character in characters][WARMING:]
        click.echo(f"{os.cpu_count()} processors, Chromium {browser.version}, {tokens} tokens, {keys} keys")
        report(updates, first, wire.resources)
        browser.close()


if __name__ == "__main__":
    main()
