"""Command ``evaluate``: scores by family and rule, causes of failures, tables, JSON."""

import json
import shutil
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from model import Corrector
from tests.replacing import Replacer
from training.__main__ import main
from training.measure.metrics import EDGES, THRESHOLDS
from training.measure.report import cause, count_causes
from training.noise.pairs import MIX


@pytest.fixture
def run(monkeypatch):
    def _run(*arguments, table=None):
        monkeypatch.setattr(Corrector, "load", lambda *_, **__: Replacer(table or {}))
        return CliRunner().invoke(main, ["evaluate", *map(str, arguments)])

    return _run


@pytest.fixture
def pairs_file(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text(
        "src,tgt\n감배,담배\n바블 머거,밥을 먹어\n한칸뿐\n비가 온다,비가 온다\n", encoding="utf-8"
    )
    return path


@pytest.fixture
def sentences_file(tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text(
        "\n".join(f"{number}번 손님이 밥을 먹었습니다." for number in range(40)), encoding="utf-8"
    )
    return path


def test_command_prints_a_table_and_reports_skipped_rows(run, pairs_file):
    result = run(pairs_file, table={"감배": "담배"})
    assert result.exit_code == 0
    assert "line 4: 1 fields where the header has 2" in result.stderr
    assert "| given | 2 | 50.0% |" in result.stdout and "| all | 3 | 66.7% |" in result.stdout
    assert "exact match of all (95%): 20.8%–93.9%" in result.stdout
    assert "fake 0f0f, minimum confidence 0.5; 3 sentences in" in result.stdout
    assert "calibration" not in result.stdout
    printed = run(pairs_file, "--reliability", table={"감배": "담배"}).stdout
    assert "calibration error" in printed and "| 0.8–0.9 | 1 | 80.0% |" in printed
    assert "highest F0.5 at a minimum confidence of 0.4" in printed


def test_json_always_holds_reliability_and_thresholds(run, pairs_file):
    document = json.loads(
        run(pairs_file, "--json", "-", table={"감배": "밤배", "바블 머거": "밥을 먹어"}).stdout
    )
    assert document["reliability"]["changes"] == 3
    bins = document["reliability"]["bins"]
    assert [each["from"] for each in bins] + [1] == list(EDGES)
    assert [each["changes"] for each in bins if each["from"] == 0.8] == [3]
    thresholds = document["thresholds"]
    assert [each["minimum_confidence"] for each in thresholds] == list(THRESHOLDS)
    # The changes have a confidence of 0.8: above it nothing is sure enough.
    assert [each["exact"] for each in thresholds] == [2 if least <= 0.8 else 1 for least in THRESHOLDS]
    assert document["best_minimum_confidence"] == 0.4  # the middle of those up to 0.8
    assert document["total"]["cer_reduction"] == thresholds[0]["cer_reduction"] > 0


def test_failures_of_one_family(run, pairs_file):
    shown = run(pairs_file, "--show", 9, "--family", "given", table={"비가 온다": "비가 논다"}).stdout
    assert shown.count("\n[given]") == 2
    assert "비가 논다" not in shown
    unknown = run(pairs_file, "--family", "typing")
    assert unknown.exit_code == 1
    assert "'typing'; there are clean, given" in unknown.stderr


def test_json_file_of_generated_errors(run, sentences_file, tmp_path):
    out = tmp_path / "report.json"
    result = run(sentences_file, "--json", out, "--limit", 30, "--seed", 7, "--rules", "--show", 2)
    assert result.exit_code == 0
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["mix"] == dict(MIX)
    assert document["sentences"] == 30 == sum(each["count"] for each in document["families"].values())
    assert sum(rule["count"] for rule in document["rules"]) > 0
    assert "| pronunciation |" in result.stdout
    assert "generated with seed 7" in result.stdout
    assert "| rule | family | errors | repaired | recall |" in result.stdout
    assert result.stdout.count("\n  got ") == 2


def test_unusable_input_is_a_message_not_a_traceback(run, tmp_path, pairs_file):
    no_model = CliRunner().invoke(main, ["evaluate", str(pairs_file), "--model", "nowhere"])
    assert no_model.exit_code == 1 and "nowhere" in no_model.stderr
    missing = run(tmp_path / "missing.csv")
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "cannot read" in missing.stderr
    unwritable = run(pairs_file, "--json", tmp_path / "no" / "folder.json")
    assert unwritable.exit_code == 1
    assert "cannot write" in unwritable.stderr


def test_choosing_makes_the_best_threshold_the_models_own(tiny_folder, tmp_path, pairs_file):
    folder = tmp_path / "chosen"
    shutil.copytree(tiny_folder, folder)
    arguments = ["evaluate", str(pairs_file), "--model", str(folder), "--json", str(tmp_path / "e.json")]
    result = CliRunner().invoke(main, [*arguments, "--choose"])
    assert result.exit_code == 0, result.output
    chosen = json.loads((tmp_path / "e.json").read_text("utf-8"))
    own = json.loads((folder / "config.json").read_text("utf-8"))["minimum_confidence"]
    assert own == chosen["minimum_confidence"] == chosen["best_minimum_confidence"]
    row = next(each for each in chosen["thresholds"] if each["minimum_confidence"] == own)
    assert row["f0.5"] == chosen["total"]["f0.5"]
    # The same command without choosing finds the same numbers, with the fingerprint of the changed config.
    assert CliRunner().invoke(main, arguments).exit_code == 0
    again = json.loads((tmp_path / "e.json").read_text("utf-8"))
    assert {**again, "seconds": 0} == {**chosen, "seconds": 0}


OTHER = (3, 4, "밥")  # of 되요 밤, in which only 되요 is wrong


def correction(text, proposed, made):
    proposed, made = (
        [SimpleNamespace(source_start=start, source_end=end, right=right) for start, end, right in changes]
        for changes in (proposed, made)
    )
    return SimpleNamespace(source="되요 밤", text=text, proposed=proposed, changes=made)


@pytest.fixture
def needed():
    from training.measure.metrics import edits

    (found,) = edits("되요 밤", "돼요 밤")
    return found


def test_the_first_cause_that_holds(needed):
    def of(text, proposed, made):
        return cause(correction(text, proposed, made), "돼요 밤")

    assert of("돼요 밤", [needed], [needed]) == "right"
    assert of("되요 밤", [needed], []) == "unsure"
    assert of("되요 밥", [needed, OTHER], [OTHER]) == "wrong_made"
    assert of("되요 밤", [needed, OTHER], []) == "wrong_proposed"
    assert of("되요 밤", [], []) == "unseen"


def test_only_sentences_with_an_error_are_counted(needed):
    def outcome(wrong):
        made = correction("되요 밤", [], [])
        return SimpleNamespace(correction=made, pair=SimpleNamespace(wrong=wrong, right="돼요 밤"))

    found = count_causes([outcome("되요 밤"), outcome("돼요 밤")])
    assert found == {"right": 0, "unsure": 0, "wrong_made": 0, "wrong_proposed": 0, "unseen": 1}
