"""Layout of the pages beside the main one, and their control for uploading a file."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box, outside
from tests.browser.test_sentences import LONG
from tests.browser.visit import wait_for
from ui.wording import table


def expect_controls_in_line(page: Page, *controls: str) -> None:
    """They begin where their row does."""
    row = page.get_by_test_id("stHorizontalBlock").filter(has=page.locator(f".st-key-control_{controls[0]}"))
    for name in controls:
        assert abs(box(page, f".st-key-control_{name} label").top - box(page, row.last).top) <= 4, name


def expect_rows_in_line(page: Page) -> None:
    """Those of the three masks."""
    tops = page.evaluate(
        """() => [...document.querySelectorAll(".js-plotly-plot")].slice(0, 3).map(figure =>
          [...figure.querySelectorAll(".ytick text")]
            .map(label => Math.round(label.getBoundingClientRect().top)))"""
    )
    assert len(tops[0]) > 5
    assert tops[0] == tops[1] == tops[2]


def test_labels_in_one_line_stand_at_one_height(look_at):
    expect_controls_in_line(look_at("laboratory?experiment=fork", width=1366), "fork_step", "fork_token")


SNAPSHOTS = "growing?sentence=나 낼 학교 못갈거같애 감기걸렷어"
STEPS = ("of-candidates", "of-decision", "of-source", "of-self")


@pytest.mark.parametrize(
    ("path", "width", "shown"),
    [
        (SNAPSHOTS, 1366, [f".st-key-growing_{part} .plot" for part in ("heads", "map", "curves")]),
        *(
            (f"?lecture=1&view=steps&{urlencode(asked)}", width, [f".steps .{part}" for part in STEPS])
            for asked in (
                {"sentence": "학꾜에서 국쑤를 머꼬 집까지 거러갔어요.", "step": "2"},
                {"sentence": LONG, "step": "2"},
                {"sentence": LONG, "edit": "4", "lang": "en"},  # with the question whether it is changed
            )
            for width in (1366, 1024)
        ),
    ],
)
def test_one_look_takes_in_every_picture_and_all_parts_of_a_step(look_at, path, width, shown):
    assert outside(look_at(path, width=width, height=768), *shown) == []


def test_a_phone_shows_the_whole_texts_of_the_snapshots(look_at):
    numbers = look_at(SNAPSHOTS, width=390).locator(".st-key-growing_texts .numbers")
    assert numbers.evaluate("table => table.scrollWidth <= table.clientWidth")


@pytest.mark.parametrize(("path", "key"), [("table", "table_file"), ("trace?lang=en", "trace_file")])
def test_the_control_for_files_speaks_the_visitors_language_and_refuses_files(open_page, path, key):
    words = table("en" if "en" in path else "ko")
    page = open_page(path, width=390)
    control = page.locator(f".st-key-{key}")
    expect(control.get_by_role("button", name=words["upload_choose"])).to_be_visible()
    said = "e => [...e.querySelectorAll('*'), e].map(one => getComputedStyle(one, '::after').content).join()"
    limits = words["upload_limits"].split("·")[0].format(megabytes=20)
    assert limits in control.evaluate(said)
    expect(control.locator("button p").first).to_have_css("font-size", "0px")
    types = {"table_file": "CSV, TXT, XLSX, DOCX, HWPX", "trace_file": "NPZ"}[key]
    refused = words["upload_refused"].format(megabytes=20, types=types)
    assert refused not in control.evaluate(said)
    found, invalid = page.locator(".stDataFrame"), control.locator("[aria-invalid=true]")
    if path == "table":
        file = {"name": "a.txt", "mimeType": "text/plain", "buffer": "밥을 머거요.".encode()}
        control.locator("input").set_input_files(file)
        expect(found).to_be_visible()
    control.locator("input").set_input_files({"name": "a.exe", "mimeType": "", "buffer": b"x"})
    expect(invalid).to_be_visible()
    wait_for(page, lambda: control.evaluate(said), lambda text: refused in text)
    expect(found.first).to_be_hidden()  # the result of an earlier file
    expect(control.locator("[role=alert]")).to_have_css("visibility", "hidden")  # English alone
