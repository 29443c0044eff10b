"""The first use of a view on a server takes little work: no library is imported for it, and no network is built."""

import os
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Error

from tests.browser.visit import PATIENCE, choose, figure, pick, settle
from tests.serving import started
from ui.wording.texts import table

KO = table("ko")
SENTENCE = "친구와 가치 밥을 머거요."
MOST = 1.5  # seconds of processor time; 0.5 to 0.9 are used, and a worker that imports TensorFlow takes two to five
LOOKING = 4_000  # milliseconds at the first page; the server is then done with what it does after its start


def tree(pid: int) -> set[int]:
    """A process and all that it has started."""
    children = {
        int(each) for one in Path(f"/proc/{pid}/task").glob("*/children") for each in one.read_text().split()
    }
    return {pid}.union(*map(tree, children))


def processor_seconds(pid: int) -> float:
    """What a process and all that it has started have used so far, those that have ended included."""
    ticks = 0
    for each in tree(pid):
        after_name = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, after_name[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


@pytest.fixture
def fresh(browser):
    """(a page of a server that has just been started and shows the first page, the server's process)."""
    with started() as (process, address):
        page = browser.new_context(viewport={"width": 1366, "height": 768}).new_page()
        page.set_default_timeout(PATIENCE)
        page.add_init_script("localStorage.setItem('attentionWelcomed', '1')")
        while True:
            try:
                page.goto(f"{address}/?{urlencode({'sentence': SENTENCE, 'layer': '3', 'head': '1'})}")
                break
            except Error:  # it does not listen yet
                page.wait_for_timeout(200)
        page.wait_for_selector(figure("heatmap"))
        settle(page)
        page.wait_for_timeout(LOOKING)
        yield page, process
        page.context.close()


def test_the_first_use_of_a_slow_view_takes_little_work(fresh):
    page, process = fresh

    def work_of(press, *shown: str) -> float:
        before = processor_seconds(process.pid)
        press()
        for name in shown:
            page.wait_for_selector(figure(name))
        settle(page)
        return processor_seconds(process.pid) - before

    taken = {
        "calculation": work_of(lambda: choose(page, "view", KO["view_numbers"])),
        "other attention": work_of(lambda: pick(page, "pages", KO["laboratory_page"]))
        + work_of(lambda: choose(page, "experiment", KO["view_replace"]), "replace_instead"),
        "growing up": work_of(
            lambda: pick(page, "pages", KO["growing_page"]), "growing_heads", "growing_curves"
        ),
        "queries, keys, values": work_of(lambda: pick(page, "pages", KO["calculation_page"])),
    }
    assert max(taken.values()) < MOST, taken
