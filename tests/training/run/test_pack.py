"""Commands ``pack`` and ``recipe``: packed corpora, arguments of training stages."""

import itertools
import json
import random
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import model.correction.morphemes
from model.correction.morphemes import MorphemeTable
from training.__main__ import main
from training.corpus.corpus import Pair, Sentence, read_corpus
from training.noise import everyday
from training.noise.spacing import free_spaces
from training.run import pack as module
from training.run.pack import RECIPE, packed_row, stage_arguments, with_packed
from training.run.train import train

SENTENCES = [
    "대기 오염 문제가 심각하다고 한다.",
    "학교 운동장에서 축구 경기를 봤어요!",
    "겨울 방학 동안 책을 많이 읽었다.",
    "어제 산 책을 다 읽었습니다.",
]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    rows = [{"text": text, "source": "news", "mt": number % 2} for number, text in enumerate(SENTENCES)]
    # A mistake by its letters, one by its morphemes, and one that is too long.
    rows += [{"text": "밥을 먹고싶다."}, {"text": "친구를 만나러왔어요."}, {"text": "가" * 200}]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (folder / "corpus.jsonl").write_text(lines, encoding="utf-8")
    (folder / "dev.csv").write_text("src,tgt\n됬어요.,됐어요.\n", encoding="utf-8")
    arguments = [
        "pack",
        str(folder / "out"),
        f"--corpus={folder / 'corpus.jsonl'}",
        f"--dev={folder / 'dev.csv'}",
    ]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    return folder / "out"


@pytest.fixture
def without_kiwi(packed, monkeypatch):
    """Packed table of morphemes in place of Kiwi."""
    monkeypatch.setenv(model.correction.morphemes.TABLE_VARIABLE, str(packed / "morphemes.json.xz"))
    for cached in (model.correction.morphemes._load, free_spaces):
        cached.cache_clear()
    yield
    for cached in (model.correction.morphemes._load, free_spaces):
        cached.cache_clear()


def test_a_packed_corpus_is_read_as_the_one_it_was_made_of(packed):
    corpus = read_corpus(packed / "corpus.jsonl.xz")
    assert corpus.rows == [Sentence(text, "news", bool(i % 2)) for i, text in enumerate(SENTENCES)]
    assert read_corpus(packed / "dev.jsonl.xz").rows == [Pair("됬어요.", "됐어요.")]


def test_what_is_checked_is_not_checked_again(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(packed_row(Sentence("밥을 먹고싶다.")), encoding="utf-8")
    assert len(read_corpus(path).rows) == 1


def test_everyday_sentences_are_the_same_without_kiwi(without_kiwi):
    def some() -> list[str]:
        rng = random.Random(3)
        return [everyday.everyday_sentence(rng) for _ in range(3000)]  # meets nearly every ending

    made = some()
    assert isinstance(model.correction.morphemes._load(), MorphemeTable)
    model.correction.morphemes._load.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(model.correction.morphemes.TABLE_VARIABLE)
        assert some() == made
        model.correction.morphemes._load.cache_clear()


def test_free_spaces_are_the_same_for_words_that_were_met(without_kiwi):
    found = [free_spaces(text) for text in SENTENCES]
    assert found[0] == {2, 5}  # 대기 오염, 오염 문제
    assert free_spaces("낱말 하나도 모름") == frozenset()  # words that were not: no space is free
    free_spaces.cache_clear()
    model.correction.morphemes._load.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(model.correction.morphemes.TABLE_VARIABLE)
        assert [free_spaces(text) for text in SENTENCES] == found


SHIPPED = tomllib.loads(RECIPE.read_text("utf-8"))


def test_every_stage_starts_from_the_one_before():
    stages = stage_arguments(SHIPPED, Path("corpus"), Path("runs/again"))
    assert len(stages) == len(SHIPPED["stage"]) >= 2
    assert not any(argument.startswith("--init") for argument in stages[0])
    for before, after in itertools.pairwise(stages):
        (out,) = (each.removeprefix("--out=") for each in before if each.startswith("--out="))
        assert f"--init={out}" in after


def test_one_stage_goes_on_from_other_weights_with_other_options(tmp_path):
    alone = ["recipe", str(tmp_path), "--out", "o", "--only", "natural", "--show"]
    shown = CliRunner().invoke(main, [*alone, "--set", "init=transformer", "--set", "batch-tokens=512"])
    assert shown.output.count("training train") == 1
    assert "--init=transformer" in shown.output and "--batch-tokens=512" in shown.output
    assert "--init" not in CliRunner().invoke(main, alone).output
    unknown = CliRunner().invoke(main, [*alone, "--only", "none"])
    assert unknown.exit_code == 1 and "none" in unknown.output


def test_packed_files_take_the_place_of_the_recipes(tmp_path):
    assert with_packed(SHIPPED, tmp_path) == SHIPPED
    for name in ("corpus.jsonl.xz", "pairs.jsonl.xz"):
        (tmp_path / name).touch()
    packed = with_packed(SHIPPED, tmp_path)
    assert packed["data"] == {"corpus": ["corpus.jsonl.xz", "pairs.jsonl.xz"], "dev": "dev.jsonl.xz"}
    assert f"--morphemes={tmp_path / 'morphemes.json.xz'}" in stage_arguments(packed, tmp_path, tmp_path)[-1]


def test_the_train_command_knows_every_option():
    known = {option for parameter in train.params for option in parameter.opts}
    for stage in stage_arguments(SHIPPED, Path("f"), Path("o")):
        assert {argument.split("=")[0] for argument in stage[1:]} <= known


@pytest.mark.parametrize(
    "stage", ['[stage]\nname = "one"', '[[stage]]\nname = "one"\nsteps = "5"', "stage = 3"]
)
def test_a_file_that_is_no_recipe_is_named(stage, tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text(f'[data]\ncorpus = ["a.txt"]\ndev = "d.txt"\n{stage}\n', encoding="utf-8")
    result = CliRunner().invoke(
        main, ["recipe", str(tmp_path), "--out", str(tmp_path), "--recipe", str(path)]
    )
    assert result.exit_code == 1 and f"Error: {path}: a recipe has data, stages" in result.output


def test_stages_run_in_order_until_one_fails(tmp_path, monkeypatch):
    begun = []

    def run(command, check):
        begun.append(next(each for each in command if each.startswith("--out=")))
        return type("Done", (), {"returncode": len(begun) == 2})

    monkeypatch.setattr(module.subprocess, "run", run)
    result = CliRunner().invoke(main, ["recipe", str(tmp_path), "--out", str(tmp_path / "o")])
    assert result.exit_code == 1 and "ended early" in result.output
    assert [name.rpartition("/")[2] for name in begun] == ["begin", "plateau"]
    shown = CliRunner().invoke(main, ["recipe", str(tmp_path), "--out", "o", "--show"])
    assert shown.exit_code == 0 and len(shown.output.splitlines()) == 4 and len(begun) == 2
