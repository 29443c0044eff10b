"""Film of the running app for the READMEs: ``python docs/moving_picture.py [FOLDER]``.

A sentence is typed and mended; then one head is switched off, and its mend goes with it. Ten seconds, light
and dark, each an animated WebP of at most MOST_BYTES. Needs a Chromium: $CHROMIUM, or /usr/bin/chromium.
"""

import io
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import click
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from model import Corrector
from model.analysis import ablate_heads
from model.trace.interventions import Head

SENTENCES = ("집까지 거러가요.", "학교에 가치 가요.", "밥을 머거요.", "꼬치 피어서 조아요.")
SIZE = {"width": 1100, "height": 640}
LENGTH, TYPING = 10_000, 130  # milliseconds of the whole film, and of one typed character
READ, AT_LAST = 1500, 2600  # milliseconds that the mend, and the end of the film, are shown
MOST_BYTES = 2 * 2**20
QUALITIES = (80, 65, 50, 35, 20)  # of the pictures; the first whose film is small enough
# A dot where the mouse is, which a screenshot lacks.
POINTER = """() => {
  const dot = Object.assign(document.createElement("div"), { id: "filmed-pointer" });
  dot.style.cssText = "position: fixed; z-index: 9999999; pointer-events: none; width: 22px; height: 22px;" +
    "border-radius: 50%; translate: -50% -50%; background: #d5510099; border: 2px solid #fff; left: -40px";
  document.body.append(dot);
  document.addEventListener("mousemove", ({ clientX, clientY }) => {
    Object.assign(dot.style, { left: `${clientX}px`, top: `${clientY}px` });
  });
}"""
# The middle of a head's square in the mosaic, in pixels of the window.
SQUARE = """(figure, head) => {
  const squares = figure._fullData.find((trace) => trace.customdata);
  const at = squares.customdata.findIndex((each) => String(each) === String(head));
  const { xaxis, yaxis } = figure._fullLayout;
  const { left, top } = figure.getBoundingClientRect();
  return [left + xaxis._offset + xaxis.l2p(squares.x[at]), top + yaxis._offset + yaxis.l2p(squares.y[at])];
}"""


@dataclass
class Film:
    """Pictures of a page, each with its milliseconds."""

    page: object
    pictures: list[Image.Image] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)

    def take(self, duration: int) -> None:
        """Take one picture; one that is the same as the last prolongs it."""
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        if self.pictures and picture.tobytes() == self.pictures[-1].tobytes():
            self.durations[-1] += duration
            return
        self.pictures.append(picture)
        self.durations.append(duration)

    def packed(self) -> bytes:
        """An animated WebP in its best quality of at most MOST_BYTES; the last picture fills up LENGTH.

        Raises:
            click.ClickException: even the lowest quality is larger.
        """
        last = max(self.durations[-1], LENGTH - sum(self.durations[:-1]))
        for quality in QUALITIES:
            file = io.BytesIO()
            first, *others = self.pictures
            first.save(
                file,
                "WEBP",
                save_all=True,
                append_images=others,
                duration=[*self.durations[:-1], last],
                loop=0,
                quality=quality,
                method=6,
            )
            if len(file.getvalue()) <= MOST_BYTES:
                return file.getvalue()
        raise click.ClickException(f"the film has more than {MOST_BYTES} bytes in each of {QUALITIES}")


def deciding_head(corrector: Corrector) -> tuple[str, Head]:
    """The first sentence of SENTENCES of which one head alone keeps a mend, and that head.

    Raises:
        click.ClickException: no sentence has such a head.
    """
    for text in SENTENCES:
        (sentence,) = corrector.correct(text).sentences
        if not sentence.changes:
            continue
        heads = [Head(*each) for each in sentence.trace.heads]
        for found in ablate_heads(corrector, text, [[head] for head in heads]):
            if found.text is not None and found.text != sentence.text:
                (head,) = found.heads
                return text, head
    raise click.ClickException(f"no head alone keeps a mend of {', '.join(SENTENCES)}")


def filmed(page: object, address: str, text: str, head: Head) -> bytes:
    """Type ``text`` into the app at ``address``, switch ``head`` off in the laboratory, and film both."""
    from playwright.sync_api import expect

    from tests.browser.visit import expect_settings, figure, settle, text_area

    film = Film(page)
    page.goto(address)
    settle(page)
    area = text_area(page)
    area.fill("")
    settle(page)
    film.take(600)
    for character in text:
        area.press_sequentially(character)
        film.take(TYPING)
    expect_settings(page, sentence=text)
    settle(page)
    film.take(READ)
    asked = {"sentence": text, "view": "without", "switched_off": "none"}
    page.goto(f"{address}/laboratory?{urlencode(asked)}")
    settle(page)
    mended = page.locator(".before-and-after .written").first.inner_text()
    page.evaluate(POINTER)
    x, y = page.locator(figure("without_mosaic")).evaluate(SQUARE, list(head))
    for share in (0, 0.4, 0.7, 0.9, 1):
        page.mouse.move(SIZE["width"] / 2 * (1 - share) + x * share, SIZE["height"] * (1 - share) + y * share)
        film.take(90 if 0 < share < 1 else 700)
    page.mouse.click(x, y)
    expect(page.locator(".before-and-after .written").last).not_to_have_text(mended)
    settle(page)
    film.take(AT_LAST)
    return film.packed()


@click.command()
@click.argument("folder", default=ROOT / "docs" / "images", type=click.Path(file_okay=False, path_type=Path))
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
def main(folder: Path, model: str) -> None:
    """Write mend-light.webp and mend-dark.webp into FOLDER."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launched
    from tests.serving import serving

    text, head = deciding_head(Corrector.load(model))
    click.echo(f"{text} without {head.kind} {head.layer + 1}·{head.head + 1}")
    folder.mkdir(parents=True, exist_ok=True)
    with serving() as address, sync_playwright() as playwright:
        browser = launched(playwright)
        for colours in ("light", "dark"):
            page = browser.new_page(viewport=SIZE, color_scheme=colours)
            page.add_init_script("localStorage.setItem('attentionWelcomed', '1')")  # no welcome before it
            path = folder / f"mend-{colours}.webp"
            path.write_bytes(filmed(page, address, text, head))
            page.close()
            click.echo(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
