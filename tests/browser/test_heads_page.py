"""Page of the heads in a browser: links of squares, survey of a file, stable layout."""

import re

from playwright.sync_api import Page, expect

from tests.browser.boxes import Box, box
from tests.browser.visit import (
    choose,
    expect_settings,
    figure,
    place_of_head,
    serious_violations,
    settle,
)
from ui.wording import table

KO = table("ko")
# The mouse comes over one square, goes on to the next and is pressed there, all before Plotly looks again.
HASTE = """([[passedX, passedY], [x, y]]) => {
  const send = (kind, clientX, clientY) =>
    document.elementFromPoint(clientX, clientY).dispatchEvent(
      new MouseEvent(kind, { bubbles: true, clientX, clientY, detail: 1 }));
  send("mousemove", passedX, passedY);
  for (const kind of ["mousemove", "mousedown", "mouseup"]) send(kind, x, y);
}"""


def places(page: Page) -> list[Box]:
    """The boxes of the map and the table."""
    return [box(page, figure("heads_map")), box(page, page.get_by_test_id("stDataFrame"))]


def test_a_square_opens_its_head_and_a_visitors_own_file_is_surveyed_while_one_looks(open_page):
    page = open_page("heads", width=1366, height=768)
    page.evaluate(HASTE, [place_of_head(page, "heads_map", "cross_attention", 0, head) for head in (1, 2)])
    expect(page.locator("h1")).to_have_text(KO["product"])
    expect_settings(page, layer="1", head="3", kind=None)  # None: the page's default
    expect(page.get_by_role("textbox").first).not_to_have_value(re.compile("^$|학꾜에서 국쑤를 머꼬"))
    page.go_back()
    expect(page.locator("h1")).to_have_text(KO["heads_page"])
    settle(page)
    page.locator(".st-key-heads_own button").first.click()
    content = "손니미 왔는데 방이 업써요.\n집에 갈께요.\n이 문장에는 틀린 곳이 없습니다.\n".encode()
    page.locator('.st-key-heads_file input[type="file"]').set_input_files(
        {"name": "class.txt", "mimeType": "text/plain", "buffer": content}
    )
    told = KO["heads_made_file"].split("{")[0]
    expect(page.get_by_text(told).first).to_be_attached()
    page.keyboard.press("Escape")
    settle(page)
    expect(page.locator(figure("heads_map"))).to_be_visible()
    expect(page.locator(figure("heads_pruning"))).to_have_count(0)
    assert serious_violations(page) == []


def test_choosing_other_numbers_moves_nothing(open_page):
    page = open_page("heads?heads_by=next", width=1366, height=768)
    before = places(page)
    choose(page, "heads_at", KO["heads_at_edited"])
    expect_settings(page, heads_at="edited")
    assert places(page) == before
    page = open_page("heads?heads_by=effect", width=1366, height=768, on=page)
    assert places(page) == before
