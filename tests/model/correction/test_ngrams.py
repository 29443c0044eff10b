"""Counts of character n-grams: their probabilities, and the checks of their file."""

import io
import math

import numpy as np
import pytest

from model.correction.counts import LEAST, NGrams
from model.stored.folder import NGRAMS_FILE

SENTENCES = ["가나다라", "가나다마", "가나다라", "나나"]


@pytest.fixture(scope="module")
def ngrams():
    return NGrams.count(SENTENCES, least={})


def score(ngrams, text, start, stop):
    return float(ngrams.scores([(text, start, stop)])[0])


def mixed(count: int, following: list[int], shorter: float) -> float:
    """Witten-Bell smoothing: ``count`` of ``following``, mixed with the probability after a shorter run."""
    return (count + len(following) * shorter) / (sum(following) + len(following))


# A single character counts the different ones before it: 4 before the edge, 3 before 나, 1 before each of
# 가 다 라 마.
ANYWHERE = (1 + 0.5) / (4 + 3 + 1 + 1 + 1 + 1 + 0.5 * 7)  # six characters and the unknown one
AFTER_TWO = mixed(2, [2, 1], mixed(1, [1, 1], ANYWHERE))  # 라 after 나다


def test_what_follows_a_run_is_mixed_with_what_follows_shorter_ones(ngrams):
    # 라 follows two of three times, whether one looks at 나다, 가나다 or at 가나다 at the beginning.
    expected = mixed(2, [2, 1], mixed(2, [2, 1], AFTER_TWO))
    assert score(ngrams, "가나다라", 3, 4) == pytest.approx(math.log(expected), abs=0.05)


def test_what_is_frequent_in_one_place_alone_is_not_usual_elsewhere():
    ngrams = NGrams.count(["가나", "가나", "가나", "다라", "마라"])
    assert score(ngrams, "힣나", 1, 2) < score(ngrams, "힣라", 1, 2)


@pytest.mark.parametrize("least", [{}, LEAST])
@pytest.mark.parametrize("before", ["", "가", "나다", "가나다", "다나다", "힣", "나나"])
def test_the_probabilities_of_all_that_may_follow_add_up_to_one(before, least):
    ngrams = NGrams.count(SENTENCES, least)
    spans = [(before + character, len(before), len(before) + 1) for character in f"{ngrams.characters}힣"]
    assert np.exp(ngrams.scores(spans)).sum() == pytest.approx(1)


def test_rare_long_runs_are_left_out_and_leave_their_share_to_shorter_ones():
    pruned = NGrams.count(SENTENCES, least={4: 2})
    assert len(pruned) < len(NGrams.count(SENTENCES, least={}))
    # 마 stood once after 가나다; of three times two are known to be 라, and the third may be anything.
    shorter = mixed(1, [2, 1], mixed(1, [1, 1], ANYWHERE))
    assert score(pruned, "힣가나다마", 4, 5) == pytest.approx(math.log((2 / 4) * shorter), abs=0.05)


def saved(ngrams) -> bytes:
    file = io.BytesIO()
    ngrams.write(file)
    return file.getvalue()


def test_a_file_holds_it(ngrams, tmp_path):
    path = tmp_path / NGRAMS_FILE
    path.write_bytes(saved(ngrams))
    found = NGrams.read(path)
    assert found.characters == ngrams.characters and len(found) == len(ngrams)
    text = "가나다라마나"
    spans = [(text, start, stop) for start in range(6) for stop in range(start, 8)]
    np.testing.assert_array_equal(found.scores(spans), ngrams.scores(spans))


def without(name):
    return lambda arrays: {key: array for key, array in arrays.items() if key != name}


def changed(name, change):
    return lambda arrays: {**arrays, name: change(arrays[name])}


@pytest.mark.parametrize(
    "damage",
    [
        without("levels_2"),
        changed("characters", lambda a: a[::-1].copy()),
        changed("last_1", lambda a: a + np.uint16(4000)),
        changed("last_2", lambda a: a.astype(np.float32)),
        changed("last_3", lambda a: a[:-1]),
        changed("last_5", lambda a: a[::-1].copy()),
        changed("following_2", lambda a: a[:-1]),
        changed("following_3", lambda a: a * np.uint16(9)),
        changed("levels_5", lambda a: a[None]),
    ],
)
def test_a_damaged_file_is_refused(ngrams, tmp_path, damage):
    with np.load(io.BytesIO(saved(ngrams))) as archive:
        arrays = damage(dict(archive))
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(ValueError, match="should|names"):
        NGrams.read(tmp_path / "damaged.npz")


def test_a_file_cut_short_is_refused(ngrams, tmp_path):
    for size in (0, 3, 200, len(saved(ngrams)) - 30):
        (tmp_path / "cut.npz").write_bytes(saved(ngrams)[:size])
        with pytest.raises(ValueError, match="not a table"):
            NGrams.read(tmp_path / "cut.npz")


def test_too_many_characters_are_refused():
    with pytest.raises(ValueError, match="received 5"):
        NGrams.count(["".join(map(chr, range(0x4E00, 0x4E00 + 5000)))])
