"""Service for editors: time of an answer, hostile requests, and 1 MB of Markdown.

python -m benchmarks.service latency
python -m benchmarks.service fuzz --bodies 20000
python -m benchmarks.service markdown
"""

import json
import random
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes, urlencode

import anyio
import click
from starlette.types import Message

from service.annotated import Annotated
from service.checker import KeepingCorrector
from service.checks import Checking
from service.languagetool import CheckRequest, answer, app_link
from service.server import Guard, Limits, Service, application
from tests.hostile_texts import hostile_texts

SENTENCES = (
    "나는 {}번째로 학교에 가서 친구를 만났다.",
    "오늘은 날씨가 아주 맑아서 {}명이 산에 올랐다.",
    "그 책은 {}쪽까지 읽었는데 뒤가 궁금하다.",
    "회의는 {}시에 시작하니 늦지 않게 와 주세요.",
)
LENGTH = 3_000  # characters of the paragraph in which one sentence is new
MB = 1_000_000


@click.group()
def main() -> None:
    """Measure the service for editors on this machine."""


def _paragraph(length: int, wrong_each: int, seed: int = 60) -> str:
    """Different sentences, of which each ``wrong_each``-th has a mistake."""
    sentences = list[str]()
    while sum(map(len, sentences)) < length:
        number = len(sentences) + 1_000 * seed
        wrong = " 그래서 안되요." if number % wrong_each == 0 else ""
        sentences.append(SENTENCES[number % len(SENTENCES)].format(number) + wrong)
    return " ".join(sentences)


@main.command()
@click.option("--times", default=60, show_default=True)
def latency(times: int) -> None:
    """Time of a request with one new sentence in a paragraph of 3,000 characters, in milliseconds."""
    corrector = KeepingCorrector.load()
    corrector.warm_up()
    corrector.warm_up_doubts()
    text, link = _paragraph(LENGTH, wrong_each=10)[:LENGTH], app_link("http://127.0.0.1:8081/")
    corrector.matches(Annotated.plain(text))
    click.echo(f"{len(text)} characters and a new sentence, {times} times")
    waited, worked = [], []
    for number in range(times):
        new = f" 그리고 {number}일 뒤에 다시 만나기로 했다."
        begun, used = time.perf_counter(), time.process_time()
        request = CheckRequest.of(urlencode({"language": "ko", "text": text + new}).encode())
        json.dumps(answer(request, corrector.matches(request.document, request.is_picky), link))
        waited.append(1_000 * (time.perf_counter() - begun))
        worked.append(1_000 * (time.process_time() - used))
    for name, times_of in (("by the clock", waited), ("of the processor", worked)):
        click.echo(f"{name}: median {statistics.median(times_of):.0f} ms, least {min(times_of):.0f} ms")


@main.command()
@click.option("--bodies", default=20_000, show_default=True)
@click.option("--seed", default=60, show_default=True)
def fuzz(bodies: int, seed: int) -> None:
    """Send hostile bodies to the application in this process; count the statuses, and watch the memory."""
    service = Service(KeepingCorrector.load, app_link("http://127.0.0.1:8081/"), Limits(10**9, 60.0))
    app = application(service, Guard())
    found, sizes = Counter[int](), list[tuple[int, int]]()

    async def run() -> None:
        for number, body in enumerate(_bodies(random.Random(seed), bodies)):
            found[await _status(app, body)] += 1
            if number % max(bodies // 10, 1) == 0:
                sizes.append((_resident() // MB, service.kept))

    anyio.run(run)
    click.echo(f"{bodies} bodies: {dict(found)}; (MB of memory, sentences kept): {sizes}")
    failed = sum(count for status, count in found.items() if status not in (200, 400, 413))
    raise SystemExit(bool(failed))


def _bodies(rng: random.Random, count: int) -> Iterator[bytes]:
    for text in hostile_texts(rng.randrange(10**6), count):
        kind = rng.randrange(6)
        if kind == 0:  # any bytes
            yield b"language=ko&text=" + rng.randbytes(rng.randrange(400))
        elif kind == 1:  # any bytes, encoded
            yield f"language=ko&text={quote_from_bytes(rng.randbytes(rng.randrange(400)))}".encode()
        elif kind == 2:  # deep JSON
            opened = rng.choice(['{"annotation":', "[", '{"a":'])
            yield urlencode({"language": "ko", "data": opened * rng.randrange(1, 5_000)}).encode()
        elif kind == 3:  # many pieces, some of them no pieces
            part = rng.choice(
                [{"text": text[:20]}, {"markup": text[:9], "interpretAs": text[:5]}, {"text": 1}, 3]
            )
            document = {"annotation": [{"text": "밥을 머거"}, *[part] * rng.randrange(300)]}
            yield urlencode({"language": "auto", "data": json.dumps(document), "level": "picky"}).encode()
        else:
            yield urlencode(
                {"language": "ko", "text": text.encode("utf-8", "replace"), "level": "picky"}
            ).encode()


async def _status(app: Any, body: bytes) -> int:
    statuses = list[int]()

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v2/check",
        "raw_path": b"/v2/check",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8081")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8081),
        "scheme": "http",
        "root_path": "",
    }
    await app(scope, receive, send)
    return statuses[0]


def _resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


@main.command()
@click.option("--processes", default=2, show_default=True)
def markdown(processes: int) -> None:
    """Time of a check of 1 MB of Markdown, loading included."""
    with tempfile.TemporaryDirectory() as folder:
        files, size, number = [], 0, 0
        while size < MB:
            text = f"# 제목 {number}\n\n" + "\n\n".join(
                f"{_paragraph(400, 40, number * 100 + part)} `코드` [링크](https://a.example)"
                for part in range(40)
            )
            files.append(Path(folder, f"{number}.md"))
            size += files[-1].write_bytes(text.encode())
            number += 1
        begun = time.perf_counter()
        found = sum(map(len, Checking(processes=processes).findings(files)))
        waited, worked = time.perf_counter() - begun, _processor_seconds()
    click.echo(f"{size / MB:.2f} MB in {len(files)} files: {waited:.1f} s, of the processor ", nl=False)
    click.echo(f"{worked:.1f} s, {found} found")


def _processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()
