"""Helpers of browser tests: wait for a page, use its controls, read its figures."""

import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlparse

import numpy as np
from axe_playwright_python.base import AXE_SCRIPT
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, WebSocketRoute, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

Found = TypeVar("Found")
PATIENCE = 120_000  # milliseconds; the first page waits for TensorFlow, on a busy machine for long

expect.set_options(timeout=PATIENCE)


def note_elsewhere(page: Page, url: str, server: str) -> None:
    if not url.startswith((f"{server}/", "data:", "blob:")):
        page.requested_elsewhere.append(url)


# Whether the model is ready, no script runs, and the browser has drawn the last one's output, all of it for
# some milliseconds and frames: a run may end with the message that the model is on its way, a press in the
# text ends a run of it and begins one of the page, and a resized window reaches its figures in the next
# frame. Each figure counts its requests to draw; ``drawn`` is the number of the last one finished, and
# ``drawnFor`` begins with the width that it was drawn for.
RESTS = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  const rests = app?.dataset.testScriptState === "notRunning"
    && !document.querySelector('[data-testid="stProgress"], [data-testid="stSkeleton"]')
    && [...document.querySelectorAll('[data-testid="stBidiComponentRegular"]')].every(place => {
      const root = place.querySelector(".plot");
      return root?.plot && root.dataset.drawn === String(root.plot.turn)
        && (!root.clientWidth || parseInt(root.plot.drawnFor) === root.clientWidth);
    });
  if (!rests) return (window.rested = null);
  window.rested ??= { since: performance.now(), frames: 0 };
  window.rested.frames += 1;
  return window.rested.frames > 2 && performance.now() - window.rested.since > 30;
}"""


def settle(page: Page) -> None:
    """Wait until the page rests.

    The page itself checks in each frame: ``expect`` checks once a second, and describes the whole page to
    Playwright after each check in vain.
    """
    page.evaluate("window.rested = null")
    page.wait_for_function(RESTS)


def wait_for(page: Page, read: Callable[[], Found], holds: Callable[[Found], object] = bool) -> Found:
    """The value of ``read`` once it ``holds``: for parts that may be drawn anew in this moment, or come late.

    Fails with the last value.
    """
    deadline = time.monotonic() + PATIENCE / 1000
    while not holds(found := read()) and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert holds(found), found
    return found


def wait_until(page: Page, read: Callable[[], object], wanted: object) -> None:
    """Wait until ``read`` returns ``wanted``."""
    wait_for(page, read, lambda found: found == wanted)


def settings(page: Page) -> dict[str, str]:
    """The settings of the view in the address bar."""
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def expect_settings(page: Page, **wanted: str | None) -> None:
    """Wait until the address bar says so, and the page has been drawn anew; None for absent settings."""
    wait_until(page, lambda: {name: settings(page).get(name) for name in wanted}, wanted)
    settle(page)


class LateAnswers:
    """A relay between a page and the server; the server's messages wait from ``hold`` to ``release``."""

    def __init__(self):
        self.asked: list[BackMsg] = []  # all messages of the page
        self.answered: list[ForwardMsg] = []  # all messages of the server
        self._held: list | None = None
        self._text = ""  # the part of the page with the text

    def stand_between(self, page: WebSocketRoute) -> None:
        self._page, self._server = page, page.connect_to_server()
        page.on_message(self._ask)
        self._server.on_message(self._answer)

    def hold(self) -> None:
        self._held = []

    def runs(self) -> int:
        """How many runs of the page, or of its text, the server has ended that the page has not heard of."""
        return sum(map(self._ends_a_run, self._held or ()))

    def release_a_run(self) -> None:
        """Let the page hear of the first such run that waits, and of nothing after it."""
        ended = False
        while not ended:
            ended = self._ends_a_run(self._held[0])
            self._page.send(self._held.pop(0))

    def release(self) -> None:
        while self._held:  # more may arrive meanwhile, and has to stay behind
            self._page.send(self._held.pop(0))
        self._held = None

    def _ends_a_run(self, message: bytes) -> bool:
        said = ForwardMsg.FromString(message)
        if said.WhichOneof("type") != "script_finished":
            return False
        return said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY or (
            said.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
            and self._text in said.metadata.run.fragment_ids
        )

    def _ask(self, message: bytes) -> None:
        self.asked.append(BackMsg.FromString(message))
        self._server.send(message)

    def _answer(self, message: str | bytes) -> None:
        said = ForwardMsg.FromString(message)
        self.answered.append(said)
        if said.delta.new_element.bidi_component.component_name.endswith("live_text"):
            self._text = said.delta.fragment_id
        if self._held is None:
            self._page.send(message)
        else:
            self._held.append(message)


