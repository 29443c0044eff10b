"""Counts of runs of characters: what they say, and what their file may hold."""

import io
import math

import numpy as np
import pytest

from model.ngrams import LOG_DISCOUNT, NGRAMS_FILE, ORDER, NGrams

SENTENCES = ["가나다라", "가나다마", "가나다라", "나나"]


@pytest.fixture(scope="module")
def ngrams():
    return NGrams.count(SENTENCES, least={})


def score(ngrams, text, start, stop):
    return float(ngrams.scores([(text, start, stop)])[0])


def test_a_known_run_has_the_share_of_its_history(ngrams):
    # 라 follows 가나다 in two of three sentences.
    assert score(ngrams, "가나다라", 3, 4) == pytest.approx(math.log(2 / 3), abs=0.05)


def test_each_character_given_up_costs_the_discount(ngrams):
    # 다나다 is unknown, 나다 is followed by 라 two times of three.
    expected = math.log(2 / 3) + LOG_DISCOUNT
    assert score(ngrams, "다나다라", 3, 4) == pytest.approx(expected, abs=0.05)
    # After 마 nothing but the end is known, so 라 is as frequent as it is in all text.
    everywhere = math.log(2 / sum(len(text) + ORDER for text in SENTENCES))
    assert score(ngrams, "마라", 1, 2) == pytest.approx(everywhere + 3 * LOG_DISCOUNT, abs=0.2)


def test_both_ends_of_a_sentence_count(ngrams):
    assert score(ngrams, "가나다", 0, 1) == pytest.approx(math.log(3 / 4), abs=0.05)
    assert score(ngrams, "나나", 2, 3) > score(ngrams, "나다", 2, 3)  # no sentence ends in 다


def test_what_was_never_seen_is_possible_and_less_usual_than_all_else(ngrams):
    unknown = score(ngrams, "가힣", 1, 2)
    assert math.isfinite(unknown) and unknown < score(ngrams, "가마", 1, 2)
    assert score(ngrams, "가나", 1, 1) == 0.0


def test_spans_are_scored_together_as_alone(ngrams):
    spans = [("가나다라", 0, 5), ("", 0, 1), ("다다", 1, 2), ("가나다마", 2, 4)]
    together = ngrams.scores(spans)
    np.testing.assert_allclose(together, [score(ngrams, *span) for span in spans])
    assert ngrams.scores([]).shape == (0,)


def test_rare_long_runs_are_left_out():
    pruned = NGrams.count(SENTENCES, least={4: 2})
    assert len(pruned) < len(NGrams.count(SENTENCES, least={}))
    assert score(pruned, "가나다라", 3, 4) == pytest.approx(math.log(2 / 3), abs=0.05)
    assert score(pruned, "가나다마", 3, 4) == pytest.approx(math.log(1 / 3) + LOG_DISCOUNT, abs=0.05)


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


def test_a_table_of_nothing(tmp_path):
    empty = NGrams.count([])
    (tmp_path / NGRAMS_FILE).write_bytes(saved(empty))
    assert math.isfinite(score(NGrams.read(tmp_path / NGRAMS_FILE), "가나", 0, 3))


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
        changed("last_4", lambda a: a[::-1].copy()),
        changed("following_2", lambda a: a[:-1]),
        changed("following_3", lambda a: a * np.uint16(9)),
        changed("levels_4", lambda a: a[None]),
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
