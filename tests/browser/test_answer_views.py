"""The views that follow an answer through the network, as the lesson *looked, wrote, mattered* walks through
them: its links, and the experiments that test an explanation, with the numbers of the library.
"""

import json
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.analysis import (
    AttentionCell,
    activation_patching,
    corrupted_by_exchange,
    decompose_attention_score,
    direct_logit_attribution,
    find_circuit,
    logit_lens,
    verified_explanation,
)
from model.analysis.contrasts import Edit
from model.analysis.path_patching import circuit_edges
from model.trace.interventions import Head
from tests.browser import visit
from tests.browser.boxes import box
from tests.browser.visit import (
    choose,
    click,
    expect_heatmap,
    expect_settings,
    figure,
    heatmap,
    of_figure,
    place_of,
    settle,
)
from tests.ui.pages.test_lesson_plan import SENTENCE, links
from ui.views.circuit import drawn_edges
from ui.wording import table

PLAN = "lesson-plan-answer"
LINKS = links(PLAN, "ko")
SIZES = ((1366, 768), (390, 844))


@pytest.fixture
def open_at(open_page):
    def open_view(page: str, name: str, on: Page | None = None, **chosen: str) -> Page:
        setting = "experiment" if page else "view"
        query = urlencode({"sentence": SENTENCE, "edit": "1", setting: name} | chosen)
        return open_page(f"{page}?{query}", colour="dark", width=1366, height=768, on=on)

    return open_view


@pytest.fixture(scope="module")
def sentence(corrector):
    (sentence,) = corrector.correct(SENTENCE).sentences
    return sentence


@pytest.fixture(scope="module")
def edit(sentence):
    """The change that the views explain: the first."""
    return Edit(sentence.source, sentence.text, sentence.changes[0])


def data_of(page: Page, name: str, read: str):
    """The value of the JavaScript ``read`` over the data ``d`` of the figure ``name``."""
    return of_figure(page, figure(name), f"figure => {{ const d = figure._fullData; return {read}; }}")


def bars(page: Page, name: str) -> list[float]:
    return data_of(page, name, "Array.from(d[0].x)")


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    settle(page)


def expect_inside(page: Page, *selectors: str, beyond: int = 1) -> None:
    """No element is wider than the window, on a computer and on a phone; figures may end so many pixels
    ``beyond`` it.
    """
    for width, height in SIZES[::-1]:
        resize(page, width, height)
        for selector in selectors:
            for each in page.locator(selector).all():
                place = box(page, each)
                assert place.left >= 0 and place.right <= width + beyond, (selector, width)


def choose_form(page: Page, setting: str, option: str) -> None:
    """Another form of the open view, and its setting in the address."""
    choose(page, setting, table("ko")[f"{setting}_{option}"])
    expect_settings(page, **{setting: option})


def expect_explanation(page: Page) -> None:
    page.locator(".st-key-explanation summary").first.click()
    settle(page)
    expect(page.locator(".st-key-more p.note").first).to_be_visible()


@pytest.mark.parametrize("number", range(len(LINKS)))
def test_every_link_of_the_lesson_shows_its_picture_and_says_what_it_shows(open_page, number):
    """Every other one in English: the links of both languages are the same."""
    (path, chosen), language = LINKS[number], ("ko", "en")[number % 2]
    page = open_page(f"{path.strip('/')}?{urlencode(chosen | {'lang': language})}", width=1366, height=768)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text(table(language)["explanation"], exact=True).first).to_be_visible()
    expect(page.locator("p.told").first).not_to_be_empty()
    expect(page.locator(".js-plotly-plot, .receipts li").first).to_be_visible()
    # Observations and interventions are marked differently.
    changed = page.locator("p.told.intervened")
    expect(changed.first).to_be_visible() if "laboratory" in path else expect(changed).to_have_count(0)


def test_the_change_is_pressed_and_other_heads_are_opened(open_at, sentence):
    """*Looked*: press the change, find the dark cell of its row, press other heads; and from a cell two steps
    lead to the reasons: the laboratory explains the cell of the main page.
    """
    first = sentence.changes[0]
    page = open_at("", "heatmap", layer="4", head="1", kind="cross_attention")
    word = visit.changed_words(page).first
    expect(word).to_have_attribute("aria-pressed", "true")  # as the link has it
    for edit in ("1", None, "1"):  # the first press opens the card of the change that is chosen already
        word.click()
        expect_settings(page, edit=edit)
    page.keyboard.press("Escape")
    expect_heatmap(page, sentence.trace.cross_attention[3, 0])
    click(page, visit.tile(page, 1, 2))
    expect_settings(page, layer="2", head="3")
    expect_heatmap(page, sentence.trace.cross_attention[1, 2])
    row = sentence.trace.cross_attention[1, 2, first.target_start]
    assert heatmap(page, figure("heatmap"))[first.target_start].argmax() == row.argmax()

    page = open_at("", "heatmap", page, layer="4", head="1", cell="4,5", kind="cross_attention")
    visit.pick(page, "pages", table("ko")["laboratory_page"])
    expect(page.locator("h1")).to_have_text(table("ko")["laboratory_page"])
    settle(page)
    choose(page, "experiment", table("ko")["view_why"])
    expect_settings(page, experiment="why")
    assert visit.settings(page)["cell"] == "4,5"
    expect(page.locator("p.told")).to_contain_text("4층 헤드 1")