# Of elements that hold text: the words of Hangul that break into two lines.
BROKEN_WORDS = """holders => holders.filter(each => each.getBoundingClientRect().width > 2)
    .flatMap(holder => {
  const found = [];
  for (const text of [...holder.childNodes].filter(node => node.nodeType === Node.TEXT_NODE))
    for (const word of text.data.matchAll(/[가-힣]+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const rows = [...range.getClientRects()].filter(row => row.width > 0.5).map(row => Math.round(row.top));
      if (new Set(rows).size > 1) found.push(word[0]);
    }
  return found;
})"""


def serious_violations(page: Page) -> list[tuple[str, list[str]]]:
    """Of the rules for accessible pages: their names, and the elements that break them."""
    # Passed rules are not listed: that takes half the time. Half of the rest would go into reading the script
    # again.
    script = "" if page.evaluate("'axe' in window") else AXE_SCRIPT
    found = Axe(script).run(page, options={"resultTypes": ["violations"]})
    return [
        (violation["id"], [node["html"][:200] for node in violation["nodes"]])
        for violation in found.response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]


_WITHOUT_A_TABLE = """() => [...document.querySelectorAll(".plot")].map(root => {
  if (!root.clientWidth) return null;
  const plot = root.plot, map = plot.canvas._fullData?.find(trace => trace.type === "heatmap");
  if (!map && plot.cells.hidden) return null;
  if (plot.asTable.hidden) return `${plot.data.label}: no button`;
  plot.asTable.click();
  const table = root.querySelector("dialog table");
  const names = [...table.querySelectorAll("th")].map(each => each.innerText);
  const rows = [...table.tBodies[0].rows].map(row => row.cells.length - 1);
  table.closest("dialog").close();
  const { rows: all, columns, side } = plot.stops();
  const count = [...Array(all).keys()].filter(side).length; // a gap has no name
  return rows.length === count && rows.every(cells => cells === columns) && names.every(Boolean)
    ? null : `${plot.data.label}: ${rows} of ${count} x ${columns}, ${names}`;
}).filter(Boolean)"""


def pictures_without_a_table(page: Page) -> list[str]:
    """The pictures with cells whose button opens no table of all their cells, with names for each."""
    return page.evaluate(_WITHOUT_A_TABLE)


# --- the controls of the main page ---


def text_area(page: Page) -> Locator:
    return page.locator(".st-key-live_text textarea")


def choose(page: Page, name: str, option: str) -> None:
    """Press one option of the segmented control ``name``; that of a map is in a menu, which closes again."""
    control, menu = page.locator(f".st-key-control_{name}"), page.locator(".st-key-map_choice button")
    if name in ("kind", "layer", "head") and menu.count():
        menu.first.click()
        control.get_by_role("radio", name=option, exact=True).click()
        page.keyboard.press("Escape")
        expect(control).to_have_count(0)
        return
    page.locator(f".st-key-control_{name}").get_by_role("radio", name=option, exact=True).click()


def pick(page: Page, menu: str, item: str) -> None:
    """Choose from a menu of the top line: ``pages``, ``language`` or ``examples``."""
    page.locator(f".st-key-{menu} button").click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def toggle(page: Page, popover: str) -> None:
    """Open or close ``settings``, ``view_options`` or ``taking``."""
    page.locator(f".st-key-{popover} button").first.click()


def changed_words(page: Page) -> Locator:
    """The buttons of the corrected text for changes made."""
    return page.locator(".corrected .change")


def offered_words(page: Page) -> Locator:
    """The buttons of the corrected text for changes of which the network was not sure enough."""
    return page.locator(".corrected .offer")


