"""First use of a slow view on a new server: it imports no library, starts no process."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Error

from tests.browser.visit import PATIENCE, choose, figure, pick, settle, wait_for
from tests.serving import started
from ui.shell.server import LIBRARIES
from ui.wording import table

KO = table("ko")
IN_SPARE_TIME = {*LIBRARIES, "_kiwipiepy"}  # the worker loads Kiwi once its network is there
SENTENCE = "친구와 가치 밥을 머거요."


def tree(pid: int) -> set[int]:
    """A process and all that it has started."""
    children = {
        int(each) for one in Path(f"/proc/{pid}/task").glob("*/children") for each in one.read_text().split()
    }
    return {pid}.union(*map(tree, children))


def loaded(pid: int) -> set[tuple[int, str]]:
    """(process, package) of all Python packages with compiled parts that a process and all that it has
    started have loaded.
    """
    return {
        (each, package)
        for each in tree(pid)
        for package in re.findall(r"/site-packages/([^/.\s]+)\S*\.so", Path(f"/proc/{each}/maps").read_text())
    }


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
        # The server and its worker import something after the first page.
        wait_for(page, lambda: {package for _, package in loaded(process.pid)}, IN_SPARE_TIME.issubset)
        yield page, process
        page.context.close()


def test_the_first_use_of_a_slow_view_loads_nothing(fresh):
    page, process = fresh
    views = {
        "calculation": lambda: choose(page, "view", KO["view_numbers"]),
        "laboratory": lambda: pick(page, "pages", KO["laboratory_page"]),
        "other attention": lambda: choose(page, "experiment", KO["view_replace"]),
        "growing up": lambda: pick(page, "pages", KO["growing_page"]),
        "queries, keys, values": lambda: pick(page, "pages", KO["calculation_page"]),
    }
    shown = {"other attention": ["replace_instead"], "growing up": ["growing_heads", "growing_curves"]}
    for view, open_it in views.items():
        before = loaded(process.pid)
        open_it()
        for name in shown.get(view, []):
            page.wait_for_selector(figure(name))
        settle(page)
        assert loaded(process.pid) - before == set(), view
