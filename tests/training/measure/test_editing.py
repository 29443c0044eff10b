"""Study of model editing: choice of pairs, outcomes of an edit, the command's JSON."""

import json

import pytest
from click.testing import CliRunner

from model import Corrector
from model.analysis import edit_effects, model_editing
from model.analysis.model_editing import Pair
from training.__main__ import main
from training.measure import editing
from training.measure.editing import EditingStudy, read_material

WRONG, RIGHT = "꼭둑각시 같다.", "꼭두각시 같다."  # the network does not write it


@pytest.fixture
def files(tmp_path, monkeypatch):
    """(people's pairs, right sentences), of our own; fewer keys and behind fewer words, to be quick."""
    for name, value in (("KEY_PAIRS", 20), ("OTHER_PAIRS", 10)):
        for module in (model_editing, edit_effects):
            monkeypatch.setattr(module, name, value)
    for module in (edit_effects, editing):
        monkeypatch.setattr(module, "OPENINGS", ("아마 ",))
    pairs = [
        (WRONG, RIGHT, "train"),
        (f"그 {WRONG}", f"그 {RIGHT}", "dev"),
        ("밥을 머거요.", "밥을 먹어요.", "dev"),
    ]
    pairs += [("금새 비가 그쳤다.", "금세 비가 그쳤다.", "test")]
    real, right = tmp_path / "real.jsonl", tmp_path / "right.jsonl"
    rows = [{"wrong": wrong, "right": good, "split": split} for wrong, good, split in pairs]
    real.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    texts = ["비가 온다.", "집에 갔다.", "밥을 먹었다.", "책을 읽는다."]
    right.write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    return real, right


def test_mistakes_of_one_character_that_the_network_makes_are_taught(files, shipped, tmp_path, monkeypatch):
    material = read_material(*files, (10, 4), shipped)
    assert Pair(WRONG, RIGHT) in material.pairs and all("금새" not in pair.wrong for pair in material.pairs)
    assert {len(pair.wrong) - len(pair.wanted) for pair in material.pairs} == {0}
    assert len(material.keys) == 2 and not set(material.keys) & set(material.others)
    rows = list(EditingStudy(shipped, material).rows())
    assert len(rows) == len(material.pairs)
    first = rows[material.pairs.index(Pair(WRONG, RIGHT))]
    assert first["whitened"]["mended"] and not first["random"]["mended"]
    assert first["random"]["size"] == pytest.approx(first["whitened"]["size"], rel=1e-3)
    assert first["whitened"]["people"][1] <= 1  # the other pair of the same mistake, if it is wrong, too

    # The command writes numbers and no sentence.
    monkeypatch.setattr(Corrector, "load", lambda _: shipped)
    monkeypatch.setattr(EditingStudy, "rows", lambda study: iter(rows[:1]))
    out = tmp_path / "editing.json"
    options = ["--pairs", "1", "--others", "4", "--json", str(out)]
    result = CliRunner().invoke(main, ["editing", *map(str, files), *options])
    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text("utf-8"))
    assert found["pairs"] == 1 and "random direction" in result.output
    assert not any("가" <= character <= "힣" for character in out.read_text("utf-8"))
