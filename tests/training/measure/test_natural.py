"""Measures on text at natural error rates and on right text; verdicts on changes."""

import csv
import json

import pytest
from click.testing import CliRunner

import training.measure.natural
from model import Corrector
from tests.replacing import Replacer
from training.__main__ import main
from training.documents.render import content
from training.documents.tables import Sources
from training.measure.natural import (
    read_verdicts,
)

REAL = [
    {"wrong": "안보인다면 누르세요.", "right": "안 보인다면 누르세요.", "kind": "space"}
    | {"source": "DjangoGirls/tutorial", "split": "test", "edits": [["안보인다면", "안 보인다면"]]},
    {"wrong": "둘다 위핸 일이다.", "right": "둘 다 위한 일이다.", "kind": "jamo"}
    | {"source": "renpy/renpy", "split": "test", "edits": [["둘다", "둘 다"], ["위핸", "위한"]]},
    {"wrong": "몇일 뒤다.", "right": "며칠 뒤다.", "kind": "norm"}
    | {"source": "flutter-ko/website", "split": "dev", "edits": [["몇일", "며칠"]]},
]
UNSEEN = [
    {"text": "진안 여행을 갔다.", "source": "a/b:news", "mt": 0, "register": "news"},
    {"text": "노래를 불렀다.", "source": "a/poems", "mt": 0, "register": "poems"},
    {"text": "밥을 먹었다.", "source": "a/poems", "mt": 0, "register": "poems"},
]
# The corrector mends one mistake of two, and bends a right word to a commoner one.
ANSWERS = {
    "안보인다면 누르세요.": "안 보인다면 누르세요.",
    "둘다 위핸 일이다.": "둘 다 위핸 일이었다.",
    "진안 여행을 갔다.": "지난 여행을 갔다.",
}


@pytest.fixture
def files(tmp_path):
    for name, rows in (("real_pairs", REAL), ("unseen", UNSEEN)):
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "real_pairs.jsonl", tmp_path / "unseen.jsonl"


def test_the_commands_measure_list_and_keep_verdicts(files, tmp_path, monkeypatch):
    monkeypatch.setattr(Corrector, "load", lambda name, least: Replacer(ANSWERS, 0.9, 0.8))
    out = {name: tmp_path / name for name in ("natural.json", "unseen.json", "list.csv", "verdicts.csv")}
    kept = out["verdicts.csv"]

    def run(*arguments):
        done = CliRunner().invoke(main, [*map(str, arguments)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    none = CliRunner().invoke(main, ["natural", *map(str, files), "--split", "none"])
    assert none.exit_code == 1 and "no pair of the split none" in none.output
    printed = run("natural", *files, "--rate", "0.25", "--json", out["natural.json"])
    assert "| spaces | 1 | 100% |" in printed
    kept.write_text("source,row,start,end,kind,change,verdict\n", encoding="utf-8")
    unseen = ("unseen", files[1], "--verdicts", kept, "--json", out["unseen.json"])
    run(*unseen, "--changes", out["list.csv"])
    assert json.loads(out["unseen.json"].read_text("utf-8"))["read"]["read"] == 0

    with out["list.csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["row"], rows[0]["source"]) == ("1", "a/b:news")
    with out["list.csv"].open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"verdict": "false"} for row in rows)
    assert "1 verdicts" in run("verdicts", out["list.csv"], "--verdicts", kept)
    assert list(read_verdicts(kept).values()) == ["false"] and "여행" not in kept.read_text("utf-8")
    assert "1 verdicts" in run("verdicts", out["list.csv"], "--verdicts", kept)
    run(*unseen)
    numbers = {name: json.loads(out[f"{name}.json"].read_text("utf-8")) for name in ("natural", "unseen")}
    assert numbers["unseen"]["read"]["false"] == 1
    assert {"minimum_confidence": 0.95, "mended": 0, "touched": 0} in numbers["natural"]["thresholds"]
    sources = Sources(given=numbers)
    assert "**333** are touched" in content(sources, "natural")
    assert "**50개**를 똑같이" in content(sources, "natural.ko")
    assert "| news | – | – | 3 | 333.3" in content(sources, "natural-registers")
    assert "| unknown words | 333.3 | 1 | 1 | 0 | 0 |" in content(sources, "unseen-kinds")


def test_a_verdict_is_one_of_three(tmp_path):
    path = tmp_path / "verdicts.csv"
    path.write_text("source,row,start,end,kind,change,verdict\na,1,0,1,norm,0f,bad\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: 'bad' is none of false, mend, open"):
        read_verdicts(path)
    kept = tmp_path / "kept.csv"
    kept.write_text("source,row,start,end,kind,change,verdict\na,1,0,1,norm,0f,mend\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["verdicts", str(path), "--verdicts", str(kept)])
    assert done.exit_code == 2 and "line 2: 'bad' is none of" in done.output
    assert read_verdicts(kept) == {"0f": "mend"}, "a list with another word leaves the table as it was"


def test_the_kept_verdicts_can_be_read_and_hold_no_text():
    verdicts = read_verdicts()
    assert len(verdicts) >= 100
    text = training.measure.natural.VERDICTS_FILE.read_text("utf-8")
    assert not any("가" <= character <= "힣" for character in text)
