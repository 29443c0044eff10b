"""Browser extension in Chromium and Firefox: popup with marked text, its correction."""

import json
import os
import shutil
import time
from urllib.parse import parse_qs, quote

import pytest

from deploy.site.extension import write_extension
from tests.browser.chromium import find_chromium
from tests.browser.firefox import firefox
from tests.browser.site_pages import CORRECTED, static_host
from tests.browser.visit import PATIENCE

MARKED, RIGHT = "친구와 가치 밥을 머거요.", "친구와 같이 밥을 먹어요."
TYPED = "그러면 안되요."
PAGE = f"""<!DOCTYPE html><meta charset="utf-8"><p>{MARKED}</p><textarea>{TYPED}</textarea>
<input type="password" value="안되요"><iframe srcdoc="<p>{TYPED}</p>"></iframe>"""
MARK = "getSelection().selectAllChildren(document.querySelector('p'))"
FIELD = "document.querySelector('textarea').focus() ?? document.querySelector('textarea')"
IS_OPEN = "document.getElementById('status')?.dataset.open === 'yes'"
POPUP = "chrome.extension.getViews({ type: 'popup' })[0]"


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    place = tmp_path_factory.mktemp("extension")
    write_extension(site, place)
    return place


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    place = tmp_path_factory.mktemp("web")
    (place / "page.html").write_text(PAGE, "utf-8")
    with static_host(place) as address:
        yield f"{address}page.html"


@pytest.fixture(scope="module")
def chromium(playwright, folder, web, tmp_path_factory):
    """(a page of the web, a page of the extension).

    A program's press does not grant ``activeTab`` in Chromium, so this copy may read this machine's pages.
    """
    copy = tmp_path_factory.mktemp("chromium") / "extension"
    shutil.copytree(folder, copy)
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    (copy / "manifest.json").write_text(json.dumps(manifest | {"host_permissions": ["http://127.0.0.1/*"]}))
    only = [f"--disable-extensions-except={copy}", f"--load-extension={copy}"]
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    context = playwright.chromium.launch_persistent_context(
        "",
        executable_path=find_chromium(playwright),
        args=["--headless=new", *only, *sandbox],
        ignore_default_args=["--disable-extensions"],
        locale="ko-KR",
    )
    context.set_default_timeout(PATIENCE)
    page, listing = context.new_page(), context.new_page()
    page.goto(web)
    listing.goto("chrome://extensions")
    name = listing.locator("extensions-item").first.get_attribute("id")
    listing.goto(f"chrome-extension://{name}/index.html")
    yield page, listing
    context.close()


def wait_for(page, expression: str) -> None:
    """Until an expression holds. Playwright's own way compiles it in the page, which an extension forbids."""
    end = time.monotonic() + PATIENCE / 1_000
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"still not true: {expression}"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (MARK, MARKED),
        (FIELD + ".setSelectionRange(0, 0)", TYPED),
        (FIELD + ".setSelectionRange(0, 3)", "그러면"),
        ("document.querySelector('input').focus()", ""),  # a password
        (
            "frames[0].getSelection().selectAllChildren(frames[0].document.querySelector('p'))",
            TYPED,
        ),
    ],
)
def test_the_popup_has_the_marked_text(chromium, mark, text):
    page, own = chromium
    page.evaluate("getSelection().removeAllRanges(); document.activeElement.blur()")
    page.evaluate(mark)
    page.bring_to_front()
    own.evaluate("chrome.action.openPopup()")
    shown = f"document.documentElement.dataset.shown === {json.dumps(text)}"
    wait_for(own, f"{POPUP}?.{shown if text else IS_OPEN}")
    assert own.evaluate(f"{POPUP}.site.state.text") == text
    own.evaluate(f"{POPUP}?.close()")


def test_a_correction_is_shown_and_its_network_opens(chromium):
    _, own = chromium
    popup = own.context.new_page()
    asked = []
    own.context.on("request", lambda request: asked.append(request.url))
    popup.goto(own.url.replace("index.html", f"popup.html#text={quote(MARKED)}"))
    wait_for(popup, f"document.documentElement.dataset.shown === {json.dumps(MARKED)}")
    assert popup.evaluate(CORRECTED) == RIGHT
    with own.context.expect_page() as opened:
        popup.locator("#open").click()
    network = opened.value
    wait_for(network, "document.querySelector('.heatmap .plot')?.dataset.drawn > 0")
    assert parse_qs(network.url.partition("#")[2])["text"] == [MARKED]
    assert network.evaluate(CORRECTED) == RIGHT
    assert all(url.startswith(("chrome-extension:", "blob:", "data:")) for url in asked)


def test_firefoxs_own_button_reads_the_tab_and_nothing_else_is_permitted(folder, web, tmp_path):
    assert json.loads((folder / "manifest.json").read_text("utf-8"))["permissions"] == [
        "activeTab",
        "scripting",
    ]
    with firefox(tmp_path / "profile") as page:
        page.install(folder)
        page.goto(web)
        page.evaluate(f"{MARK} ?? true")
        page.evaluate_in_window(PRESSED)
        spec = "[...document.querySelectorAll('browser')].map((each) => each.currentURI?.spec ?? '')"
        end = time.monotonic() + 60
        while not (found := [each for each in page.evaluate_in_window(spec) if "popup.html#" in each]):
            assert time.monotonic() < end, "the popup has no text"
            time.sleep(0.1)
        address, _, state = found[0].partition("#")
        assert parse_qs(state)["text"] == [MARKED]
        page.goto(f"{address}#text={quote(MARKED)}")
        page.wait_for(f"document.documentElement.dataset.shown === {json.dumps(MARKED)}")
        assert page.evaluate(CORRECTED) == RIGHT
        page.goto(address.replace("popup.html", f"index.html#text={quote(MARKED)}"))
        page.wait_for("document.querySelector('.heatmap .plot')?.dataset.drawn > 0")
        assert page.evaluate(CORRECTED) == RIGHT


PRESSED = """(() => {
  const { ExtensionParent } = ChromeUtils.importESModule("resource://gre/modules/ExtensionParent.sys.mjs");
  const extension = ExtensionParent.GlobalManager.getExtension("see-attention@localhost");
  ExtensionParent.apiManager.global.browserActionFor(extension).triggerAction(window);
  return true;
})()"""
