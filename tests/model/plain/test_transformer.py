"""The same network written twice, once in Keras and once in NumPy: both see and write the same."""

import json
import shutil
from dataclasses import fields, replace

import numpy as np
import pytest

from engine.stand_in import LONGEST, open_stand_in
from model import Corrector, ModelFolderError
from model.network.loading import build_network
from model.plain.transformer import NotLoadedError, PlainTransformer, load_plain
from model.stored.config import Seq2SeqConfig
from model.stored.folder import ASSETS, WEIGHTS_FILE, read_config, read_weights, save_model_folder
from model.trace.trace import AttentionTrace

EXAMPLES = [example["text"] for example in json.loads((ASSETS / "examples.json").read_text("utf-8"))]


def assert_same(stand_in, corrector, text):
    """The answer to ``text`` and every array and token of all its traces."""
    found, expected = stand_in.correct(text), corrector.correct(text)
    assert found == expected
    for one, other in zip(found.proposed, expected.proposed, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=1e-4)
    for sentence, other in zip(found.sentences, expected.sentences, strict=True):
        for field in fields(AttentionTrace):
            one, two = getattr(sentence.trace, field.name), getattr(other.trace, field.name)
            if isinstance(two, np.ndarray) and two.dtype.kind == "f":
                assert one.dtype == two.dtype
                np.testing.assert_allclose(one, two, atol=1e-4)
            else:
                np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("norm_first", [True, False])
def test_both_compute_the_same(tiny_network, tiny_tokenizer, norm_first):
    config = replace(tiny_network.config, norm_first=norm_first)
    network = build_network(config, tiny_tokenizer)
    rng = np.random.default_rng(0)
    for variable in network.weights:
        variable.assign(rng.normal(0, 0.3, variable.shape).astype(np.float32))
    plain = PlainTransformer(config, tiny_tokenizer.features(), {w.path: w.numpy() for w in network.weights})
    source = rng.integers(4, config.vocab_size, (3, 9)).astype(np.int32)
    source[1, 5:] = source[2, 1:] = 0  # padding
    target = rng.integers(1, config.vocab_size, (3, 7)).astype(np.int32)
    expected = network.full_pass(source, target)
    memory, read = plain.encode(source)
    logits, written = plain.decode(target, memory)
    np.testing.assert_allclose(logits, expected.logits, atol=1e-5)
    for kind, weights in {**read, **written}.items():
        np.testing.assert_allclose(weights, getattr(expected, kind), atol=1e-5)
    assert plain.count_params() == network.count_params()


def test_the_shipped_network_and_its_stand_in_answer_alike():
    corrector, stand_in = Corrector.load(), open_stand_in(ASSETS / "transformer")
    assert (stand_in.name, stand_in.fingerprint) == (corrector.name, corrector.fingerprint)
    assert stand_in.config == corrector.config
    for text in (*EXAMPLES, "", "abc", "두 문장임니다. 또 한 문장이에요!"):
        assert_same(stand_in, corrector, text)


def test_a_trace_of_another_correction_is_the_same(tiny_folder, tiny_corrector):
    stand_in = open_stand_in(tiny_folder)
    one, other = (each.trace("오래 씂 수", "오래 쓸 수") for each in (stand_in, tiny_corrector))
    np.testing.assert_allclose(one.cross_attention, other.cross_attention, atol=1e-5)
    np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=1e-4)


def test_only_the_loaded_network_answers_anything_else(tiny_folder):
    stand_in = open_stand_in(tiny_folder)
    assert stand_in.answers("가" * LONGEST)
    assert not stand_in.answers("가" * (LONGEST + 1))
    with pytest.raises(NotLoadedError, match="projections"):
        stand_in.ask("projections", "가", "가", 0)


def test_what_needs_step_by_step_decoding_is_left_to_the_network(tiny_folder, monkeypatch):
    monkeypatch.setattr("model.plain.transformer.PASSES", 0)
    with pytest.raises(NotLoadedError, match="step-by-step"):
        open_stand_in(tiny_folder).correct("오래 씂 수")


def test_another_kind_of_network_has_no_stand_in(tmp_path, tiny_tokenizer):
    network = build_network(Seq2SeqConfig(tiny_tokenizer.vocab_size, 16), tiny_tokenizer)
    save_model_folder(tmp_path, network, tiny_tokenizer)
    assert open_stand_in(tmp_path) is None
    with pytest.raises(ModelFolderError, match="should hold a Transformer, received 'seq2seq'"):
        load_plain(tmp_path)


def cut_short(path):
    path.write_bytes(path.read_bytes()[:1000])


def without_a_weight(path):
    np.savez(path, **dict(list(read_weights(path).items())[1:]))


def of_another_width(path):
    np.savez(path, **{name: array[..., :-1] for name, array in read_weights(path).items()})


@pytest.mark.parametrize("damage", [cut_short, without_a_weight, of_another_width])
def test_damaged_weights_are_named(tiny_folder, tmp_path, damage):
    folder = shutil.copytree(tiny_folder, tmp_path / "damaged")
    assert read_config(folder).architecture == "transformer"
    damage(folder / WEIGHTS_FILE)
    with pytest.raises(ModelFolderError, match=WEIGHTS_FILE):
        open_stand_in(folder)
