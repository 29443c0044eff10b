"""Helpers of tests of the static site: a static host, visits, and a page's corrections."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from playwright.sync_api import Browser, Page, expect

from tests.browser.visit import PATIENCE

# A script: the corrected text of the site, without the typed words.
CORRECTED = """(() => {
  const line = document.getElementById("correction").shadowRoot.querySelector(".corrected").cloneNode(true);
  line.querySelectorAll("del, .offer, .sentence").forEach((part) => part.remove());
  return line.textContent;
})()"""

# Asks the worker of an open page, one text after the other.
ASK = """async (wanted) => {
  const { worker } = window.site;
  const usual = worker.onmessage;
  const plain = ({ trace, ...rest }) => {
    const attention = trace && Object.fromEntries(Object.entries(trace.attention).map(
      ([kind, { values, shape }]) => [kind, { values: wanted.length > 9 ? [] : Array.from(values), shape }]));
    const restored = Array.from(rest.text, (character) => rest.substitutes[character] ?? character).join("");
    return { ...rest, text: restored, trace: trace && { ...trace, attention } };
  };
  const found = [];
  for (const each of wanted)
    found.push(await new Promise((done, fail) => {
      worker.onmessage = ({ data }) => (data.error ? fail(new Error(data.error)) : done(plain(data.found)));
      worker.postMessage(each);
    }));
  worker.onmessage = usual;
  return found;
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        pass


class _Isolated(_Quiet):
    """Its pages share a process with no other site's, so that a browser lets them measure their memory."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@contextmanager
def static_host(folder: Path, *, isolated: bool = False) -> Iterator[str]:
    """The address of a host that serves files and does nothing else."""
    answers = partial(_Isolated if isolated else _Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@contextmanager
def visiting(
    browser: Browser, address: str = "about:blank", *, width: int = 1280, height: int = 900, **context
) -> Iterator[Page]:
    """A page in a browser that has nothing in its cache. It remembers its complaints and requests.

    ``offline=True`` is a page without a network.
    """
    fresh = browser.new_context(viewport={"width": width, "height": height}, **{"locale": "ko-KR"} | context)
    page = fresh.new_page()
    page.set_default_timeout(PATIENCE)
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    fresh.on("request", lambda request: page.requests.append(request.url))
    page.goto(address)
    yield page
    fresh.close()


def is_open(page: Page) -> None:
    """Wait until the network answers."""
    expect(page.locator("#status")).to_have_attribute("data-open", "yes", timeout=PATIENCE)


def shows(page: Page, text: str) -> None:
    """Wait until the correction of ``text`` and its heatmap are shown."""
    page.wait_for_function("(text) => document.documentElement.dataset.shown === text", arg=text)
    page.wait_for_function(
        "() => { const plot = document.querySelector('.heatmap .plot');"
        " return plot?.plot && plot.dataset.drawn === String(plot.plot.turn); }"
    )


def corrected(page: Page) -> str:
    """The corrected text, without the typed words."""
    return page.locator("#correction").evaluate(
        """(place) => {
          const line = place.shadowRoot.querySelector(".corrected").cloneNode(true);
          line.querySelectorAll("del, .offer, .sentence").forEach((part) => part.remove());
          return line.textContent;
        }"""
    )


def answers(page: Page, texts: list) -> list[dict]:
    """The worker's answers to texts, or to questions with decisions; up to nine come with attention."""
    return page.evaluate(ASK, [{"text": each} if isinstance(each, str) else each for each in texts])
