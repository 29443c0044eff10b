"""Stream of training batches: pools by seed, processes, pairs chosen by a judge."""

import itertools
import pickle
import random
import time

import numpy as np
import pytest

from model.stored.folder import find_model_folder
from model.text.tokenizer import END_ID, PAD_ID, START_ID, Tokenizer
from tests.equality import same
from training.corpus.selection import choose_characters
from training.run.stream import LENGTH_STEP, Judge, PoolMaker, Position, Stream, StreamSettings, make_batch

WORDS = "손님이 왔는데 방이 없으면 어떡해요 며칠 뒤에 다시 올게요 전화를 드렸어요".split()
SENTENCES = [" ".join(words) + "." for words in itertools.islice(itertools.permutations(WORDS, 3), 90)]
SENTENCES += [f"{a} {b}" for a, b in zip(SENTENCES[::3], SENTENCES[1::3], strict=False)]  # 120 in all
PAIRS = [(f"{sentence}요", sentence) for sentence in SENTENCES]
TOKENIZER = Tokenizer(choose_characters([]))
SETTINGS = StreamSettings(seed=3, batch_tokens=400, pool_sentences=50)


def maker(items=SENTENCES, **settings) -> PoolMaker:
    return PoolMaker(items, TOKENIZER, StreamSettings(**{**vars(SETTINGS), **settings}))


def targets(batches) -> list[str]:
    return [TOKENIZER.decode(row, "") for batch in batches for row in batch.target]


def test_a_pool_is_a_pure_function_of_its_number():
    assert same(maker()(1), maker()(1))
    once = maker()
    once(0)
    assert same(once(1), maker()(1))  # earlier pools change nothing
    assert not same(maker()(0), maker()(1))
    assert not same(maker()(1), maker(seed=4)(1))


def test_an_epoch_holds_every_item_once_and_the_next_one_in_another_order():
    pools = maker(PAIRS)
    assert pools.pools_per_epoch == 3
    first = targets(b for i in range(3) for b in pools(i))
    second = targets(b for i in range(3, 6) for b in pools(i))
    assert sorted(first) == sorted(second) == sorted(SENTENCES)
    assert first != second


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
        assert batch.target.max() < TOKENIZER.vocab_size  # only ids that the network can produce


POOLS = maker(batch_tokens=300)


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


def take(start: Position, count: int, **settings):
    with Stream(POOLS, start, **settings) as stream:
        return list(itertools.islice(stream, count))


def test_a_stream_yields_the_pools_in_order_and_resumes_at_any_position():
    made = [POOLS(i) for i in range(5)]  # into the second epoch
    expected = [batch for pool in made for batch in pool]
    taken = take(Position(0, 0), len(expected))
    positions = [position for _, position in taken]
    assert same([batch for batch, _ in taken], expected)
    assert positions[:2] == [Position(0, 1), Position(0, 2)]
    assert positions[len(made[0]) - 1] == Position(1, 0)
    assert positions[-1] == Position(5, 0)

    begun = len(made[0]) + 2  # two batches into the second pool, with another number of workers
    assert positions[begun - 1] == Position(1, 2)
    again = take(Position(1, 2), len(expected) - begun, workers=2)
    assert same([batch for batch, _ in again], expected[begun:])
    assert [position for _, position in again] == positions[begun:]


class Endless:
    """Makes one pool at once and never finishes another."""

    def __call__(self, index):
        if index:
            time.sleep(600)
        return ["a batch"]


def fail(index):
    raise ValueError(f"pool {index} cannot be made")


def write_without_end(_index):
    return [np.zeros(10_000_000)]  # more than a pipe holds: the process waits in the middle of writing


@pytest.mark.parametrize("maker", [Endless(), write_without_end])
def test_processes_are_ended_whatever_they_do(maker):
    began = time.monotonic()
    with Stream(maker, Position(0, 0), workers=2) as stream:
        _, position = next(iter(stream))
        assert position == Position(1, 0)
        mine = stream.processes
        assert all(process.is_alive() for process in mine)
    assert len(mine) == 2 and not any(process.is_alive() for process in mine)
    assert time.monotonic() - began < 100