def expect_corrected(page: Page, typed: str, corrected: str) -> None:
    """Wait until the corrected text shows both the typed and the corrected words."""

    def read() -> list[str]:
        return page.locator(".corrected").evaluate_all(
            """([line]) => ["ins", "del"].map(other => {
              const copy = line?.cloneNode(true);
              copy?.querySelectorAll(`${other}, .offer, .sentence`).forEach(part => part.remove());
              return copy?.textContent;
            })"""
        )

    wait_until(page, read, [typed, corrected])


# --- figures ---


def figure(name: str) -> str:
    """Where the figure ``name`` is, as a selector."""
    return f".st-key-{name} .js-plotly-plot"


def of_figure(page: Page, place: str, read: str, given: Any = None) -> Any:
    """The value of the JavaScript ``read`` over a figure at a selector and ``given``, once it is drawn."""
    # Read at the same moment: while a page changes, a figure may be gone again right after it was seen.
    found = page.wait_for_function(
        f"""([place, given]) => {{
          const figure = document.querySelector(place);
          return figure?._fullData?.length && {{ read: ({read})(figure, given) }};
        }}""",
        arg=[place, given],
    )
    return found.json_value()["read"]


def cell(page: Page, query: int, key: int, name: str = "heatmap") -> tuple[float, float]:
    """Where on the screen the cell of a query and a key is, both counted from 0."""
    return place_of(page, key + 1, query + 1, name)


def tile(page: Page, layer: int, head: int) -> tuple[float, float]:
    """Where on the screen a head's tile of the overview is, both counted from 0."""
    return place_of_head(page, "overview", layer, head)


def place_of_head(page: Page, name: str, *head: object) -> tuple[float, float]:
    """Where on the screen the mark of a head is in the figure ``name``."""
    x, y = of_figure(
        page,
        figure(name),
        """(figure, head) => {
          const marks = figure._fullData.find(trace => trace.customdata);
          const at = marks.customdata.findIndex(each => each.slice(0, head.length).join() === head.join());
          return [marks.x[at], marks.y[at]];
        }""",
        head,
    )
    return place_of(page, x, y, name)


def place_of(page: Page, x: float, y: float, name: str) -> tuple[float, float]:
    """A point of a figure's axes in pixels of the window; the page scrolls to the figure where it must."""
    page.locator(figure(name)).scroll_into_view_if_needed()
    return of_figure(
        page,
        figure(name),
        """(figure, [x, y]) => {
          const { xaxis, yaxis } = figure._fullLayout, box = figure.getBoundingClientRect();
          return [box.x + xaxis._offset + xaxis.l2p(x), box.y + yaxis._offset + yaxis.l2p(y)];
        }""",
        [x, y],
    )


def click(page: Page, place: tuple[float, float]) -> None:
    """Press a place of a figure."""
    page.mouse.move(place[0] - 3, place[1] - 3)
    page.mouse.click(*place)


# figure -> the values of its first trace, row by row. A mosaic's are painted beneath the figure
# (viz/browser/plot_cells.js), which holds none.
CELLS = """figure => {
  const { z } = figure.parentElement.plot.at.figure.data[0];
  if (z.dtype !== "u1") return Array.from(figure._fullData[0].z, row => Array.from(row));
  const [rows, columns] = z.shape.split(",").map(Number);
  const bytes = Array.from(atob(z.bdata), each => each.charCodeAt(0));
  return Array.from({ length: rows }, (_, row) => bytes.slice(row * columns, (row + 1) * columns));
}"""


def heatmap(page: Page, place: str = figure("heatmap")) -> np.ndarray:
    """The values (Q, K) that a figure at a selector holds in the browser."""
    return np.array(of_figure(page, place, CELLS), dtype=np.float32)


def expect_heatmap(
    page: Page, expected: np.ndarray, place: str = figure("heatmap"), atol: float = 1e-5
) -> None:
    """Wait until a figure holds ``expected`` (Q, K)."""
    are_close = lambda shown: shown.shape == expected.shape and np.allclose(shown, expected, atol=atol)
    wait_for(page, lambda: heatmap(page, place), are_close)
