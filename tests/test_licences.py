"""What the repository ships of others is named, with its licence; and the card's count of share-alike sources is true."""

import csv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTICE = (ROOT / "NOTICE").read_text("utf-8")


def test_the_licence_is_whole():
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text and "END OF TERMS AND CONDITIONS" in text


@pytest.mark.parametrize("path", sorted((ROOT / "static").iterdir()), ids=lambda path: path.name)
def test_each_file_of_others_stands_in_the_notice(path):
    assert f"static/{path.name}" in NOTICE


def test_the_card_counts_the_collections_that_ask_for_share_alike():
    with open(ROOT / "assets/transformer/corpus.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    alike = [row for row in rows if row["licence"].replace(" ", "-").startswith("CC-BY-SA")]
    share = sum(int(row["sentences"]) for row in alike) / sum(int(row["sentences"]) for row in rows)
    card = " ".join((ROOT / "docs/model-card.md").read_text("utf-8").split())
    assert f"{len(alike)} of the {len(rows)} collections, with {share:.0%}" in card
