"""Draws the figure of the training in docs/model-card.md: ``python docs/training_picture.py``.

Needs a Chromium.
"""

import sys
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import viz
from assets import FOLDER, STATIC
from tests.browser.chromium import launched

PICTURE = ROOT / "docs" / "images" / "training.png"
WIDTH = 900


def figure():
    """Loss on the sentences that the network learned from and on unseen ones, over all steps of all runs."""
    history = pd.read_csv(FOLDER / "transformer" / "history.csv")
    drawn = viz.history_curves(
        history,
        losses={"loss": "sentences it learned from", "dev_loss": "unseen sentences"},
        scores={},
        panel_height=300,
        captions=viz.Captions(
            titles=(
                "optimiser steps, all runs one after the other",
                "loss (nats per character)",
                "Development score",
                "",
            ),
            names=("learning rate lowered to zero",),
        ),
    )
    return drawn.update_layout(width=WIDTH, paper_bgcolor="white")


def main() -> None:
    with sync_playwright() as playwright:
        browser = launched(playwright)
        page = browser.new_page(viewport={"width": WIDTH, "height": 500}, device_scale_factor=2)
        page.set_content("<body style='margin:0'><div></div>")
        page.add_script_tag(path=next(STATIC.glob("plotly-cartesian-*.min.js")))
        page.evaluate(
            "text => { const figure = JSON.parse(text);"
            " return Plotly.newPlot("
            "document.querySelector('div'), figure.data, figure.layout, {staticPlot: true}); }",
            figure().to_json(),
        )
        page.locator(".svg-container").screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