def test_direct_logit_attribution(open_at, corrector, sentence):
    """*Wrote*: the bars sum to the score, and the longest one of a head leads to where that head looked."""
    written = direct_logit_attribution(corrector, sentence.source, sentence.text, sentence.changes)
    page = open_at("", "wrote")
    shown = bars(page, "wrote")
    assert sum(shown[:-1]) == pytest.approx(shown[-1], abs=1e-3)
    assert shown[-1] == pytest.approx(written.score[written.changes[0]], abs=1e-2)
    expect_inside(page, figure("wrote"))
    tops = {}
    for size in SIZES[::-1]:
        resize(page, *size)
        tops[size] = box(page, figure("wrote")).top
    parts = [part for part in written.parts(written.changes[0]) if part.head is not None]
    longest = max(parts, key=lambda part: abs(part.nats))
    x, y = of_figure(
        page,
        figure("wrote"),
        """(figure, head) => {
          const bars = figure._fullData[0];
          const at = bars.customdata.findIndex(each => each && String(each) === String(head));
          return [bars.base[at] + bars.x[at] / 2, at];
        }""",
        list(longest[:3]),
    )
    click(page, place_of(page, x, y, "wrote"))
    expect_settings(page, wrote_as="map", layer=str(longest.layer + 1), head=str(longest.head + 1))
    row = written.questions[written.changes[0]].row
    assert heatmap(page, figure("wrote_map"))[row].sum() == pytest.approx(longest.nats, abs=1e-2)
    for size, top in tops.items():
        resize(page, *size)
        assert box(page, figure("wrote_map")).top == pytest.approx(top, abs=1)


def test_logit_lens(open_at, corrector, sentence):
    """*When*: the token written at first, and the sublayer from which on it is the answer."""
    decided, first = (
        logit_lens(corrector, sentence.source, sentence.text, sentence.changes),
        sentence.changes[0],
    )
    page = open_at("", "decided")
    shown = np.array(data_of(page, "decided_grid", "Array.from(d[0].z, row => Array.from(row))"))
    np.testing.assert_allclose(shown, decided.probabilities[..., 0], atol=1e-3)
    texts = data_of(page, "decided_grid", "d.find(trace => trace.text).text.map(row => Array.from(row))")
    column = [row[first.target_start] for row in texts]
    assert column == [row[first.target_start] for row in decided.labels()]
    assert column[0] != column[-1] == first.right[0]
    for how in ("curve", "jamo"):
        choose_form(page, "decided_as", how)
        expect_inside(page, figure(f"decided_{how}"))


def test_activation_patching(open_at, corrector, edit):
    found = activation_patching(corrector, corrupted_by_exchange(corrector, edit), "residual", "encoder")
    page = open_at("laboratory", "patched")
    shown = np.array(data_of(page, "patched", "Array.from(d[0].z, row => Array.from(row))"))
    np.testing.assert_allclose(shown, found.restored, atol=1e-3)
    expect_explanation(page)
    for setting, option in (("patch_side", "decoder"), ("patch_part", "output"), ("patch_twin", "right")):
        choose_form(page, setting, option)
    expect(page.locator("p.told.intervened")).to_be_visible()


def test_the_circuit_comes_with_its_edges_and_can_be_taken_along(open_at, corrector, edit):
    circuit = find_circuit(corrector, edit)
    edges = circuit_edges(corrector, replace(edit, about=circuit.contrast), circuit)
    edges = drawn_edges(edges, circuit.members)
    page = open_at("laboratory", "circuit")
    visit.wait_until(page, lambda: data_of(page, "circuit_graph", "d.at(-2).x.length"), len(edges))
    expect_inside(page, figure("circuit_graph"))
    expect(page.locator("p.told")).to_contain_text(f"{len(circuit.members)}개만")
    with page.expect_download() as download:
        page.locator(".st-key-circuit_json button").click()
    graph = json.loads(download.value.path().read_text("utf-8"))
    assert len([node for node in graph["nodes"] if node["layer"] != "E"]) == len(circuit.members) + 1
    expect_explanation(page)
    for how in ("growth", "checks"):
        choose_form(page, "circuit_as", how)
        expect_inside(page, figure(f"circuit_{how}"))


def test_decomposition_of_an_attention_score(open_at, corrector, sentence):
    page = open_at("laboratory", "why", layer="4", head="1", cell="4,5", kind="cross_attention")
    # Where the change begins, at the last syllable that was typed there.
    cell = AttentionCell(Head("cross_attention", 3, 0), 4, 5)
    look = decompose_attention_score(corrector, sentence.source, sentence.text, cell)
    for name in ("why_query", "why_key"):
        assert bars(page, name)[-1] == pytest.approx(look.score, abs=1e-2)
    expect_inside(page, figure("why_query"), figure("why_key"))
    expect_explanation(page)
    choose_form(page, "why_as", "without")
    shown = data_of(page, "why_without", "Array.from(d[2].x)")
    np.testing.assert_allclose(shown, [each.weight for each in look.ablations], atol=1e-3)
    expect(page.locator("p.told.intervened").first).to_be_visible()


def test_every_claim_has_its_check(open_at, corrector, edit):
    """*Mattered*: the mark of each sentence, and the numbers of its check."""
    found = verified_explanation(corrector, edit).claims
    page = open_at("laboratory", "receipts")
    expect(page.locator(".receipts li")).to_have_count(len(found))
    expect(page.locator(".receipts li.holds")).to_have_count(sum(each.holds for each in found))
    expect(page.locator(".receipts li strong", has_not_text=" → ")).to_have_count(0)
    expect_inside(page, ".receipts li", beyond=0)
    expect_explanation(page)
    choose_form(page, "receipts_as", "picture")
    expect_inside(page, figure("receipts"))
