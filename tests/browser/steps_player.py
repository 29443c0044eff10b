"""The step-by-step player in a plain page without Streamlit: it needs its script, its style and the data."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from model.trace.trace import Selection
from tests.browser.site_pages import visiting
from tests.ui.fake_corrector import propose, random_trace
from ui.wording import table
from viz.browser import steps
from viz.browser.steps import steps_data

SOURCE, TARGET = "고갱이 왓다", "고객이 왔다"
STEPS = len(TARGET) + 1
# Nothing in it may look like the end of a script, so "<" is written as JSON can write it.
PAGE = """<!doctype html><html lang="ko"><meta charset="utf-8"><title>steps</title>
<style>body {{ background: {ground} }} {style}</style><main></main>
<script type="module">
  const file = new Blob([{script}], {{ type: "text/javascript" }});
  const {{ default: draw }} = await import(URL.createObjectURL(file));
  window.reports = [];
  window.show = (data) => draw({{
    data,
    parentElement: document.querySelector("main"),
    setStateValue: (name, value) => window.reports.push([name, value]),
    setTriggerValue: (name, value) => window.reports.push([name, value]),
  }});
  window.stop = window.show({data});
</script></html>"""


def data_of(source=SOURCE, target=TARGET, trace=None, language="ko", changes=None, **options) -> dict:
    trace = trace or random_trace(source, target)
    changes = propose(source) if changes is None else changes
    selection = options.pop("selection", Selection("cross_attention"))
    options = {"weights": partial(selection.weights, trace), "place": "2층", "step": 1} | options
    return steps_data(lambda key, /, **v: table(language)[key].format(**v), trace, changes, **options)


def in_script(value: object) -> str:
    return json.dumps(value).replace("<", "\\u003c")


@contextmanager
def player(browser: Browser, folder: Path) -> Iterator[Callable[..., Page]]:
    """Opens the player in a page of its own, with a clock that the test moves."""
    with ExitStack() as after:

        def open_with(data: dict, *, frozen: bool = True, **options) -> Page:
            page = after.enter_context(visiting(browser, **options))
            if frozen:
                page.clock.install(time=0)
            look = {"ground": data["colours"]["sequential"][0], "style": steps.STEPS.css}
            file = folder / "steps.html"
            file.write_text(
                PAGE.format(**look, script=in_script(steps.STEPS.js), data=in_script(data)), "utf-8"
            )
            page.goto(file.as_uri())
            page.wait_for_selector(".steps .cell")
            if frozen:
                page.clock.pause_at(60_000)
            return page

        yield open_with


def reports(page: Page) -> list:
    return page.evaluate("window.reports")


def written(page: Page) -> str:
    return "".join(page.locator(".written .token").all_text_contents())


def position(page: Page, step: int, count: int = STEPS):
    expect(page.locator(".position")).to_have_text(f"{step} / {count}단계")


def button(page: Page, name: str):
    return page.get_by_role("button", name=name, exact=True)
