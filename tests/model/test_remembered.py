"""One answer kept beside the weights: the same as the network's, and none where it would be another's."""

import json
import shutil
from dataclasses import fields

import numpy as np
import pytest
from click.testing import CliRunner

from model import Corrector, ModelFolderError
from model.__main__ import main
from model.folder import ASSETS, CONFIG_FILE, set_minimum_confidence
from model.remembered import FILE, NotOneSentenceError, NotRememberedError, recall, remember
from model.trace import AttentionTrace

SENTENCE = "전 오래 씂 수 깄는 겍 필요해요."
EXAMPLE = json.loads((ASSETS / "examples.json").read_text("utf-8"))[0]["text"]


@pytest.fixture
def folder(tiny_folder, tmp_path):
    return shutil.copytree(tiny_folder, tmp_path / "tiny")


def assert_same(remembered, corrector, text):
    """The answer to ``text`` and every array and token of its trace."""
    kept, computed = remembered.correct(text), corrector.correct(text)
    assert kept == computed
    for one, other in zip(kept.proposed, computed.proposed, strict=True):
        assert one.confidence == pytest.approx(other.confidence, abs=1e-5)
    sentence = kept.sentences[0]
    trace = remembered.trace(sentence.source, sentence.text)
    for field in fields(AttentionTrace):
        one, other = getattr(trace, field.name), getattr(computed.trace, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, atol=1e-5)
        else:
            assert one == other


def test_what_is_recalled_is_what_the_network_said(folder, tiny_corrector):
    remember(tiny_corrector, f" {SENTENCE}", folder)
    found = recall(folder)
    assert (found.name, found.fingerprint) == ("tiny", tiny_corrector.fingerprint)
    assert found.config == tiny_corrector.config
    assert_same(found, tiny_corrector, f" {SENTENCE}")


def test_the_shipped_model_would_say_today_what_is_remembered_of_it():
    corrector = Corrector.load()
    found = recall(ASSETS / "transformer")
    assert found is not None, "run `python -m model remember` with the first of assets/examples.json"
    assert found.fingerprint == corrector.fingerprint
    assert_same(found, corrector, EXAMPLE)


def test_anything_else_is_not_remembered(folder, tiny_corrector):
    remember(tiny_corrector, SENTENCE, folder)
    found = recall(folder)
    assert found.knows(SENTENCE)
    assert not found.knows("필요해요.")
    for ask in (
        lambda: found.correct("필요해요."),
        lambda: found.trace(SENTENCE, "필요해요."),
        lambda: found.ask("projections", SENTENCE, SENTENCE, 0),
        lambda: found.ask("embeddings", SENTENCE),
    ):
        with pytest.raises(NotRememberedError):
            ask()


def test_the_answer_of_other_weights_is_not_recalled(folder, tiny_corrector):
    assert recall(folder) is None
    remember(tiny_corrector, SENTENCE, folder)
    set_minimum_confidence(folder, 0.125)
    assert (folder / CONFIG_FILE).is_file()
    assert recall(folder) is None


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda raw: b"", lambda raw: raw[::-1]])
def test_a_damaged_file_is_named(folder, tiny_corrector, damage):
    remember(tiny_corrector, SENTENCE, folder)
    (folder / FILE).write_bytes(damage((folder / FILE).read_bytes()))
    with pytest.raises(ModelFolderError, match=FILE):
        recall(folder)


@pytest.mark.parametrize("text", ["", "한 문장. 두 문장.", "가" * 41])
def test_only_one_sentence_that_can_be_read_is_remembered(folder, tiny_corrector, text):
    with pytest.raises(NotOneSentenceError):
        remember(tiny_corrector, text, folder)
    assert not (folder / FILE).exists()


def test_the_command_says_where_the_answer_lies_or_why_there_is_none(folder):
    done = CliRunner().invoke(main, ["remember", SENTENCE, "--model", str(folder)])
    assert (done.exit_code, done.output) == (0, f"{folder / FILE}\n")
    assert recall(folder).knows(SENTENCE)
    refused = CliRunner().invoke(main, ["remember", "한 문장. 두 문장.", "--model", str(folder)])
    assert refused.exit_code == 1
    assert "received '한 문장. 두 문장.'" in refused.output
