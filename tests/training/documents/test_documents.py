"""The generated tables of the documents say what the data files say, and the data files are of the shipped
weights.
"""

import csv
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from model.analysis.statistics import Tally
from model.stored.folder import ASSETS, fingerprint, of_weights
from model.survey.results import AnswerSurvey, HeadSurvey
from model.survey.survey_files import answers
from model.trace.interventions import Head
from training.__main__ import main
from training.documents.render import DOCUMENTS, MarkError, content, names, parts, rewrite, written
from training.documents.tables import (
    PAST,
    MissingNumbersError,
    PastTable,
    Sources,
    heads_of_stories,
    keep_all,
)
from training.measure.studies import methods_of, numbers_of

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


def test_a_number_that_somebody_edits_is_noticed():
    text = read("README.md")
    edited = with_another_number(text)
    assert edited != text and written(edited, SOURCES) == text


def test_every_macro_stands_in_a_document():
    shown = {name.partition(".")[0] for document in DOCUMENTS for name in names(read(document))}
    assert shown == set(parts())


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


def test_the_shipped_weights_stand_before_the_earlier_ones():
    shipped, earlier, *_ = rows(content(SOURCES, "past-intact"))[2:]
    table = PAST["past-intact"]
    assert shipped == [f"**{cell}**" for cell in (f"{SOURCES.called} (as shipped)", *table.row(SOURCES))]
    assert earlier == table.earlier(SOURCES)[0]


def test_weights_that_were_never_measured_have_no_row(tmp_path):
    keep_all(Sources(tmp_path))
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.parametrize("table", PAST.values(), ids=lambda table: table.name)
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


# One layer and one head: embedding, position, decoder, cross, feed-forward, and two biases write.
WROTE = [0.1, 0.0, -1.0, 4.0, 2.5, 0.0, -0.2]
MATTERED = [
    0.5,
    6.0,
    -0.75,
    3.0,
    1.25,
]  # of the encoder's head and feed-forward network, then of the decoder's
DIRECT = [0.0, 0.0, -0.5, 2.0, 1.25]


def tally(value, edits: int = 12) -> Tally:
    """As many sentences with one edit each, alike."""
    found = Tally.empty(np.shape(value))
    for _ in range(edits):
        found.add(np.array([value], float))
    return found


@pytest.fixture(scope="module")
def sources():
    found = {
        **{f"answer/{group}/wrote": tally(WROTE) for group in ("all", "liaison", "rule:liaison", "coda:ㄱ")},
        "answer/spacing/wrote": tally(WROTE, 2),
        "answer/copied/wrote": tally([0.0] * 7, 40),
        "answer/all/looked": tally([0.2, 0.3, 0.9]),
        "answer/all/mattered": tally(MATTERED),
        "answer/all/direct": tally(DIRECT),
        "answer/all/first_looked": tally(0.25),
        "answer/all/first_wrote": tally(0.75),
        "answer/liaison/own_looked": tally(1.0),
        "answer/liaison/next_wrote": tally(0.875),
        "answer/all/rank_wrote": tally(4.0),
        "answer/all/circuit_found": tally(0.5),
        "answer/all/circuit_size": tally(16.0, 6),
        "somebody/else": tally(9.0),
    }
    kinds = ("encoder_attention", "decoder_attention", "cross_attention")
    made = Sources()
    survey = SimpleNamespace(
        corrector=SimpleNamespace(fingerprint="abc"),
        sums=SimpleNamespace(tallies=found),
        done={"answers": 7},
        plan=SimpleNamespace(circuits=3),
        kinds=kinds,
        shape=(1, 1),
    )
    made.__dict__["answers"] = AnswerSurvey(answers(survey))
    return made


def test_the_size_is_counted_in_edits_and_sentences(sources):
    assert rows(content(sources, "answers-size.en"))[-1] == ["12", "7", "3", "`abc`"]


def test_looking_and_writing_stand_beside_each_other(sources):
    everything, *_ = rows(content(sources, "answers-characters.en"))[2:]
    assert everything[:4] == ["all", "12", "0.25 ± 0.00", "0.75 ± 0.00"]
    looked, wrote, mattered = rows(content(sources, "answers-liaison.ko"))[2:]
    assert (
        looked == ["본 글자", "1.00 ± 0.00", "–"] and wrote[2] == "0.88 ± 0.00" and mattered[1:] == ["–", "–"]
    )
    assert rows(content(sources, "answers-heads.en"))[-1] == ["writing", "4.0 ± 0.0", "–"]


def test_parts_stand_by_how_much_they_matter_and_the_encoder_writes_nothing(sources):
    first, second, *_ = rows(content(sources, "answers-parts.en"))[2:]
    assert first == ["encoder feed-forward 1", "–", "–", "–", "6.00 ± 0.00", "–"]
    assert second[0] == "decoder→encoder 1·1" and second[1:3] == ["0.90 ± 0.00", "4.00 ± 0.00"]
    assert second[5] == "2.00 ± 0.00"
    by_layer = {row[0]: row[1:] for row in rows(content(sources, "answers-layers.en"))[2:]}
    assert by_layer["decoder attention 1"] == ["-1.00", "0.00", "-0.75", "-0.50"]


