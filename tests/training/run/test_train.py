"""Training runs from the command line: resumed, timed, with a development set."""

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from model.stored.folder import snapshot_steps
from model.text.tokenizer import Tokenizer
from tests.training.steps import history, runs, train
from training.corpus.selection import choose_characters
from training.noise.pairs import read_mix
from training.run.run import Clock
from training.run.steps import Steps, development_batches
from training.run.stream import StreamSettings, batch_shapes

ROOT = Path(__file__).parents[3]
STEPS = 60
PATIENCE = 600  # seconds until a silent process counts as hanging, on a busy machine
OPTIONS = {
    "steps": STEPS,
    "warmup": 20,
    "peak": 0.003,
    "d-model": 16,
    "num-layers": 1,
    "num-heads": 2,
    "dff": 32,
    "dropout": 0.1,  # its random state must continue too
    "batch-tokens": 200,
    "widths": "48,164",  # few, since each needs another graph, and making one takes seconds
    "mix": "typing=30,clean=5",
    "seed": 5,
    "history-every": 1,
    "dev-every": 20,
}
SUBJECTS = ("저는", "우리 형은", "그 친구는", "옆집 아이가", "할머니께서는", "선생님이")
DEEDS = (
    "밥을 먹고 싶습니다.",
    "꽃밭에 앉아 있어요.",
    "며칠 뒤에 올 거예요.",
    "책을 읽지 않았다.",
    "같이 놀 수 있다.",
    "옷을 입혔습니다.",
    "길을 물어봤어요.",
    "어떡해야 할지 몰라요.",
    "금세 돌아왔네요.",
    "학교에 갔다 왔어요!",
)
SENTENCES = [f"{subject} {deed}" for subject, deed in itertools.product(SUBJECTS, DEEDS)]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("corpus")
    corpus, pairs, dev = folder / "corpus.txt", folder / "own.csv", folder / "dev.txt"
    corpus.write_text("\n".join(SENTENCES), encoding="utf-8")
    pairs.write_text("src,tgt\n머글 꺼예요.,먹을 거예요.\n됬어요.,됐어요.\n", encoding="utf-8")
    dev.write_text("\n".join(SENTENCES[::9]), encoding="utf-8")
    return {"corpus": str(corpus), "pairs": str(pairs), "dev": str(dev)}


def arguments(out: Path, files: dict, **options) -> list[str]:
    settings = {**OPTIONS, **files, "out": out, **options}
    return [f"--{name}={value}" for name, value in settings.items()]


def train_on(out: Path, files: dict, *, eager: bool = False, status: int = 0, **options):
    return train(*arguments(out, files, **options), eager=eager, status=status)


def saved_progress(out: Path) -> dict:
    with np.load(out / "checkpoint.npz") as archive:
        return json.loads(str(archive["progress"]))


