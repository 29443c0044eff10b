"""A small network picks the pairs that a larger one is trained on."""

import pickle
import random

import numpy as np
import pytest

from model.stored.folder import find_model_folder
from training.run.stream import Judge, PoolMaker, StreamSettings, make_batch

SENTENCES = [
    "오늘은 날씨가 참 좋네요.",
    "친구와 같이 밥을 먹었어요.",
    "내일 다시 전화할게요.",
    "그 책은 아직 읽지 않았습니다.",
    "집에 가서 쉬고 싶어요.",
    "버스를 놓쳐서 늦었어요.",
] * 5
SETTINGS = StreamSettings(seed=2, batch_tokens=600, pool_sentences=30)


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


def test_what_nobody_could_guess_has_the_higher_loss(judge):
    untouched = encoded(judge, SENTENCES[0], SENTENCES[0])
    misspelt = encoded(judge, "오느른 날씨가 참 존네요.", SENTENCES[0])
    unrelated = encoded(judge, "고래", SENTENCES[0])
    easy, hard, impossible = judge.losses(make_batch([untouched, misspelt, unrelated]))
    assert 0 < easy < hard < impossible


def test_a_loss_is_that_of_the_pair_whatever_stands_beside_it(judge):
    short, long = (
        encoded(judge, sentence[1:], sentence) for sentence in (SENTENCES[2], " ".join(SENTENCES[:3]))
    )
    (alone,) = judge.losses(make_batch([short]))
    beside, _ = judge.losses(make_batch([short, long]))
    assert beside == pytest.approx(alone, abs=1e-4)


def test_a_loss_is_the_mean_over_the_tokens_of_the_target(judge):
    from keras import ops

    from model.network.loading import load_model_folder

    network, *_ = load_model_folder(judge.folder)
    batch = make_batch([encoded(judge, "집에 가서 쉬고싶어요.", SENTENCES[4])])
    log_p = np.asarray(ops.log_softmax(network((batch.source, batch.decoder_input))))[0]
    target = batch.target[0][batch.target[0] > 0]
    expected = -np.mean([log_p[position, token] for position, token in enumerate(target)])
    assert judge.losses(batch)[0] == pytest.approx(expected, abs=1e-4)


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
    whole = rows(PoolMaker(SENTENCES, judge.tokenizer, SETTINGS)(0))
    once, again = (rows(PoolMaker(SENTENCES, judge.tokenizer, SETTINGS, judge)(0)) for _ in range(2))
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
        PoolMaker(SENTENCES, Tokenizer("가나다"), SETTINGS, judge)
