"""Network diagram in a browser: links by mouse and keyboard, a phone, the saved file."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.visit import expect_settings, settings
from ui.components.diagram import SCRIPT, Column, DiagramPart, diagram_data
from ui.wording import spoken, table


def test_its_parts_lead_on_by_mouse_and_keyboard_and_keep_the_sentence(open_page):
    page = open_page("network?lang=en&sentence=%EA%B3%A0%EA%B0%B1&layer=1")
    title = page.locator("h1")
    for part, name in (("Mask: look-ahead", "masks"), ("+ positional", "positions")):
        page.get_by_role("link", name=part).first.click()
        expect(title).to_have_text(table("en")[f"{name}_page"])
        page.go_back()
        expect(title).to_have_text(table("en")["network_page"])
    page.get_by_role("link", name="Attention ② decoder").click()
    expect(title).to_have_text(table("en")["product"])
    expect_settings(page, kind="decoder_attention")
    assert settings(page) == {"lang": "en", "sentence": "고갱", "kind": "decoder_attention", "layer": "1"}
    expect(page.locator(".st-key-map_choice button").first).to_contain_text("Decoder · layer 1")
    page.go_back()
    rows = page.get_by_role("button", name="Layer 2")
    expect(rows).to_have_count(2)
    expect(rows.first).to_have_attribute("aria-expanded", "false")
    rows.first.focus()
    page.keyboard.press("Enter")
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    expect(rows.first).to_be_focused()
    expect(page.get_by_role("button", name="Layer 1").first).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Tab")  # to the attention that has come into view
    page.keyboard.press(" ")
    expect(title).to_have_text(table("en")["product"])
    expect_settings(page, layer="2")


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_names_of_masks_are_written_out(look_at, language):
    page = look_at(f"network?lang={language}", width=1366)
    for mask in ("padding", "look_ahead"):
        name = table(language)[f"network_mask_{mask}"]
        expect(page.locator("svg.wide text").get_by_text(name, exact=True).first).to_be_visible()


@pytest.mark.parametrize("model", ["transformer", "seq2seq"])
def test_no_word_leaves_its_box_on_a_phone(look_at, model):
    page = look_at(f"network?lang=en&model={model}", width=390)
    expect(page.locator("svg.narrow")).to_be_visible()
    outside = page.locator("svg.narrow").evaluate(
        """svg => [...svg.querySelectorAll("g")].filter(group => {
          const place = group.querySelector("rect").getBBox();
          return [...group.querySelectorAll("text")].some(text => {
            const box = text.getBBox();
            return box.x < place.x || box.x + box.width > place.x + place.width;
          });
        }).map(group => group.textContent)"""
    )
    assert outside == []


def test_the_drawing_can_be_saved_with_what_was_typed(look_at):
    page = look_at("network?lang=en&sentence=%EA%B3%A0%EA%B0%B1")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as SVG").click()
    assert saved.value.suggested_filename == "network.svg"
    assert "Typed: 고갱" in Path(saved.value.path()).read_text("utf-8")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as PNG").click()
    assert Path(saved.value.path()).read_bytes().startswith(b"\x89PNG")


def test_without_streamlit_it_is_drawn_and_leads_nowhere(browser):
    page = browser.new_page(viewport={"width": 800, "height": 600})
    page.set_content("<main></main>")
    part = DiagramPart("text", "<b>", detail="(S) = (3)", leads_to="sentence", spoken="leads")
    column = Column("Encoder", (part,))
    data = spoken("en")(diagram_data)(column, column, label="all")
    page.evaluate(
        """async ([script, data]) => {
          const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
          (await import(url)).default({ data, parentElement: document.querySelector("main") });
        }""",
        [SCRIPT.js, data],
    )
    assert "<b>" in page.locator("svg text").all_text_contents()
    expect(page.locator("[data-part]")).to_have_count(0)
    page.close()
