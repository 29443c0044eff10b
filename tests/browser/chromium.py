"""Chromium for tests, benchmarks and pictures: finds its program and launches it."""

import os
from pathlib import Path

from playwright.sync_api import Browser, Playwright

from tests.browser.missing import missing

# Each new window of Chromium draws the list below the address bar, unused here: its two pages take
# 0.9 s of processor time.
PLAIN_WINDOWS = "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"


def find_chromium(playwright: Playwright) -> str:
    """$CHROMIUM, the system's, or the one of `playwright install chromium`. Without any, tests fail on CI."""
    for path in (os.environ.get("CHROMIUM"), "/usr/bin/chromium", playwright.chromium.executable_path):
        if path and Path(path).exists():
            return path
    return missing("no Chromium: set CHROMIUM to its path, or run `python -m playwright install chromium`")


def launched(playwright: Playwright) -> Browser:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has none for root
    return playwright.chromium.launch(
        executable_path=find_chromium(playwright), args=[PLAIN_WINDOWS, *sandbox]
    )
