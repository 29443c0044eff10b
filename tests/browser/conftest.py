"""Fixtures of the browser tests: a server with the shipped model, Chromium, the site."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest
from playwright.sync_api import Browser, Page, WebSocket, sync_playwright
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.chromium import launched
from tests.browser.site_pages import is_open, static_host, visiting
from tests.browser.visit import PATIENCE, LateAnswers, note_elsewhere, settle
from tests.serving import serving


def pytest_collection_modifyitems(items):
    """Everything here needs a browser: ``pytest -m "not browser"`` does without."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server():
    """The address of `streamlit run app.py`, started once; or $APP_ADDRESS, where one runs already."""
    if address := os.environ.get("APP_ADDRESS"):
        yield address
        return
    with serving() as address:
        yield address


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    browser = launched(playwright)
    yield browser
    browser.close()


HALF_SURE = (
    "도서관에 가치 가고 시퍼요",
    "친구하고 가치 바다에 가고 시퍼요",
    "내일은 집에서 푹 쉴꺼에요 그리고 갈께요",
    "어제 산 컵이 깨젔는데 어떻게 하면 조을까요",
    "그 사람을 만난지 오래되서 얼굴이 잘 기억 안나요",
    "여기는 사람이 너무 만아서 발디딜 틈도 업네요",
    "문이 다쳐서 손가락을 다쳤는데 정말 아파써요",
    "할머니가 끌여 주신 된장찌게가 제일 마싯어요",
    "오늘은 날싸가 맑라서 잠깐 쉬엇어요",
    "비가 올런지 모르겟네",
    "밤을 새서 일햇더니 너무 피곤하다",
    "꽃이 피여서 예뻣어요",
    "나무가지를 꺽어서 불을 피웟어요",
    "아침해살이 눈부셔서 눈을 감앗어요",
    "장마비가 와서 우산을 썻어요",
    "만두국을 먹으니 배가 불럿어요",
    "비술을 배워써요",
    "룬을 새긴 돌이 업서요",
)


@pytest.fixture(scope="session")
def half_sure(corrector) -> str:
    """A sentence in which the network is sure of the last change, and too unsure of an earlier one to make
    it. Which one it is depends on the weights, so it is looked for.
    """
    for text in HALF_SURE:
        (sentence,) = corrector.correct(text).sentences
        made = {change.source_start for change in sentence.changes}
        *earlier, last = [each.source_start in made for each in sentence.proposed] or [False]
        undone = [each for each in sentence.proposed if each.source_start not in made]
        if last and not all(earlier) and all(each.is_offered for each in undone):
            return text
    raise AssertionError(f"the network is sure, or unsure, of all of {HALF_SURE}")


class Pages:
    """The pages of visitors who prefer light and of those who prefer dark.

    A page that a test has left goes to the next one: a new one would compile the app's scripts again, which
    takes more of a processor's time than most tests.
    """

    def __init__(self, browser: Browser):
        self._browser = browser
        # Streamlit's placeholders move in each frame while a page loads: a third of the processor's time that
        # it takes to open one.
        self._contexts = {
            colour: browser.new_context(color_scheme=colour, reduced_motion="reduce")
            for colour in ("light", "dark")
        }
        for context in self._contexts.values():  # the line of welcome would lie over buttons
            context.add_init_script("try { localStorage.setItem('attentionWelcomed', '1') } catch {}")
        self._left: dict[str, list[Page]] = {colour: [] for colour in self._contexts}

    def take(self, colour: str) -> Page:
        return self._left[colour].pop() if self._left[colour] else self.new(colour)

    def new(self, colour: str) -> Page:
        return self._contexts[colour].new_page()

    def strangers(self) -> Page:
        """A page in a browser that has never been here."""
        return self._browser.new_context().new_page()

    def give_back(self, page: Page, colour: str) -> None:
        """Leave ``page`` as a new one would be."""
        if page.is_closed():
            return
        page.mouse.move(0, 0)
        page.emulate_media(media="null", color_scheme=colour)  # a page on paper shows no bar, so no heading
        page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.shown = None
        self._left[colour].append(page)


@pytest.fixture(scope="session")
def pages(browser):
    return Pages(browser)


@contextmanager
def visitors(server: str, pages: Pages) -> Iterator[Callable[..., Page]]:
    """Takes pages of one colour and listens to them.

    At the end, an error in one of their scripts that nothing caught is raised.
    """
    with ExitStack() as after:
        errors = []

        def take(colour: str, late: LateAnswers | None = None) -> Page:
            if late:  # nothing takes a page's socket from it again
                page = pages.new(colour)
                page.route_web_socket("**/_stcore/stream", late.stand_between)
                after.callback(page.close)
            else:
                page = pages.take(colour)
                after.callback(pages.give_back, page, colour)
            page.requested_elsewhere = []

            def connected(socket: WebSocket) -> None:
                page.socket = socket
                note_elsewhere(page, socket.url, server.replace("http", "ws"))

            listeners = {
                "pageerror": lambda error: errors.append(str(error)),
                "request": lambda request: note_elsewhere(page, request.url, server),
                "websocket": connected,
            }
            for event, listener in listeners.items():
                page.on(event, listener)
                after.callback(page.remove_listener, event, listener)
            page.set_default_timeout(PATIENCE)
            return page

        yield take
    assert errors == []


