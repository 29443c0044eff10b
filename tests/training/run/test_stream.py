import itertools

import numpy as np
import pytest

from model.text.tokenizer import END_ID, OUTSIDE_ID, PAD_ID, START_ID, Tokenizer
from training.corpus.selection import choose_characters
from training.run.stream import LENGTH_STEP, PoolMaker, StreamSettings, make_batch

WORDS = (
    "손님이",
    "왔는데",
    "방이",
    "없으면",
    "어떡해요",
    "며칠",
    "뒤에",
    "다시",
    "올게요",
    "전화를",
    "드렸어요",
)
SENTENCES = [" ".join(words) + "." for words in itertools.islice(itertools.permutations(WORDS, 3), 90)]
SENTENCES += [f"{a} {b}" for a, b in zip(SENTENCES[::3], SENTENCES[1::3], strict=False)]  # 120 in all
PAIRS = [(f"{sentence}요", sentence) for sentence in SENTENCES]
TOKENIZER = Tokenizer(choose_characters([]))
SETTINGS = StreamSettings(seed=3, batch_tokens=400, pool_sentences=50)


def maker(items=SENTENCES, **settings) -> PoolMaker:
    return PoolMaker(items, TOKENIZER, StreamSettings(**{**vars(SETTINGS), **settings}))


def equal(first, second) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(a, b) for x, y in zip(first, second, strict=True) for a, b in zip(x, y, strict=True)
    )


def targets(batches) -> list[str]:
    return [TOKENIZER.decode(row, "") for batch in batches for row in batch.target]


def test_a_pool_is_a_pure_function_of_its_number():
    assert equal(maker()(1), maker()(1))
    once = maker()
    once(0)
    assert equal(once(1), maker()(1))  # what was made before changes nothing
    assert not equal(maker()(0), maker()(1))
    assert not equal(maker()(1), maker(seed=4)(1))


def test_an_epoch_holds_every_item_once_and_the_next_one_in_another_order():
    pools = maker(PAIRS)
    assert pools.pools_per_epoch == 3
    first = targets(b for i in range(3) for b in pools(i))
    second = targets(b for i in range(3, 6) for b in pools(i))
    assert sorted(first) == sorted(second) == sorted(SENTENCES)
    assert first != second


def test_generated_pairs_differ_between_epochs():
    pools = maker(SENTENCES[:50])
    assert pools.pools_per_epoch == 1
    assert not equal(pools(0), pools(1))


def test_pairs_of_ones_own_pass_as_they_are():
    for batch in maker(PAIRS)(0):
        for source, target in zip(batch.source, batch.target, strict=True):
            assert TOKENIZER.decode(source, "") == TOKENIZER.decode(target, "") + "요"


def test_rows_of_a_batch():
    for batch in maker()(0):
        assert batch.source.shape == batch.decoder_input.shape == batch.target.shape
        assert batch.source.dtype == batch.decoder_input.dtype == batch.target.dtype == np.int32
        rows, length = batch.source.shape
        assert length % LENGTH_STEP == 0
        assert rows * length <= SETTINGS.batch_tokens
        assert (batch.decoder_input[:, 0] == START_ID).all()
        for source, consumed, produced in zip(*batch, strict=True):
            for row in (source, produced):
                real = np.count_nonzero(row != PAD_ID)
                assert row[real - 1] == END_ID
                assert (row[real:] == PAD_ID).all()
            real = np.count_nonzero(produced != PAD_ID)
            np.testing.assert_array_equal(consumed[1:real], produced[: real - 1])
            assert (consumed[real:] == PAD_ID).all()
        assert batch.target.max() < TOKENIZER.vocab_size  # only what the network can produce


def test_both_sides_of_a_batch_share_one_length():
    batch = make_batch([([5, 6, END_ID], [5, END_ID]), ([7, END_ID], [*range(4, 12), END_ID])])
    # Nine tokens, filled up to a multiple of LENGTH_STEP.
    assert batch.source.shape == batch.target.shape == (2, 12)
    assert batch.decoder_input[1, :9].tolist() == [START_ID, *range(4, 12)]


def test_batches_are_of_alike_lengths_in_mixed_order():
    widths = [batch.source.shape[1] for batch in maker(batch_tokens=100, pool_sentences=1000)(0)]
    assert len(set(widths)) > 1
    assert widths != sorted(widths)


def test_batches_of_a_few_widths_have_as_many_shapes_and_lose_no_pair():
    pools = maker(PAIRS, batch_tokens=300, pool_sentences=1000, widths=(20, 40, 164))
    batches = pools(0)
    assert {batch.source.shape for batch in batches} == {(300 // 20, 20), (300 // 40, 40)}
    found = targets(batches)
    assert set(found) == set(SENTENCES)
    assert 0 < len(found) - len(SENTENCES) < 300 // 20  # the last batch is filled up
    assert all(batch.target.max(axis=1).min() > 0 for batch in batches)  # with pairs, not with nothing


def test_the_widest_batch_has_room_for_every_pair():
    with pytest.raises(ValueError, match=r"more than 160, received \(32, 160\)"):
        maker(widths=(32, 160))
    maker(widths=(32, 161))


def test_a_character_from_outside_is_one_to_the_network():
    for batch in maker(join_share=0.0, outside_share=1.0)(0):
        assert ((batch.target == OUTSIDE_ID).sum(axis=1) == 1).all()


def test_sentences_too_long_are_left_out():
    limit = min(map(len, SENTENCES)) + 2
    texts = targets(maker(PAIRS, max_length=limit, pool_sentences=1000)(0))
    assert sorted(texts) == sorted(s for s in SENTENCES if len(s) <= limit)
    assert 0 < len(texts) < len(SENTENCES)


def test_a_corpus_that_could_never_fill_a_batch_is_refused():
    with pytest.raises(ValueError, match="empty"):
        maker([])
    with pytest.raises(ValueError, match="at most 128 characters"):
        maker(["가" * 129])