def test_what_goes_wrong_in_a_process_is_raised_here():
    with Stream(fail, Position(4, 0)) as stream, pytest.raises(ValueError, match="pool 4"):
        next(iter(stream))
    with Stream(Endless(), Position(1, 0)) as stream:
        stream.processes[0].kill()
        with pytest.raises(RuntimeError, match="ended from outside"):
            next(iter(stream))


JUDGED = [
    "오늘은 날씨가 참 좋네요.",
    "친구와 같이 밥을 먹었어요.",
    "내일 다시 전화할게요.",
    "그 책은 아직 읽지 않았습니다.",
    "집에 가서 쉬고 싶어요.",
    "버스를 놓쳐서 늦었어요.",
] * 5
JUDGED_SETTINGS = StreamSettings(seed=2, batch_tokens=600, pool_sentences=30)


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(find_model_folder("growing-up"), share=0.4, others=0.0)


def encoded(judge: Judge, wrong: str, right: str):
    return judge.tokenizer.encode_source(wrong), judge.tokenizer.encode_target(right)


def rows(batches) -> list[tuple[bytes, bytes]]:
    return [
        (source[source > 0].tobytes(), target[target > 0].tobytes())
        for batch in batches
        for source, target in zip(batch.source, batch.target, strict=True)
    ]


def test_a_loss_is_the_mean_over_the_tokens_of_the_target_whatever_stands_beside_it(judge):
    from keras import ops

    from model.network.networks import load_model_folder

    network, *_ = load_model_folder(judge.folder)
    batch = make_batch([encoded(judge, "집에 가서 쉬고싶어요.", JUDGED[4])])
    log_p = np.asarray(ops.log_softmax(network((batch.source, batch.decoder_input))))[0]
    target = batch.target[0][batch.target[0] > 0]
    expected = -np.mean([log_p[position, token] for position, token in enumerate(target)])
    long = encoded(judge, JUDGED[2], " ".join(JUDGED[:3]))
    for together in (batch, make_batch([encoded(judge, "집에 가서 쉬고싶어요.", JUDGED[4]), long])):
        assert judge.losses(together)[0] == pytest.approx(expected, abs=1e-4)


def test_the_hardest_stay_and_a_share_of_the_others():
    folder = find_model_folder("growing-up")
    losses = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.0] * 100
    hardest = [i for i, loss in enumerate(losses) if loss >= 0.8]
    assert Judge(folder, 0.2, others=0.0).chosen(losses, random.Random(1)) == hardest
    kept = Judge(folder, 0.2, others=0.1).chosen(losses, random.Random(1))
    assert set(hardest) < set(kept)
    assert 40 < len(kept) - len(hardest) < 120
    assert Judge(folder, 0.0, others=1.0).chosen(losses, random.Random(1)) == list(range(1000))


def test_a_judged_pool_is_a_part_of_the_whole_one_and_the_same_each_time(judge):
    whole = rows(PoolMaker(JUDGED, judge.tokenizer, JUDGED_SETTINGS)(0))
    once, again = (rows(PoolMaker(JUDGED, judge.tokenizer, JUDGED_SETTINGS, judge)(0)) for _ in range(2))
    assert once == again
    assert len(once) == round(0.4 * len(whole))
    assert set(once) <= set(whole)


def test_a_judge_travels_to_another_process_without_its_network(judge):
    assert judge.network
    there = pickle.loads(pickle.dumps(judge))
    assert "network" not in vars(there)
    assert (there.folder, there.share, there.others) == (judge.folder, 0.4, 0.0)


def test_shares_and_vocabularies_that_cannot_be(judge):
    with pytest.raises(ValueError, match=r"share should be from 0 to 1, received 1\.5"):
        Judge(judge.folder, 1.5)
    with pytest.raises(ValueError, match=r"others should be from 0 to 1, received -1"):
        Judge(judge.folder, 0.5, others=-1)
    from model.text.tokenizer import Tokenizer

    with pytest.raises(ValueError, match="another vocabulary"):
        PoolMaker(JUDGED, Tokenizer("가나다"), JUDGED_SETTINGS, judge)