def test_writers_are_named_for_what_has_enough_edits(sources):
    found = rows(content(sources, "answers-rules.ko"))[2:]
    assert [row[0] for row in found] == ["모두", "연음(머거 → 먹어)", "받침 ㄱ을 되찾음", "연음"]
    assert found[0][2] == "디코더→인코더 1·1 +4.0, 디코더 피드포워드 1 +2.5, 디코더 1·1 -1.0"


def test_circuits_are_told_where_they_were_looked_for(sources):
    assert rows(content(sources, "answers-circuits.en"))[2:] == [["all", "12", "50%", "16.0 ± 0.0", "–", "–"]]


def test_what_is_heard_is_told_by_place_and_beside_random_directions():
    measured = {
        "fingerprint": "abc",
        "sentences": {"fitted": 4, "asked": 5},
        "syllables": {"fitted": 90, "asked": 1234, "changed": 56},
        "places": [{"all": [0.5, 0.1], "changed": [0.25, None]}, {"all": [0.75, 0.0], "changed": [0.5, 0.0]}],
        "likeliest": {"all": [0.1, 0.0], "changed": [None, None]},
        "erased": {
            "liaison": {
                "edits": 9,
                "score": [12.0, 1.0],
                **{
                    of: {
                        place: {"kept": [kept, 0.0], "lost": [lost, 0.5]}
                        for place in ("0", "1", "everywhere")
                    }
                    for of, kept, lost in (("heard", 0.25, 8.0), ("random", 0.75, 2.0))
                },
            },
            "word": {"edits": 2, "score": [1.0, None]},
        },
    }

    told = Sources(given={"heard": measured})
    assert rows(content(told, "heard-size.en"))[-1][2:] == ["1,234", "56", "`abc`"]
    start, after, likeliest = rows(content(told, "heard-places.en"))[2:]
    assert start[1:] == ["0.50 ± 0.10", "0.25"] and after[0] == "after attention 1" and likeliest[2] == "–"
    (row,) = rows(content(told, "heard-erased.ko"))[2:]
    assert row[1:] == ["9", "12.00 ± 1.00", "0.25 ± 0.00", "0.75 ± 0.00", "8.00 ± 0.50", "2.00 ± 0.50"]
    assert len(rows(content(told, "heard-erased-places.en"))[2:]) == 2  # a place each, without all of them


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


def test_a_method_that_came_later_is_left_out():
    assert methods_of(EDITS) == ["attention"]
    assert methods_of(EDITS[2:]) == ["attention", "alti"]


def test_the_tables_show_what_was_counted():
    found = numbers_of([edit(pair, "spacing", True) for pair in range(4)], "abc")
    text = content(Sources(given={"attention": found}), "attention-all")
    assert text.startswith("4 edits in 4 sentences, weights `abc`.")
    assert "| attention | 1.00 ± 0.00 | 1.00 ± 0.00 | 0.50 ± 0.00 |" in text
    assert "| spacing | 4 | 1.00 ± 0.00 | 0.00 ± 0.00 |" in text


def measured(mean) -> dict:
    return {"mean": mean, "margin": np.zeros_like(mean).tolist(), "rows": 9}


SURVEY = HeadSurvey(
    {
        "fingerprint": "abc",
        "kinds": ["cross_attention"],
        "sentences": 9,
        "effect_sentences": 4,
        "pruning_sentences": 5,
        "pruning_right": 2,
        "pruning_overlap": 0,
        "roles": {"cross_attention": {"own": {"copied": measured([[0.5, 0.1], [0.2, 0.9]])}}},
        "effects": {
            "cross_attention": {
                "loss": measured([[0.1, 3.0], [0.4, 0.2]]),
                "edited": measured([[-2.0, 0.1], [0.3, 1.5]]),
                "copied": measured([[0.0, 0.0], [0.0, 0.0]]),
            }
        },
        "pruning": {"effect": [[0, 0.9, 1.0], [2, 0.5, 0.5]], "random 1": [[0, 0.9, 1.0], [2, 0.1, 0.2]]},
        "examples": {},
        "sentences_shown": [],
        "means": {},
    }
)


def surveyed() -> Sources:
    found = Sources()
    found.__dict__["survey"] = SURVEY  # a cached property
    return found


def test_the_three_heads_are_those_that_the_survey_singles_out():
    cross = "cross_attention"
    assert heads_of_stories(SURVEY) == {
        "loss": Head(cross, 0, 1),
        "for": Head(cross, 0, 0),
        "against": Head(cross, 1, 1),
    }
    text = content(surveyed(), "story-heads")
    assert (
        "| what the right sentence loses without it | 3.000 ± 0.000 | 0.100 ± 0.000 | 0.200 ± 0.000 |" in text
    )
    assert "| loss without the next head in this list (nats) | 0.40 |" in text
    assert "| looks where a coda had moved | – | – | – |" in text


def test_the_curve_of_removed_heads_is_beside_the_mean_of_the_random_orders():
    assert (
        content(surveyed(), "story-pruning").splitlines()[3]
        == "| without 2 | 50.0% | 10.0% | 50.0% | 20.0% |"
    )
    assert "| 2개를 뺌 |" in content(surveyed(), "story-pruning.ko")
