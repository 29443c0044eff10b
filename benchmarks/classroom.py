"""A class: a teacher who types, phones that follow and vote, and visitors beside them who type for themselves.

    streamlit run app.py
    python benchmarks/classroom.py --phones 100 --typing 5 [--address http://127.0.0.1:8501]

Without a browser, as in ``load.py``. First the visitors type alone. Then the teacher opens a class and types a sentence with a number
of its own every few seconds; a change is on a phone when the phone has been sent a text with this number. After that the
teacher asks where a head will look, and all phones vote, each once and at a moment of its own; a vote is there when the phone is told
so. The visitors type on meanwhile.
"""

import asyncio
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import click
from guests import Guest
from load import Figures, LoadPlan, row, visit
from visitor import GONE

TEXTS = Path(__file__).parents[1] / "assets" / "texts" / "ko" / "classroom.json"
SENT = json.loads(TEXTS.read_text("utf-8"))["class_answered_mine"]
SENTENCE = "친구와 가치 밥을 머거요"
BEAT = 5.0  # seconds between two beats of a phone, as in ui/classroom/pulse.py


@dataclass
class Times:
    """Of all phones together, in seconds."""

    joined: list[float] = field(default_factory=list)
    followed: list[float] = field(default_factory=list)
    voted: list[float] = field(default_factory=list)
    missed: int = 0  # changes that a phone never saw, and votes that nobody confirmed
    errors: int = 0


@dataclass
class Phone:
    """One phone: what it was shown, and when."""

    guest: Guest
    seen: dict[str, float] = field(default_factory=dict)  # number in a sentence -> when it came
    numbers: set[str] = field(default_factory=set)  # those to look for
    confirmed: float = 0.0

    def hear(self, text: str) -> None:
        for number in self.numbers - self.seen.keys():
            if number in text:
                self.seen[number] = time.monotonic()
        if SENT in text:
            self.confirmed = time.monotonic()


async def come(address: str, query: str, hear: Callable[[str], None], patience: float) -> Guest:
    guest = Guest(address, query=query, page_name="classroom", on_text=hear)
    for _ in range(10):
        try:
            await guest.open(patience)
            return guest
        except GONE:
            await asyncio.sleep(0.5)
    raise ConnectionError("the server cannot be reached")


async def open_class(address: str) -> tuple[Guest, asyncio.Task, str]:
    """(the teacher on the class's page, what listens, the code)."""
    teacher = await come(address, "", lambda text: None, 60)
    listening = asyncio.create_task(teacher.listen())
    await teacher.wait_for("class_open")
    await teacher.press("class_open")
    await teacher.wait_for("classroom_keeper")
    return teacher, listening, teacher.cookie[0].removeprefix("classroom_")


async def join(address: str, code: str, delay: float, times: Times) -> tuple[Phone, list[asyncio.Task]]:
    await asyncio.sleep(delay)
    begun = time.monotonic()
    phone = Phone(Guest(address))
    phone.guest = await come(address, f"class={code}", phone.hear, 60)
    tasks = [asyncio.create_task(phone.guest.listen())]
    await phone.guest.wait_for("classroom_pulse")
    times.joined.append(time.monotonic() - begun)
    tasks.append(asyncio.create_task(phone.guest.beat(BEAT, random.random() * BEAT)))
    return phone, tasks


async def teach(address: str, teacher: Guest, phones: list[Phone], turns: int, every: float, times: Times):
    """The teacher types on the main page; every phone notes when it is shown the sentence."""
    desk = Guest(address, query=f"class={teacher.cookie[0].removeprefix('classroom_')}")
    desk.cookies = {teacher.cookie[0]: teacher.cookie[1]}
    await desk.open(60)
    listening = asyncio.create_task(desk.listen())
    await desk.wait_for("live_text")
    await asyncio.sleep(3)  # the model is there, and the first picture
    for turn in range(turns):
        number = f"{7000 + turn}"
        for phone in phones:
            phone.numbers.add(number)
        begun = time.monotonic()
        await desk.type(f"{SENTENCE} {number}")
        await asyncio.sleep(every)
        for phone in phones:
            if number in phone.seen:
                times.followed.append(phone.seen[number] - begun)
            else:
                times.missed += 1
    listening.cancel()
    await desk.close()


async def vote(phone: Phone, delay: float, times: Times) -> None:
    key = next((each for each in phone.guest.options if each.startswith("class_answer_")), None)
    if key is None:
        times.missed += 1
        return
    await asyncio.sleep(delay)
    options, begun = phone.guest.options[key], time.monotonic()
    phone.confirmed = 0.0
    await phone.guest.touch(key, [random.choice(options)])
    while not phone.confirmed and time.monotonic() - begun < 10:
        await asyncio.sleep(0.01)
    if phone.confirmed:
        times.voted.append(phone.confirmed - begun)
    else:
        times.missed += 1


async def type_beside(address: str, visitors: int, seconds: float) -> Figures:
    """Visitors in no class, who type as in ``load.py``."""
    figures, plan = Figures(), LoadPlan(address, seconds, 3.0, 60.0, "")
    await asyncio.gather(*(visit(i, 3.0 * i / visitors, plan, figures) for i in range(visitors)))
    return figures


async def lesson(
    address: str, count: int, typing: int, turns: int, every: float
) -> tuple[Times, Figures, Figures]:
    seconds = turns * every + 12
    alone = await type_beside(address, typing, min(seconds, 30)) if typing else Figures()
    times = Times()
    teacher, listening, code = await open_class(address)
    joined = await asyncio.gather(*(join(address, code, 10.0 * i / count, times) for i in range(count)))
    phones = [phone for phone, _ in joined]
    beside = asyncio.create_task(type_beside(address, typing, seconds)) if typing else None
    await teach(address, teacher, phones, turns, every, times)
    await teacher.press("class_kind_where")
    await asyncio.sleep(4)  # the question is on every phone
    await asyncio.gather(*(vote(phone, 3.0 * i / count, times) for i, phone in enumerate(phones)))
    figures = await beside if beside else Figures()
    await stop([listening, *(task for _, tasks in joined for task in tasks)])
    times.errors = sum(phone.guest.errors for phone in phones) + teacher.errors
    await asyncio.gather(*(phone.guest.close() for phone in phones), teacher.close())
    return times, alone, figures


async def stop(tasks: Iterable[asyncio.Task]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@click.command()
@click.option("--phones", type=click.IntRange(1, 500), default=100, show_default=True)
@click.option("--typing", type=click.IntRange(0, 100), default=5, show_default=True, help="Visitors beside.")
@click.option("--turns", type=click.IntRange(1, 100), default=8, show_default=True, help="Sentences.")
@click.option("--every", type=click.FloatRange(2), default=5.0, show_default=True, help="Seconds.")
@click.option("--address", default="http://127.0.0.1:8501", show_default=True)
def main(phones, typing, turns, every, address):
    """Print how long changes and votes took; ends with 1 where one was lost or somebody saw an error."""
    address = address.rstrip("/")
    times, alone, beside = asyncio.run(lesson(address, phones, typing, turns, every))
    click.echo(
        f"{phones} phones, {typing} visitors beside; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )
    click.echo(row("a phone joins", times.joined))
    click.echo(row("a change on a phone", times.followed))
    click.echo(row("a vote is confirmed", times.voted))
    click.echo(row("typing, no class", alone.corrected))
    click.echo(row("typing, beside a class", beside.corrected))
    click.echo(f"{times.missed} changes or votes missed, {times.errors} errors on pages")
    sys.exit(bool(times.missed or times.errors))


if __name__ == "__main__":
    main()
