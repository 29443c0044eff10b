"""The pages beside the main one: their pictures stand in the first screen, and what they say can be read."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.boxes import box, outside
from tests.browser.test_sentences import LONG
from ui.wording import table

HEIGHTS = {1366: 768, 1920: 1080, 390: 844}
FIGURE, DIAGRAM = ".js-plotly-plot", ".diagram svg"
PAGES = ("heads", "calculation", "masks", "positions", "network", "model")


COVERED = """() => [...document.querySelectorAll(".stHeading")].filter(heading => {
  const text = heading.querySelector("h1, h2, h3").getBoundingClientRect();
  const place = heading.closest(".stElementContainer");
  const next = getComputedStyle(place).clipPath === "none" && place.nextElementSibling;
    // some are put away in a lecture
  return next && next.getBoundingClientRect().top < text.bottom;
}).map(heading => heading.textContent)"""


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("name", PAGES)
def test_the_picture_is_in_the_first_screen_and_nothing_lies_over_a_heading(look_at, name, language):
    for width, height in HEIGHTS.items():
        page = look_at(f"{name}?lang={language}", width=width, height=height)
        picture = box(page, DIAGRAM if name == "network" else FIGURE)
        if width == 390:
            assert picture.top < 0.75 * height
        elif name == "network":  # taller than a screen
            assert picture.top < height / 2
        else:
            assert picture.bottom <= height
        assert page.evaluate(COVERED) == [], width


@pytest.mark.parametrize("name", PAGES)
def test_nothing_lies_over_a_heading_in_a_lecture(look_at, name):
    assert look_at(f"{name}?lecture=1", width=1366).evaluate(COVERED) == []


STEPS = ("of-candidates", "of-decision", "of-source", "of-self")


@pytest.mark.parametrize(
    ("path", "width", "shown"),
    [
        (
            "growing?",
            1366,
            [f".st-key-{name} .plot" for name in ("growing_heads", "growing_map", "growing_curves")],
        ),
        ("heads?", 1366, [f".st-key-{name} .plot" for name in ("heads_map", "heads_pruning")]),
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
    table = look_at("growing?sentence=나 낼 학교 못갈거같애 감기걸렷어", width=390).locator(
        ".st-key-growing_texts"
    )
    assert table.locator(".numbers").evaluate("table => table.scrollWidth <= table.clientWidth")


@pytest.mark.parametrize(("path", "width"), [("masks?lang=en", 1366), ("masks?lecture=1", 1920)])
def test_the_rows_of_the_three_masks_stand_at_the_same_heights(look_at, path, width):
    page = look_at(path, width=width)
    tops = page.evaluate(
        """() => [...document.querySelectorAll(".js-plotly-plot")].slice(0, 3).map(figure =>
          [...figure.querySelectorAll(".ytick text")]
            .map(label => Math.round(label.getBoundingClientRect().top)))"""
    )
    assert len(tops[0]) > 5
    assert tops[0] == tops[1] == tops[2]


@pytest.mark.parametrize(
    ("path", "controls"),
    [("heads", ("heads_by", "heads_at")), ("laboratory?experiment=fork", ("fork_step", "fork_token"))],
)
def test_labels_in_one_line_stand_at_one_height(look_at, path, controls):
    page = look_at(path, width=1366)
    one, other = (box(page, f".st-key-control_{name} label") for name in controls)
    assert abs(one.top - other.top) <= 1


def test_the_root_sign_is_narrow_so_that_its_bar_does_not_hang_in_the_air(look_at):
    page = look_at("calculation?lang=en")
    wide, narrow = page.evaluate(
        """async () => {
          await document.fonts.load("100px 'Noto Sans KR'", "√가");
          const pen = document.createElement("canvas").getContext("2d");
          pen.font = "100px 'Noto Sans KR'";
          return ["가", "√"].map(sign => pen.measureText(sign).width);
        }"""
    )
    assert narrow < 0.7 * wide


def test_folded_figures_are_as_wide_as_others_once_opened(open_page):
    page = open_page("model?lang=en", width=1366)
    page.get_by_text("Training and its commands", exact=True).click()
    page.locator('[class*="st-key-training"] .js-plotly-plot').first.scroll_into_view_if_needed()
    page.wait_for_function(
        """() => {
          const figures = [...document.querySelectorAll(".js-plotly-plot")];
          const last = figures[figures.length - 1];
          return last.querySelector(".main-svg").getBoundingClientRect().width > 800;
        }"""
    )


@pytest.mark.parametrize(("path", "key"), [("table", "table_file"), ("trace?lang=en", "trace_file")])
def test_the_control_for_files_speaks_the_visitors_language(open_page, path, key):
    words = table("en" if "en" in path else "ko")
    page = open_page(path, width=390)
    control = page.locator(f".st-key-{key}")
    expect(control.get_by_role("button", name=words["upload_choose"])).to_be_visible()
    said = "e => [...e.querySelectorAll('*'), e].map(one => getComputedStyle(one, '::after').content).join()"
    limits = words["upload_limits"].split("·")[0].format(megabytes=20)
    assert limits in control.evaluate(said)
    assert control.locator("button p").first.evaluate("e => getComputedStyle(e).fontSize") == "0px"
    types = {"table_file": "CSV, TXT, XLSX, DOCX, HWPX", "trace_file": "NPZ"}[key]
    refused = words["upload_refused"].format(megabytes=20, types=types)
    assert refused not in control.evaluate(said)
    control.locator("input").set_input_files({"name": "a.exe", "mimeType": "", "buffer": b"x"})
    expect(control.locator("[aria-invalid=true]")).to_be_visible()
    assert refused in control.evaluate(said)


def test_what_an_earlier_file_gave_is_hidden_under_a_refused_one(open_page):
    page = open_page("table")
    control, found = page.locator(".st-key-table_file"), page.locator(".stDataFrame")
    file = {"name": "a.txt", "mimeType": "text/plain", "buffer": "밥을 머거요.".encode()}
    control.locator("input").set_input_files(file)
    expect(found).to_be_visible()
    control.locator("input").set_input_files({"name": "a.pdf", "mimeType": "", "buffer": b"x"})
    expect(control.locator("[aria-invalid=true]")).to_be_visible()
    expect(found).to_be_hidden()
    expect(control.locator("[role=alert]")).to_have_css("visibility", "hidden")  # English alone
