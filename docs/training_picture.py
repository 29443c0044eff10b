"""Figure of the training in docs/model-card.md: ``python docs/training_picture.py``.

Needs a Chromium.
"""

import sys
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import viz
from assets import FOLDER
from docs.head_pictures import draw

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
    return drawn.update_layout(width=WIDTH)


if __name__ == "__main__":
    draw([(figure(), PICTURE)])