def kill_in_the_middle_of_an_epoch(process: subprocess.Popen, out: Path) -> dict:
    """Kill the run some steps behind a checkpoint within a pool; the checkpoint's progress."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if (out / "checkpoint.npz").exists():
            process.send_signal(signal.SIGSTOP)
            progress = saved_progress(out)
            if progress["position"][1] > 0 and len(history(out)) > progress["step"] >= 14:
                process.kill()
                return progress
            process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    process.kill()
    raise AssertionError(f"the run ended before it could be killed: {process.communicate()}")


@pytest.fixture(scope="module")
def uninterrupted(files, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "uninterrupted"
    train_on(out, files, **{"checkpoint-every": 1000})
    return out


def test_a_killed_run_continues_as_if_nothing_had_happened(files, uninterrupted, tmp_path):
    out = tmp_path / "killed"
    options = {"checkpoint-every": 5, "workers": 2}
    process = subprocess.Popen(
        [sys.executable, "-m", "training", "train", *arguments(out, files, **options)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    progress = kill_in_the_middle_of_an_epoch(process, out)
    # The workers share its standard error: it comes to its end once none of them is left.
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert progress["step"] < len(history(out)) < STEPS

    result = train_on(out, files, **options | {"workers": 1})  # their number changes nothing
    assert result.exit_code == 0, result.output
    assert f"step {progress['step']} of {STEPS}" in result.stderr
    continued, expected = history(out), history(uninterrupted)
    assert [int(row["step"]) for row in continued] == list(range(1, STEPS + 1))
    for row, wanted in zip(continued, expected, strict=True):
        for exact in ("step", "learning_rate", "pairs"):
            assert row[exact] == wanted[exact]
        assert float(row["loss"]) == pytest.approx(float(wanted["loss"]), abs=1e-4)
    assert float(continued[-1]["dev_loss"]) == pytest.approx(float(expected[-1]["dev_loss"]), abs=1e-3)
    seconds = [float(row["seconds"]) for row in continued]
    assert seconds == sorted(seconds)


def test_the_history_of_a_run(uninterrupted):
    rows = history(uninterrupted)
    assert list(rows[0]) == [
        "step", "loss", "learning_rate", "dev_loss", "dev_token_accuracy", "pairs", "seconds",
    ]  # fmt: skip
    assert float(rows[-1]["loss"]) < 0.8 * float(rows[0]["loss"])
    assert float(rows[0]["learning_rate"]) == pytest.approx(0.003 / 20)
    assert float(rows[39]["learning_rate"]) == pytest.approx(0.003)
    assert [row["step"] for row in rows if row["dev_loss"]] == ["20", "40", "60"]
    pairs = [int(row["pairs"]) for row in rows]
    assert pairs == sorted(set(pairs))


def test_a_run_leaves_a_model_that_loads(uninterrupted, files):
    from model.network.networks import load_model_folder

    network, tokenizer, _ = load_model_folder(uninterrupted / "model")
    assert (network.config.d_model, network.config.num_layers, network.config.dff) == (16, 1, 32)
    assert tokenizer.characters == choose_characters([])
    (run,) = runs(uninterrupted)
    assert run["corpus"] == ["corpus.txt", "own.csv"]  # names only: a path would be this machine's
    assert run["schedule"]["steps"] == STEPS
    assert run["stream"]["seed"] == 5
    assert run["stream"]["mix"] == pytest.approx(read_mix("typing=30,clean=5"))


def test_a_judge_picks_the_pairs_of_another_run(files, uninterrupted, tmp_path):
    judge = {"judge": uninterrupted / "model", "judge-share": 0.4}
    train_on(tmp_path / "judged", files, eager=True, steps=1, **judge)
    judged, whole = (float(history(out)[0]["loss"]) for out in (tmp_path / "judged", uninterrupted))
    assert judged != pytest.approx(whole, abs=1e-3)
    (run,) = runs(tmp_path / "judged")
    assert run["judge"].startswith("uninterrupted ")
    assert run["judge_share"] == 0.4
    assert "--judge model" in run["command"]


def test_matrices_in_bfloat16_learn_about_the_same(files, uninterrupted, tmp_path):
    import tensorflow as tf

    def are_short() -> bool:
        return tf.config.optimizer.get_experimental_options()["auto_mixed_precision_onednn_bfloat16"]

    unwatched = {name: path for name, path in files.items() if name != "dev"}
    assert not are_short()
    try:
        result = train_on(tmp_path / "short", unwatched, steps=2, precision="bfloat16")
        assert result.exit_code == 0, result.output
        assert are_short()
    finally:  # TensorFlow keeps the choice for the whole process
        tf.config.optimizer.set_experimental_options({"auto_mixed_precision_onednn_bfloat16": False})
    short, exact = history(tmp_path / "short"), history(uninterrupted)[:2]
    assert short[0]["learning_rate"] == exact[0]["learning_rate"]
    losses = [float(row["loss"]) for row in exact]  # equal where the processor has no such products
    assert [float(row["loss"]) for row in short] == pytest.approx(losses, rel=0.02)
    (run,) = runs(tmp_path / "short")
    assert run["precision"] == "bfloat16"


def test_a_judge_must_exist_and_know_the_same_characters(files, tmp_path):
    assert "nowhere" in train_on(tmp_path / "run", files, judge="nowhere", status=1).stderr
    small = train_on(tmp_path / "run", files, judge="growing-up", status=2)
    assert "another vocabulary" in small.stderr


def test_a_finished_run_has_nothing_left_to_do(uninterrupted, files):
    before = history(uninterrupted)
    train_on(uninterrupted, files)
    assert history(uninterrupted) == before


def test_another_network_cannot_continue_a_run(uninterrupted, files):
    result = train_on(uninterrupted, files, dff=48, status=1)
    assert "does not belong to this run or is damaged" in result.stderr
    assert "(16, 32) there, (16, 48) here" in result.stderr
    (uninterrupted / "checkpoint.npz").write_bytes(b"PK\x03\x04 broken")
    assert "is damaged" in train_on(uninterrupted, files, status=1).stderr


class CertainNetwork:
    """Gives the token with id ``guess`` the logit ``certainty`` everywhere and all others 0."""

    def __init__(self, vocab_size: int, guess: int, certainty: float):
        self.logits = np.zeros(vocab_size, np.float32)
        self.logits[guess] = certainty

    def predict_on_batch(self, inputs):
        return np.broadcast_to(self.logits, (*inputs[1].shape, len(self.logits)))


@pytest.mark.parametrize(
    ("options", "said"),
    [({"widths": widths}, widths) for widths in ("32,16,164", "0,164", "wide", "16,160")]
    + [({"mix": "grammar=3"}, "received 'grammar'"), ({"precision": "float8"}, "'float8'")]
    + [({"corpus": "", "pairs": ""}, "--corpus")],
)
def test_what_no_training_can_have_is_a_message(tmp_path, files, options, said):
    result = train_on(tmp_path / "run", files, **options, status=2)
    assert said in result.output
    assert not (tmp_path / "run").exists()


def test_a_run_out_of_time_ends_whole_and_can_be_continued(tmp_path, files):
    out = tmp_path / "run"
    train_on(out, files, eager=True, steps=1000, minutes=0.0001)
    progress, (row,) = saved_progress(out), history(out)
    assert progress["step"] == 1
    assert row["dev_loss"]
    assert float(row["learning_rate"]) == pytest.approx(
        0.003 / (0.25 * 1000)
    )  # that of the last of 1000 steps
    assert (out / "model" / "weights.npz").is_file()
    train_on(out, files, eager=True, steps=2)
    assert saved_progress(out)["step"] == 2


def test_sources_are_weighed_and_weights_kept_every_so_many_steps(tmp_path, files):
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"text": text, "source": f"{'law' if i % 2 else 'news'}/kr"} for i, text in enumerate(SENTENCES)]
    corpus.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    settings = {"steps": 3, "widths": "24,164", "snapshot-every": 2}
    options = [*arguments(tmp_path / "run", {**files, "corpus": corpus}, **settings), "--weight", "law=0"]
    result = train(*options, "--weight", "news=2", eager=True)
    assert "62 sentences" in result.stderr  # 30 of 60 twice, and two pairs
    (run,) = runs(tmp_path / "run")
    assert run["source_weights"] == {"law": 0.0, "news": 2.0}
    assert (run["stream"]["widths"], snapshot_steps(tmp_path / "run" / "model")) == ([24, 164], (2,))
    assert "--weight law=0 --weight news=2" in run["command"]
    refused = train(*arguments(tmp_path / "other", files), "--weight", "law", status=2)
    assert "could not convert" in refused.output


def test_the_development_set_measures_real_tokens_only():
    tokenizer = Tokenizer("가나다")  # 7 entries
    pairs = [("가", "가가"), ("나", "나"), ("다" * 9, "다" * 9)]
    (batch,) = development_batches(pairs, tokenizer, 8, StreamSettings())
    assert np.count_nonzero(batch.target) == 5  # 가 가 end, 나 end; the longest pair is left out
    guess = tokenizer.encode_target("가")[0]
    loss, accuracy = Steps(CertainNetwork(7, guess, 2.0)).measure([batch])
    normaliser = math.log(math.exp(2) + 6)
    assert accuracy == pytest.approx(2 / 5)
    assert loss == pytest.approx((2 * (normaliser - 2) + 3 * normaliser) / 5, abs=1e-6)


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_with_a_limit_it_follows_what_is_further_along():
    time = Time()
    clock = Clock(60, 400, 1000, time)  # resumed after 400 steps
    assert clock.step_of_schedule(401) == 401
    time.now += 30
    assert clock.step_of_schedule(500) == 700
    assert clock.step_of_schedule(900) == 900
    assert not clock.is_over()
    time.now += 31
    assert clock.step_of_schedule(500) == 1000
    assert clock.is_over()


LONG_SENTENCES = [f"{'아주 ' * (number % 20)}긴 문장을 {number}번 읽었다." for number in range(100)]


def rows(batches) -> list[tuple]:
    """The real tokens of each row that is not empty."""
    pairs = (pair for batch in batches for pair in zip(batch.source, batch.target, strict=True))
    return sorted(tuple(tuple(side[side > 0].tolist()) for side in pair) for pair in pairs if pair[1].any())


def test_batches_of_a_few_widths_hold_the_same_pairs_in_the_shapes_of_training():
    settings = StreamSettings(widths=(24, 48, 164), batch_tokens=400)
    batches, free = (
        development_batches(LONG_SENTENCES, Tokenizer(choose_characters([])), 128, each)
        for each in (settings, StreamSettings())
    )
    assert {batch.source.shape for batch in batches} <= {*batch_shapes(settings)}
    assert rows(batches) == rows(free)
    assert len(rows(batches)) == len(LONG_SENTENCES)
    assert all(np.count_nonzero(batch.target) for batch in batches)
