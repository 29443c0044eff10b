"""The generated tables of the documents say what the data files say, and the data files are of the shipped weights."""

import csv
import doctest
import json
import re

import pytest
from click.testing import CliRunner

from model.stored.folder import ASSETS, fingerprint, of_weights
from training.__main__ import main
from training.documents import block, marks, sources, stories, wording
from training.documents.block import BLOCKS
from training.documents.command import written
from training.documents.marks import DOCUMENTS, MarkError, names, rewrite
from training.documents.past import TABLES, PastTable, keep_all
from training.documents.sources import MissingNumbersError, Sources

ROOT = ASSETS.parent
SOURCES = Sources()


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


def test_a_number_that_somebody_edits_is_noticed():
    text = read("README.md")
    edited = with_another_number(text)
    assert edited != text and written(edited, SOURCES) == text


def test_every_block_stands_in_a_document():
    shown = {name.partition(".")[0] for document in DOCUMENTS for name in names(read(document))}
    assert shown == set(BLOCKS)


def test_what_was_measured_is_of_the_shipped_weights():
    weights = of_weights(fingerprint(ASSETS / "transformer"))
    files = [path for path in SOURCES.numbers.rglob("*.json")]
    assert len(files) >= 10
    for path in files:
        assert of_weights(json.loads(path.read_text("utf-8"))["fingerprint"]) == weights, path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- generated: a -->\n", "the part a has no end"),
        ("<!-- end -->\n", "follows no beginning"),
        ("<!-- generated: a -->\n<!-- generated: b -->\n<!-- end -->\n", "generated: b --> follows a"),
    ],
)
def test_marks_that_do_not_come_in_pairs_are_refused(text, message):
    with pytest.raises(MarkError, match=message):
        rewrite(text, str)


def test_a_part_that_nothing_writes_is_refused():
    with pytest.raises(MarkError, match="nothing writes the part wonders"):
        written("<!-- generated: wonders -->\n<!-- end -->\n", SOURCES)


def test_numbers_that_are_not_there_are_named(tmp_path):
    with pytest.raises(MissingNumbersError, match=r"test\.json is missing: python -m training ship"):
        written("<!-- generated: results -->\n<!-- end -->\n", Sources(tmp_path))


def test_what_was_shipped_becomes_the_first_of_the_earlier_rows_once(tmp_path):
    told = Sources(tmp_path)
    (tmp_path / "docs/numbers").mkdir(parents=True)
    (tmp_path / "docs/numbers/weights.json").write_text('{"name": "run 9"}')
    table = PastTable("past-days", ("weights", "rain"), lambda sources: ["1.5%"])
    for _ in range(2):
        table.keep(told)
    least = told.evaluation()["minimum_confidence"]
    with (tmp_path / "docs/numbers/past/days.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["weights", "rain"], [f"run 9; {least:g}", "1.5%"]]
    assert table.write(told, "en").splitlines()[2:] == [
        f"| **run 9; {least:g} (as shipped)** | **1.5%** |",
        f"| run 9; {least:g} | 1.5% |",
    ]


def test_weights_that_were_never_measured_have_no_row(tmp_path):
    keep_all(Sources(tmp_path))
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_earlier_rows_have_a_cell_for_each_column(table):
    rows = table.earlier(SOURCES)
    assert rows and {len(row) for row in [*rows, ["", *table.row(SOURCES)]]} == {len(table.columns)}


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


@pytest.mark.parametrize(
    "module", [marks, wording, sources, stories, block], ids=lambda module: module.__name__
)
def test_examples_are_true(module):
    assert not doctest.testmod(module).failed
