"""Fitting of the confidence's decision trees: its pairs, calibration, the command."""

import json
import random
import shutil
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

from model.correction.candidates import Stretch
from model.correction.confidence import Trees, load_confidence
from training.__main__ import main
from training.measure.confidence import (
    Boosting,
    calibrated,
    drilled_pairs,
    fit,
    intact_pairs,
    is_for_fitting,
    named_pairs,
    practised_pairs,
    right_pairs,
    right_there,
    spaced_pairs,
)
from training.measure.metrics import edits
from training.noise.pairs import NoisyPair
from training.run.examples import PRACTICES

SMALL = Boosting(trees=150, depth=2, rate=0.1)


def data(count=3000):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(count, 3))
    odds = 2 * rows[:, 0] - 1.5 * (rows[:, 1] > 0.5)
    return rows, (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(float)


def odds_of(trees, rows):
    return Trees(("first", "second", "third"), 0.0, trees).log_odds(rows)


def test_trees_learn_what_decides():
    rows, right = data()
    start, trees = fit(rows, right, (1, -1, 0), SMALL)
    probability = 1 / (1 + np.exp(-(start + odds_of(trees, rows))))
    loss = -np.mean(right * np.log(probability) + (1 - right) * np.log(1 - probability))
    guess = -np.mean(right * np.log(right.mean()) + (1 - right) * np.log(1 - right.mean()))
    assert loss < 0.75 * guess
    assert abs(probability.mean() - right.mean()) < 0.01


def test_trees_of_another_mixture_are_made_true_and_keep_their_order():
    rows, right = data()
    often_wrong = np.concatenate([rows, rows[right == 0], rows[right == 0]])
    rights = np.concatenate([right, np.zeros(2 * int((right == 0).sum()))])
    start, trees = fit(often_wrong, rights, (0, 0, 0), SMALL)
    odds = start + odds_of(trees, rows)
    start, trees = calibrated(start, trees, odds, right)
    told = 1 / (1 + np.exp(-(start + odds_of(trees, rows))))
    assert (1 / (1 + np.exp(-odds))).mean() < right.mean() - 0.1
    for least, most in ((0, 0.3), (0.3, 0.6), (0.6, 1)):
        between = (told >= least) & (told < most)
        assert abs(told[between].mean() - right[between].mean()) < 0.03
    assert (np.argsort(told, kind="stable") == np.argsort(odds, kind="stable")).all()


@pytest.mark.parametrize("direction", [1, -1])
def test_a_monotone_feature_never_turns(direction):
    rows, right = data()
    _, trees = fit(rows, right, (direction, 0, 0), Boosting(trees=40, depth=3, rate=0.1))
    for base in rows[:40]:
        line = np.repeat(base[None], 50, 0)
        line[:, 0] = np.linspace(-3, 3, 50)
        assert (direction * np.diff(odds_of(trees, line)) >= -1e-12).all()


def test_rounding_a_threshold_moves_no_row():
    rows = np.log1p(np.arange(6.0).repeat(100))[:, None]
    right = (rows[:, 0] > 1).astype(float)
    right[::7] = 0.5 > right[::7]
    start, trees = fit(rows, right, (0,), Boosting(trees=5, depth=2, rate=0.1, fewest=1))
    saved = json.loads(Trees(("count",), start, trees).to_json())["trees"]
    for tree in saved:
        assert min(abs(tree[1] - value) for value in rows[:, 0]) > 0.01


RIGHTS = [
    NoisyPair(text, text, "clean", ()) for text in (f"{n}번 손님은 며칠 뒤에 안 왔다." for n in range(40))
]


@pytest.mark.parametrize("make", [drilled_pairs, spaced_pairs, named_pairs])
def test_pairs_are_made_of_the_fitting_half_alone_and_the_same_again(make):
    made = make(RIGHTS, 200)
    assert made == make(RIGHTS, 200) and len(made) > 150
    others = {pair.right.split()[0] for pair in RIGHTS if not is_for_fitting(pair)}
    assert not any(set(pair.right.split()) & others for pair in made)
    assert any(pair.wrong != pair.right for pair in made)


def test_every_practice_is_fitted_on_alike_and_some_of_it_without_the_mistake():
    sentences = [
        "겨울 방학에 친구와 책을 읽었다.",
        "학교 앞에서 버스를 기다렸어요.",
        "어머니께서 김치를 담그셨습니다.",
    ]
    pairs = [NoisyPair(text, text, "clean", ()) for text in sentences * 40]
    made = practised_pairs(pairs, 20 * len(PRACTICES))
    names = Counter(pair.family for pair in made)
    practised = len(made) - names["clean"]
    assert set(names) == {*PRACTICES, "clean"} and names["norm"] == names["notes"] == 20
    assert names["clean"] == -(-practised // 3)
    assert all(pair.wrong == pair.right for pair in made[practised:])
    assert any(pair.wrong != pair.right for pair in made[:practised])
    assert practised_pairs(pairs, 60)[:50] == made[:50]


def test_right_sentences_of_the_fitting_half_are_fitted_on_once_each():
    rights = [f"{number}번 손님은 며칠 뒤에 왔다." for number in range(40)]
    pairs = [NoisyPair(wrong, right, "mixed", ()) for right in rights for wrong in (right, right[1:])]
    found = right_pairs(pairs)
    assert {pair.right for pair in found} == {pair.right for pair in pairs if is_for_fitting(pair)}
    assert len(found) == len({pair.right for pair in found}) and all(
        pair.wrong == pair.right for pair in found
    )


@pytest.mark.parametrize(
    ("source", "right", "span", "expected"),
    [
        ("가나다라", "가마다라", (1, 2), "마"),
        ("가나다라", "가마다사", (1, 2), "마"),  # a mistake elsewhere does not matter
        ("가나다라", "가나다라", (1, 3), "나다"),
        ("가나다라", "가 나마라", (1, 3), " 나마"),  # two edits in one stretch
        ("가나다라", "가마사라", (1, 2), None),  # an edit that goes on behind it
        ("가나다라", "가나 다라", (2, 2), " "),
        ("가나다라", "가마다라", (2, 2), ""),  # an edit that ends where it begins
        ("가나다라", "가나사라", (1, 2), "나"),
    ],
)
def test_what_is_right_in_a_stretch(source, right, span, expected):
    stretch, before = Stretch(*span, source[slice(*span)], {}), "앞. "
    assert right_there(stretch, len(before), edits(before + source, before + right)) == expected


def test_right_sentences_are_fitted_on_as_they_are():
    sentences = [f"{number}번 손님이 왔다." for number in range(50)]
    pairs = intact_pairs(sentences, 20)
    assert len({pair.right for pair in pairs}) == 20 and all(pair.wrong == pair.right for pair in pairs)
    assert pairs == intact_pairs(sentences, 20)
    assert len(intact_pairs(sentences, 100)) == 50


@pytest.fixture
def files(tmp_path):
    """Pairs half of whose wrong sides are right, by chance: enough for a network that writes nonsense."""
    rng, rows = random.Random(0), ["src,tgt"]
    for number in range(120):
        text = "".join(rng.choices("전오래쓸수있는게필요해요", k=6))
        rows.append(f"{text},{text[:3]} {number}")
    pairs, known = tmp_path / "pairs.csv", tmp_path / "known.txt"
    pairs.write_text("\n".join(rows), encoding="utf-8")
    known.write_text("전 오래 쓸 수 있는 게 필요해요\n오래 쓸 수 있는\n", encoding="utf-8")
    return pairs, known


def test_the_command_puts_it_beside_the_weights(tiny_folder, load_tiny, tmp_path, files, monkeypatch):
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)

    # The text of such a network is never right; every other candidate counts as right here.
    def every_other(*arguments):
        return [each._replace(is_right=number % 2 == 0) for number, each in enumerate(original(*arguments))]

    from training.measure import confidence

    original = confidence.examples
    monkeypatch.setattr(confidence, "examples", every_other)
    monkeypatch.setattr(
        confidence, "BOOSTING", Boosting(trees=20, depth=3, rate=0.1)
    )  # fewer than are shipped take a tenth of the time
    pairs, known = files
    done = CliRunner().invoke(
        main,
        ["confidence", str(pairs), "--known", str(known), "--least", "1", "--model", str(folder)]
        + ["--names", "3", "--intact", "1"],
    )
    assert done.exit_code == 0, done.output
    assert "by its own confidence" in done.output and "with words and phrases" in done.output
    assert "in doubt morphemes" in done.output and load_confidence(folder).second is not None
    # The sentence that is fitted on is not counted.
    lines = [line.split() for line in known.read_text(encoding="utf-8").splitlines()]
    assert load_confidence(folder).words.counts in [dict.fromkeys(line, 1) for line in lines]
    assert len(load_confidence(folder).ngrams) > 20
    (change, *_) = load_tiny(folder).correct("손니미 왔는데 방이 없으면").proposed
    assert 0 < change.known_confidence < 1


def test_changes_that_are_all_wrong_are_a_message(tiny_folder, tmp_path, files):
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)
    pairs, known = files
    refused = CliRunner().invoke(
        main, ["confidence", str(pairs), "--known", str(known), "--model", str(folder)]
    )
    assert refused.exit_code == 1 and "some wrong" in refused.output
    assert load_confidence(folder) is None
