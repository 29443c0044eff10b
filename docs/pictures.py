"""Screenshots of the READMEs: ``python docs/pictures.py [FOLDER]``.

Starts the app with the shipped model and shows its first sentence in a browser. Needs a Chromium: $CHROMIUM,
or /usr/bin/chromium.
"""

import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1366, "height": 768}  # of a small laptop, the least that the layout is made for
# By the name of its file: the path and query of the address, and the browser's colours.
PICTURES = {
    "attention-light": ("/", "light"),
    "attention-dark": ("/", "dark"),
    "steps-light": ("/?view=steps&edit=1", "light"),
    "laboratory-light": ("/laboratory?edit=1", "light"),
}


@click.command()
@click.argument("folder", default=IMAGES, type=click.Path(file_okay=False, path_type=Path))
def main(folder):
    """Write each picture as a PNG file into FOLDER."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launched
    from tests.browser.visit import settle
    from tests.serving import serving

    folder.mkdir(parents=True, exist_ok=True)
    with serving() as address, sync_playwright() as playwright:
        browser = launched(playwright)
        for name, (asked, colours) in PICTURES.items():
            page = browser.new_page(viewport=SIZE, color_scheme=colours)
            page.add_init_script("localStorage.setItem('attentionWelcomed', '1')")  # no welcome before it
            page.goto(f"{address}{asked}")
            settle(page)
            page.mouse.move(0, SIZE["height"] - 1)  # nothing is pointed at
            page.wait_for_timeout(1000)  # until elements have faded in
            page.screenshot(path=folder / f"{name}.png")
            page.close()
            click.echo(f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