# Follows a link as Back and Forward do: the app stays loaded.
FOLLOW = """address => {
  history.pushState({}, "", address);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""


def ends_a_run(message: str | bytes) -> bool:
    """Whether a message of the server says that the whole page has run."""
    said = ForwardMsg.FromString(message)
    return said.HasField("script_finished") and said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY


def kept(address: str) -> tuple[str, str, str]:
    """The page of an address and the visitor's settings, which following another link does not change."""
    place, _, query = address.partition("?")
    given = dict(parse_qsl(query))
    return place, given.get("lang", "ko"), given.get("lecture", "")


def go(page: Page, address: str, width: int, height: int) -> Page:
    """Open another address of the page that is open without loading the app again: that would take most of a
    test's time. The address that is open already is loaded anew, as a copied link is.
    """
    page.bring_to_front()  # a browser gives little time to hidden pages
    page.set_viewport_size({"width": width, "height": height})
    lecture = kept(address)[2]
    here = (*kept(page.url)[:2], getattr(page, "lecture", None))
    if here == kept(address) and unquote(page.url) != unquote(address):
        with page.socket.expect_event("framereceived", ends_a_run):
            page.evaluate(FOLLOW, address)
    else:
        page.evaluate("try { sessionStorage.clear() } catch {}")
        page.context.clear_cookies()  # lecture mode and a class stay in a browser
        page.goto(address)
        page.wait_for_selector("h1")
    page.lecture = lecture
    settle(page)
    return page


@pytest.fixture
def open_page(server, pages):
    """Opens the app: ``open_page("?lang=en", width=390)``. The page remembers its requests to other servers.

    An error in one of its scripts that nothing caught fails the test. ``late`` answers of the server wait
    where the test says so. The next address of a test is opened ``on`` the page of its last one.
    """
    with visitors(server, pages) as take:

        def open_at(
            path: str = "",
            *,
            width: int = 1280,
            height: int = 900,
            colour: str = "light",
            late: LateAnswers | None = None,
            on: Page | None = None,
        ) -> Page:
            return go(on or take(colour, late), f"{server}/{path}", width, height)

        yield open_at


LOOKED_AT = 4  # pages; each further one would compile the app's scripts again


@pytest.fixture(scope="module")
def look_at(server, pages):
    """``open_page`` for tests that only look: ``look_at("?lang=en", width=390)``.

    A page stays open for the file's next tests that look at it. They give it their size, as a visitor does
    who turns a phone or makes the window narrower.
    """
    with visitors(server, pages) as take:
        open_at: dict[tuple[str, ...], Page] = {}

        def look(path: str = "", *, width: int = 1280, height: int = 900) -> Page:
            address = f"{server}/{path}"
            of = kept(address)
            if of not in open_at:
                page = take("light") if len(open_at) < LOOKED_AT else open_at.pop(next(iter(open_at)))
            else:
                page = open_at.pop(of)
                page.mouse.move(0, 0)
            open_at[of] = page
            if getattr(page, "shown", None) != path:
                go(page, address, width, height)
            page.shown = path
            page.bring_to_front()
            page.set_viewport_size({"width": width, "height": height})
            page.locator(".stMain").evaluate("main => main.scrollTo(0, 0)")
            settle(page)
            return page

        yield look


@pytest.fixture(scope="session")
def site():
    """``deploy.site`` of the shipped model, made once."""
    from deploy.site import build

    return build.make()


@pytest.fixture(scope="session")
def light():
    """The shipped model without the analyser that the site leaves behind."""
    from deploy.site.packed import light_corrector
    from model.stored.folder import DEFAULT_MODEL

    return light_corrector(DEFAULT_MODEL)


@pytest.fixture(scope="session")
def site_host(site, tmp_path_factory):
    """The address of the site on a static host."""
    from deploy.site import build

    folder = tmp_path_factory.mktemp("site")
    build.write_folder(site, folder)
    with static_host(folder) as address:
        yield address


@pytest.fixture(scope="session")
def site_file(site, tmp_path_factory):
    """The site as one file."""
    from deploy.site import build

    path = tmp_path_factory.mktemp("file") / "한 파일.html"
    path.write_bytes(build.page(site.content, site.parts, alone=True))
    return path


@pytest.fixture(scope="session")
def open_site(browser, site_host):
    """One page of the site for most tests, since opening the network takes longer than asking it."""
    with visiting(browser, site_host) as page:
        is_open(page)
        yield page


@pytest.fixture
def site_pages(browser, site_host):
    """Opens the site: ``site_pages("#text=…", width=390)``, in a browser that has not been there before."""
    with ExitStack() as after:
        yield lambda fragment="", address=site_host, **context: after.enter_context(
            visiting(browser, f"{address}{fragment}", **context)
        )


@pytest.fixture(scope="session")
def corrector():
    """The same shipped model, loaded beside the server as a notebook would."""
    from model import Corrector

    return Corrector.load()
