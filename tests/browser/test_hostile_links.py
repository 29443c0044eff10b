"""Links that somebody else has written."""

from urllib.parse import urlencode

from tests.browser.visit import (
    settle,
)
from ui.shell.settings import load_examples

FIRST_EXAMPLE = load_examples()[0].text
HOSTILE = {
    "numbers that are none": "²",
    "numbers out of range": "99999999999999999999",
    "negative numbers": "-1",
    "lists": ",".join(["1"] * 200),  # of all settings together, as long as a server still reads
    "pairs": "9999,9999",
    "markup": "<script>document.title='hacked'</script>**x**{0}{name}",
    "infinities": "nan",
    "a character outside of the first plane and half of one": "🙂\ufeff\u0000",
}


def test_hostile_links_open_without_an_exception(open_page):
    from ui.shell.settings import defaults

    page = open_page()
    for what, value in HOSTILE.items():
        given = {name: value for name in defaults() if name != "lang"}
        for view in ("heatmap", "steps"):
            query = urlencode(given | {"view": view, "model": "transformer", "sentence": FIRST_EXAMPLE})
            page.goto(f"{page.url.partition('?')[0]}?{query}")
            page.wait_for_selector(".corrected")
            settle(page)
            assert page.get_by_test_id("stException").count() == 0, (what, view)
    assert page.title() != "hacked"
