"""Static site in Firefox: from a host, after the host has gone, and as one file."""

import pytest

from tests.browser.firefox import firefox
from tests.browser.site_pages import CORRECTED, static_host

WRONG, RIGHT = "밥을 머거요.", "밥을 먹어요."
AREA = 'document.getElementById("live").shadowRoot.querySelector("textarea")'
OPEN = 'document.getElementById("status").dataset.open === "yes"'
DRAWN = "document.querySelector('.heatmap .plot')?.dataset.drawn > 0"


def correct_a_sentence(page) -> None:
    """Type it key by key, and look for its correction and its heatmap."""
    page.wait_for(OPEN)
    page.evaluate(f'{AREA}.focus() ?? ({AREA}.value = "") ?? {AREA}.dispatchEvent(new Event("input"))')
    page.press(WRONG)
    page.wait_for(f'document.documentElement.dataset.shown === "{WRONG}"')
    assert page.evaluate(CORRECTED) == RIGHT
    page.wait_for(DRAWN)


@pytest.fixture(scope="module")
def folder(site, tmp_path_factory):
    from deploy.site import build

    place = tmp_path_factory.mktemp("folder")
    build.write_folder(site, place)
    return place


def test_a_folder_and_the_same_with_its_host_gone(folder, tmp_path):
    with firefox(tmp_path) as page:
        with static_host(folder) as address:
            page.goto(address)
            correct_a_sentence(page)
            page.wait_for("navigator.serviceWorker.controller !== null")
        page.goto(address)
        correct_a_sentence(page)


def test_the_one_file_with_nothing_to_reach(site_file, tmp_path):
    with firefox(tmp_path, reaches_nothing=True) as page:
        page.goto(site_file.as_uri())
        correct_a_sentence(page)
        heads_off = 'document.querySelector(".explore .without .verdict .written")'
        page.evaluate('[...document.querySelectorAll(".explore .views button")].at(-2).click() ?? true')
        page.wait_for(f'{heads_off}?.textContent === "{RIGHT}"')
