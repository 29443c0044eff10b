"""The views that follow an answer through the network: who wrote it, when it was decided, and the experiments
that test it.
"""

import json
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import FOLLOWED
from tests.browser.visit import choose, expect_settings, figure, pick, settings, settle, wait_until
from ui.wording import table

SIZES = ((1366, 768), (390, 844))


@pytest.fixture
def open_at(open_page):
    def open_view(page: str, name: str, **chosen: str) -> Page:
        setting = "experiment" if page else "view"
        query = urlencode({"sentence": FOLLOWED, "edit": "1", setting: name} | chosen)
        return open_page(f"{page}?{query}", colour="dark", width=1366, height=768)

    return open_view


@pytest.fixture
def asked(answer):
    """What the library says to the questions of the views, by name."""
    return answer[1]


def of_figure(page: Page, name: str, read: str):
    """What the browser's figure ``name`` says: ``read`` is JavaScript about its data ``d``."""
    return page.locator(figure(name)).evaluate(f"figure => {{ const d = figure._fullData; return {read}; }}")


def bars(page: Page, name: str) -> list[float]:
    return of_figure(page, name, "Array.from(d[0].x)")


def expect_inside(page: Page, *selectors: str, beyond: int = 1) -> None:
    """Nothing that is found is wider than the window, on a computer and on a phone; figures may end so many
    pixels ``beyond`` it.
    """
    for width, height in SIZES[::-1]:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        for selector in selectors:
            for place in page.locator(selector).all():
                box = place.bounding_box()
                assert box["x"] >= 0 and box["x"] + box["width"] <= width + beyond, (selector, width)


def test_who_wrote_it(open_at, asked):
    written = asked("who wrote it")
    page = open_at("", "wrote")
    shown = bars(page, "wrote")
    assert sum(shown[:-1]) == pytest.approx(shown[-1], abs=1e-3)
    assert shown[-1] == pytest.approx(written.score[written.changes[0]], abs=1e-2)
    expect_inside(page, figure("wrote"))
    tops = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        tops.append(page.locator(figure("wrote")).bounding_box()["y"])
    choose(page, "wrote_as", table("ko")["wrote_as_map"])
    expect_settings(page, wrote_as="map")
    for (width, height), top in zip(SIZES[::-1], tops[::-1], strict=True):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        assert page.locator(figure("wrote_map")).bounding_box()["y"] == pytest.approx(top, abs=1)


def test_when_it_was_decided(open_at, asked):
    decided = asked("when decided")
    page = open_at("", "decided")
    shown = np.array(of_figure(page, "decided_grid", "Array.from(d[0].z, row => Array.from(row))"))
    np.testing.assert_allclose(shown, decided.probabilities[..., 0], atol=1e-3)
    for how in ("curve", "jamo"):
        choose(page, "decided_as", table("ko")[f"decided_as_{how}"])
        expect_settings(page, decided_as=how)
        expect_inside(page, figure(f"decided_{how}"))


def test_a_transplant_returns_what_the_library_says(open_at, asked):
    found = asked("transplant, encoder's stream")
    page = open_at("laboratory", "patched")
    shown = np.array(of_figure(page, "patched", "Array.from(d[0].z, row => Array.from(row))"))
    np.testing.assert_allclose(shown, found.restored, atol=1e-3)
    for setting, option in (("patch_side", "decoder"), ("patch_part", "output"), ("patch_twin", "right")):
        choose(page, setting, table("ko")[f"{setting}_{option}"])
        expect_settings(page, **{setting: option})
    expect(page.locator("p.told.intervened")).to_be_visible()


def test_the_circuit_comes_with_its_edges_and_opens_its_heads(open_at, asked):
    circuit, edges = asked("circuit, twin"), asked("edges, twin").largest(40)
    page = open_at("laboratory", "circuit")
    wait_until(page, lambda: of_figure(page, "circuit_graph", "d.at(-2).x.length"), len(edges))
    expect_inside(page, figure("circuit_graph"))
    expect(page.locator("p.told")).to_contain_text(f"{len(circuit.members)}개만")
    with page.expect_download() as download:
        page.locator(".st-key-circuit_json button").click()
    graph = json.loads(download.value.path().read_text("utf-8"))
    assert len([node for node in graph["nodes"] if node["layer"] != "E"]) == len(circuit.members) + 1
    for how in ("growth", "checks"):
        choose(page, "circuit_as", table("ko")[f"circuit_as_{how}"])
        expect_settings(page, circuit_as=how)
        expect_inside(page, figure(f"circuit_{how}"))


def test_it_says_why_a_head_looked_there(open_at, asked):
    page = open_at("laboratory", "why", layer="4", head="1", cell="4,5", kind="cross_attention")
    look = asked("why it looked")  # where the change begins, at the last syllable that was typed there
    for name in ("why_query", "why_key"):
        assert bars(page, name)[-1] == pytest.approx(look.score, abs=1e-2)
    expect_inside(page, figure("why_query"), figure("why_key"))
    choose(page, "why_as", table("ko")["why_as_without"])
    expect_settings(page, why_as="without")
    shown = of_figure(page, "why_without", "Array.from(d[2].x)")
    np.testing.assert_allclose(shown, [each.weight for each in look.ablations], atol=1e-3)


def test_every_claim_has_its_receipt(open_at, asked):
    found = asked("claims").claims
    page = open_at("laboratory", "receipts")
    expect(page.locator(".receipts li")).to_have_count(len(found))
    expect(page.locator(".receipts li.holds")).to_have_count(sum(each.holds for each in found))
    expect_inside(page, ".receipts li", beyond=0)
    choose(page, "receipts_as", table("ko")["receipts_as_picture"])
    expect_settings(page, receipts_as="picture")
    expect_inside(page, figure("receipts"))


def test_from_a_cell_of_the_map_it_takes_two_steps_to_the_reasons(open_at):
    """The cell that is chosen on the main page is the one that is asked about in the laboratory."""
    page = open_at("", "heatmap", layer="4", head="1", cell="4,5", kind="cross_attention")
    pick(page, "pages", table("ko")["laboratory_page"])
    expect(page.locator("h1")).to_have_text(table("ko")["laboratory_page"])
    settle(page)
    choose(page, "experiment", table("ko")["view_why"])
    expect_settings(page, experiment="why")
    assert settings(page)["cell"] == "4,5"
    expect(page.locator("p.told")).to_contain_text("4층 헤드 1")


def test_the_explanations_open_below_each_picture(open_at):
    for name in ("patched", "circuit", "why", "receipts"):
        page = open_at("laboratory", name)
        page.locator(".st-key-explanation summary").first.click()
        settle(page)
        expect(page.locator(".st-key-more p.note").first).to_be_visible()
