"""Generated tables of the documents: equal to the data files, of the shipped weights."""

import json
import re

import pytest
from click.testing import CliRunner

from model.stored.folder import ASSETS, fingerprint, of_weights
from training.__main__ import main
from training.documents.render import (
    DOCUMENTS,
    MarkError,
    content,
    keep_past,
    names,
    parts,
    written,
)
from training.documents.tables import Sources
from training.measure.studies import numbers_of

ROOT = ASSETS.parent
SOURCES = Sources()


def rows(text: str) -> list[list[str]]:
    """The cells of a Markdown table, its titles and rule included."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_says_what_was_measured(name):
    text = read(name)
    assert names(text), "a document without generated parts need not stand in the list"
    assert text == written(text, SOURCES), "run: python -m training documents"


def with_another_number(text: str) -> str:
    """The text with one more digit behind the first decimal number of its first generated block."""
    return re.sub(r"(<!-- generated: .*?\d\.\d)", r"\g<1>7", text, count=1, flags=re.DOTALL)


def test_what_was_measured_is_of_the_shipped_weights():
    weights = of_weights(fingerprint(ASSETS / "transformer"))
    files = [path for path in SOURCES.numbers.rglob("*.json")]
    assert len(files) >= 10
    for path in files:
        assert of_weights(json.loads(path.read_text("utf-8"))["fingerprint"]) == weights, path


def test_a_part_that_nothing_writes_is_refused():
    with pytest.raises(MarkError, match="nothing writes the part wonders"):
        written("<!-- generated: wonders -->\n<!-- end -->\n", SOURCES)


def test_what_was_shipped_becomes_the_first_of_the_earlier_rows_once(tmp_path):
    told, numbers = Sources(tmp_path), tmp_path / "docs/numbers"
    numbers.mkdir(parents=True)
    (numbers / "weights.json").write_text('{"name": "run 9"}')
    (numbers / "intact.json").write_text('{"total": {"share": 0.015, "clean_untouched": 1}}')
    for _ in range(2):
        keep_past(told)
    titles, row = rows((numbers / "past/intact.csv").read_text("utf-8").replace(",", "|"))
    least = told.evaluation()["minimum_confidence"]
    assert titles == ["weights; minimum", "intact", "untouched"] and row == [
        f"run 9; {least:g}",
        "1.5%",
        "100%",
    ]
    assert len([*tmp_path.rglob("*.csv")]) == 1  # weights that were never measured have no row


@pytest.mark.parametrize("name", [name for name in parts() if name.startswith("past-")])
def test_the_shipped_weights_stand_before_the_earlier_ones(name):
    titles, kept = rows(content(SOURCES, name, kept=True))
    shown, _, shipped, earlier, *_ = rows(content(SOURCES, name))
    assert shown == titles and shipped[0] == f"**{SOURCES.called} (as shipped)**" != earlier[0]
    assert shipped[1:] == [f"**{cell}**" for cell in kept[1:]]
    past = SOURCES.past(name.removeprefix("past-"))
    assert earlier == past[0] and {len(row) for row in [kept, *past]} == {len(titles)}


def test_the_command_checks_without_writing(tmp_path):
    for name in DOCUMENTS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_another_number(read(name)), encoding="utf-8")
    (tmp_path / "docs/numbers").symlink_to(ROOT / "docs/numbers")
    before = (tmp_path / "README.md").read_bytes()
    arguments = ["documents", "--root", str(tmp_path)]
    checked = CliRunner().invoke(main, [*arguments, "--check"])
    assert checked.exit_code == 1 and "README.md" in checked.output
    assert (tmp_path / "README.md").read_bytes() == before
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert (tmp_path / "README.md").read_text("utf-8") == read("README.md")
    assert "nothing" in CliRunner().invoke(main, [*arguments]).output


def edit(pair: int, kind: str, first: bool, **more) -> dict:
    """One line of the study: an edit of five characters, with one method and two layers."""
    return {
        "pair": pair,
        "kind": kind,
        "characters": 5,
        "first_at": 1,
        "attention_first_at": 0,
        "methods": {"attention": [0.5, first, 1.0], **more},
        "layers": [first, not first],
        "rank_of_looker": 2,
        "correlation_of_heads": 0.25,
        "heads": 4,
    }


EDITS = [edit(0, "liaison", True), edit(0, "spacing", False), edit(3, "spacing", True, alti=[1, True, 1])]


def test_what_is_counted():
    found = numbers_of(EDITS, "abc")
    assert (found["edits"], found["sentences"], found["fingerprint"]) == (3, 2, "abc")
    assert found["methods"]["attention"]["first"][0] == pytest.approx(2 / 3, abs=1e-4)
    assert [layer[0] for layer in found["layers"]] == [
        pytest.approx(each, abs=1e-4) for each in (2 / 3, 1 / 3)
    ]
    assert found["kinds"]["spacing"]["methods"]["attention"][0] == 0.5
    assert found["liaison"] == {"edits": 1, "next": 1, "own": 1}
    assert found["heads"]["count"] == 4 and found["heads"]["rank"] == (2.0, 0.0)
