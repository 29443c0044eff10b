"""Labels of figures in a browser: not cut and not overlapping, in every window size."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.boxes import box, boxes, colliding
from tests.browser.test_sentences import LONG
from tests.browser.visit import changed_words, figure, settle, wait_until

LABORATORY = "laboratory?experiment="
SENTENCE = "친구와 가치 밥을 머거요."
PHONE, LAPTOP, SCREEN, BEAMER = (390, 844), (1366, 768), (1920, 1080), (1024, 768)
LECTURE = (SCREEN, LAPTOP, BEAMER)
LANGUAGES = ("ko", "en")


@pytest.fixture
def look(look_at):
    def open_at(path: str, size: tuple[int, int] = LAPTOP) -> Page:
        return look_at(path, width=size[0], height=size[1])

    return open_at


def annotations(name: str) -> str:
    return f"{figure(name)} .annotation-text"


def ticks(name: str) -> str:
    return f"{figure(name)} .xtick text"


# A page of ``look`` stays open for the next tests, so those of one address are grouped.
HEADS, WITHOUT = "heads?lecture=1&lang={}", f"{LABORATORY}without&lecture=1&edit=1&lang={{}}"
PLAIN, LESSON = "?edit=1&order={}", "?edit=1&lecture=1&order={}"
ORDERED = f"{LESSON.format('entropy')}&view=edits"
SOURCES = f"{LABORATORY}sources&edit=1"


@pytest.mark.parametrize(("language", "size"), [("ko", SCREEN), ("en", LAPTOP), ("en", BEAMER)])
def test_the_names_of_roles_and_of_the_curves_without_heads_are_whole(look, language, size):
    page = look(HEADS.format(language), size)
    map_, curves = figure("heads_map"), figure("heads_pruning")
    legend, rows = box(page, f"{map_} .legend"), box(page, f"{map_} .legend .bg")
    names = boxes(page, f"{map_} .legendtext")
    assert len(names) >= 5
    for name in names:
        assert max(legend.top, box(page, map_).top) <= name.top + 2 and name.bottom <= legend.bottom + 2
        assert name.right <= rows.right + 2
    names = sorted(boxes(page, annotations("heads_pruning")), key=lambda each: each.top)
    panels = sorted(boxes(page, f"{curves} .nsewdrag"), key=lambda each: each.top)
    above = [panels[0].top - 100, panels[0].bottom]  # the lower ends of the parts above each name
    for name, panel, end in zip(names, panels, above, strict=True):
        assert end - 2 <= name.top and name.bottom <= panel.top + 2
        assert panel.height > 0.07 * size[1]  # a curve is seen, and not only a line
    assert max(each.bottom for each in boxes(page, f"{curves} .legendtext")) <= size[1]


def test_how_well_a_method_agrees_is_not_cut_on_a_phone(look):
    page = look(SOURCES, PHONE)
    notes = page.locator(annotations("sources"))
    expect(notes).to_have_count(8)
    wait_until(page, lambda: sum("·" in text for text in notes.all_text_contents()), 7)
    settle(page)
    end = box(page, figure("sources")).right
    assert all(each.right <= end for each in boxes(page, annotations("sources")))


@pytest.mark.parametrize(
    ("path", "size", "labels"),
    [
        (SOURCES, PHONE, ticks("sources")),
        *((HEADS.format(language), BEAMER, annotations("heads_map")) for language in LANGUAGES),
        ("masks?lecture=1", BEAMER, ticks("masks_look_ahead")),
        ("growing?lecture=1", BEAMER, ticks("growing_map")),
        (f"{SOURCES}&lecture=1", BEAMER, ticks("sources")),
        (LESSON.format("edit"), LAPTOP, annotations("overview")),
        (ORDERED, LAPTOP, annotations("overview")),
        (LESSON.format("place"), BEAMER, ticks("heatmap")),
    ],
)
def test_labels_in_one_line_do_not_run_into_one_another_and_end_in_the_window(look, path, size, labels):
    found = boxes(look(path, size), labels)
    assert len(found) >= 3
    assert colliding(found) == []
    assert all(0 <= each.left and each.right <= size[0] for each in found)


@pytest.mark.parametrize(
    ("size", "path", "opened"),
    [
        (SCREEN, LESSON.format("place"), False),
        *((size, LESSON.format("place"), True) for size in (LAPTOP, BEAMER)),
        *((size, PLAIN.format("entropy"), False) for size in (LAPTOP, PHONE)),
        *((size, PLAIN.format("place"), False) for size in (BEAMER, PHONE)),
        (BEAMER, f"{PLAIN.format('place')}&lang=en", False),
    ],
)
def test_squares_have_a_key_that_meets_no_name_and_no_button(look, size, path, opened):
    page = look(path, size)
    if page.locator(".correction .card").is_visible() != opened:  # an open card makes the tiles small
        changed_words(page).first.click()
        settle(page)
    of_tiles = figure("overview")
    page.locator(of_tiles).hover()  # where a mouse is, its buttons appear
    expect(page.locator(f"{of_tiles} .xtitle")).to_contain_text("■")
    settle(page)
    (key,) = boxes(page, f"{of_tiles} .xtitle")
    # Numbers stand under the name of their axis, as Plotly places it: there a line of type has more room.
    for part, share in ((".annotation-text", 0.3), (".modebar-btn text", 0.3), (".xtick text", 0.4)):
        names = boxes(page, f"{of_tiles} {part}") if page.locator(f"{of_tiles} {part}").count() else []
        assert not [name for name in names if key.across(name) > 0 and key.down(name) > share * name.height]
    whole = box(page, ".st-key-overview .plot")
    assert whole.left <= key.left and key.right <= whole.right and whole.top <= key.top
    page.keyboard.press("Escape")  # no card is open for the next test


@pytest.mark.parametrize(
    ("size", "path"),
    [((1280, 800), PLAIN.format("entropy")), *((size, ORDERED) for size in LECTURE)],
)
@pytest.mark.parametrize("opened", [False, True])
def test_the_names_of_ordered_heads_lie_over_no_frame(look, size, path, opened):
    page = look(path, size)
    card = page.locator(".correction .card")
    if opened and not card.is_visible():  # a card leaves less room for the tiles
        changed_words(page).first.click()
        expect(card).to_be_visible()
        settle(page)
    names = boxes(page, annotations("overview"))
    frames = boxes(page, f"{figure('overview')} .shapelayer path")
    assert len(names) > 8
    for name in names:
        room = 0.1 * name.height  # above and below its characters a line of type has room
        for frame in frames:
            met = [edge for edge in (frame.top, frame.bottom) if name.top + room < edge < name.bottom - room]
            assert name.across(frame) <= 1 or not met
    assert colliding(names) == []
    if opened:
        card.locator(".close").press("Escape")  # no card is open for the next test


def test_a_colour_bar_has_each_label_once_however_a_phone_is_turned(look):
    for size in (LAPTOP, PHONE, (844, 390), LAPTOP):
        page = look(PLAIN.format("place"), size)
        labels = page.locator(".st-key-heatmap .cbaxis text")
        wait_until(page, lambda labels=labels: sorted(labels.all_text_contents()), ["0", "0.5", "1"])


@pytest.mark.parametrize("width", [1024, 1366])
@pytest.mark.parametrize(
    ("path", "shown"), [(PLAIN.format("place"), "overview"), ("growing", "growing_heads")]
)
def test_no_button_is_written_over_the_number_of_a_head(look, path, shown, width):
    page = look(path, (width, 768))
    page.locator(figure(shown)).hover()
    lowest = max(each.bottom for each in boxes(page, f"{figure(shown)} .modebar-btn text"))
    assert lowest <= min(each.top for each in boxes(page, ticks(shown)))


@pytest.mark.parametrize(
    ("path", "size", "name", "labels"),
    [
        (f"{LABORATORY}without", PHONE, "without_mosaic", ".cbfills"),
        (f"{LABORATORY}fork&sentence={SENTENCE}", PHONE, "fork", ".heatmap-label text"),
        *(
            (f"?{urlencode({'lecture': '1', 'lang': 'en', 'sentence': sentence})}", size, "heatmap", "")
            for sentence, size in (
                ("같이 가요.", SCREEN),
                ("같이 가요.", BEAMER),
                (LONG, LAPTOP),
                (LONG, BEAMER),
                (LONG, (1920, 1200)),
            )
        ),
        *((WITHOUT.format(language), BEAMER, "without_mosaic", ".annotation-text") for language in LANGUAGES),
    ],
)
def test_what_stands_beside_a_picture_ends_within_it(look, path, size, name, labels):
    """English words are longer."""
    page = look(path, size)
    whole = box(page, f".st-key-{name} .plot")
    for each in boxes(page, f"{figure(name)} :is({labels or '.legendtext'}, .colorbar text)"):
        assert whole.left - 1 < each.left and each.right < whole.right + 1


PAIR = "twins&twin=pair&twin_sentence=친구의 가치를 알아요.&twin_difference=1"


@pytest.mark.parametrize(
    ("path", "upper", "lower"),
    [
        (WITHOUT.format("ko"), annotations("without_mosaic"), ticks("without_mosaic")),
        (f"{LABORATORY}{PAIR}&sentence={SENTENCE}", ".colorbar .cbaxis text", ".legendtext"),
    ],
)
def test_kinds_stand_above_the_numbers_of_heads_and_a_colour_bar_above_the_legend(look, path, upper, lower):
    page = look(path)
    lowest = max(each.bottom for each in boxes(page, upper))
    assert lowest <= min(each.top for each in boxes(page, lower)) + 3


def test_no_button_lies_over_the_key_of_all_heads_where_nothing_hovers(open_page):
    page = open_page("?edit=1", width=1366, height=768)
    page.context.new_cdp_session(page).send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.reload()
    key = page.locator(f"{figure('overview')} .xtitle")
    expect(key).to_contain_text("■")
    settle(page)
    assert page.evaluate("matchMedia('(hover: none)').matches")
    buttons = boxes(page, f"{figure('overview')} .modebar-btn text")
    assert max(each.bottom for each in buttons) <= box(page, key).top
