"""The pages beside the main one: their pictures stand in the first screen, and what they say can be read."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visit import settle
from ui.wording import table

HEIGHTS = {1366: 768, 1920: 1080, 390: 844}
FIGURE = ".js-plotly-plot"
DIAGRAM = ".diagram svg"
# page -> (its first picture, whether all of it is in the first screen of a computer)
PICTURES = {
    "heads": (FIGURE, True),
    "calculation": (FIGURE, True),
    "masks": (FIGURE, True),
    "positions": (FIGURE, True),
    "network": (DIAGRAM, False),  # taller than a screen
    "model": (FIGURE, True),
}


def at_size(page: Page, width: int) -> Page:
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    settle(page)
    return page


COVERED = """() => [...document.querySelectorAll(".stHeading")].filter(heading => {
  const text = heading.querySelector("h1, h2, h3").getBoundingClientRect();
  const place = heading.closest(".stElementContainer");
  const next = getComputedStyle(place).clipPath === "none" && place.nextElementSibling;
    // some are put away in a lecture
  return next && next.getBoundingClientRect().top < text.bottom;
}).map(heading => heading.textContent)"""


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("name", PICTURES)
def test_the_picture_is_in_the_first_screen_and_nothing_lies_over_a_heading(look_at, name, language):
    page = look_at(f"{name}?lang={language}", width=1366)
    selector, wholly = PICTURES[name]
    for width, height in HEIGHTS.items():
        box = at_size(page, width).locator(selector).first.bounding_box()
        if width == 390:
            assert box["y"] < 0.75 * height
        elif wholly:
            assert box["y"] + box["height"] <= height
        else:
            assert box["y"] < height / 2
        assert page.evaluate(COVERED) == [], width


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_lies_over_a_heading_in_a_lecture(look_at, name):
    assert look_at(f"{name}?lecture=1", width=1366).evaluate(COVERED) == []


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
    tops = [page.locator(f".st-key-control_{name} label").first.bounding_box()["y"] for name in controls]
    assert abs(tops[0] - tops[1]) <= 1


@pytest.mark.parametrize("name", ["masks?lang=en", "calculation?lang=en"])
def test_no_label_of_a_column_lies_under_the_toolbar(look_at, name):
    page = look_at(name, width=390)
    gaps = page.evaluate(
        """() => [...document.querySelectorAll(".js-plotly-plot")]
          .filter(figure => figure.querySelector(".modebar") && figure.querySelector(".xtick text"))
          .map(figure => Math.min(...[...figure.querySelectorAll(".xtick text, .xtitle")].map(label =>
              label.getBoundingClientRect().top)) -
                figure.querySelector(".modebar").getBoundingClientRect().bottom)"""
    )
    assert gaps
    assert min(gaps) >= 0


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
    figure = page.locator(
        '[class*="st-key-training"] .js-plotly-plot, .st-key-training .js-plotly-plot'
    ).first
    figure.scroll_into_view_if_needed()
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
    refused = words["upload_refused"].format(megabytes=20)
    assert refused not in control.evaluate(said)
    control.locator("input").set_input_files({"name": "a.exe", "mimeType": "", "buffer": b"x"})
    expect(control.locator("[aria-invalid=true]")).to_be_visible()
    assert refused in control.evaluate(said)
