"""``Corrector``: a text's correction and trace, with tiny networks and with snapshots."""

import shutil
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from model.activations.sublayers import positional_encoding
from model.correction.corrector import Corrector, GrowingNetwork, growing_network
from model.stored.folder import ASSETS, ModelFolderError, snapshot_steps, weights_path
from model.text.tokenizer import START_ID
from model.trace.trace import ATTENTION_KINDS

TEXTS = (
    "전 오래 씂 수 깄는 겍 필요해요.",
    "손니미 완는데 방이 업쓰며 너떠캐요?",
    "가 나 다 라 마 바",
    "방이 없어요. 손님이 왔는데 어떡해요? 3시 ok 🙂",
    "가나다라",
)


@pytest.fixture(scope="module")
def corrections(tiny_corrector):
    corrections = tiny_corrector.correct_batch(TEXTS)
    assert sum(bool(c.changes) for c in corrections) >= 3  # else the tests below would test nothing
    return corrections


@pytest.mark.parametrize("text", ["", " ", " \n\t ", "\u3000"])
def test_nothing_typed(tiny_corrector, text):
    correction = tiny_corrector.correct(text)
    assert (correction.source, correction.text) == (text, text)
    assert correction.sentences == correction.changes == ()
    with pytest.raises(ValueError, match="there is no sentence"):
        _ = correction.trace


def test_decomposed_hangul_is_read_as_composed(tiny_corrector):
    typed = unicodedata.normalize("NFD", TEXTS[1])
    assert len(typed) > len(TEXTS[1])
    correction = tiny_corrector.correct(typed)
    assert correction == tiny_corrector.correct(TEXTS[1])
    assert correction.source == TEXTS[1]


def test_a_sentence_too_long_is_left_alone_and_its_neighbour_is_not(tiny_corrector):
    limit = tiny_corrector.config.max_length
    fits, over = "가" * limit, "나" * (limit + 1)
    correction = tiny_corrector.correct(f"{fits}\n{over}")
    assert [s.too_long for s in correction.sentences] == [False, True]
    assert correction.sentences[0].trace.source_tokens[:-1] == tuple(fits)
    assert correction.sentences[1].text == over
    with pytest.raises(ValueError, match=f"{limit} characters, received {limit + 1}"):
        _ = correction.sentences[1].trace


def test_sentences_and_what_lies_between_them(tiny_corrector):
    text = "  전 오래. \n\n 손니미!  방이\t업쓰며 "
    correction = tiny_corrector.correct(text)
    assert [s.source for s in correction.sentences] == ["전 오래.", "손니미!", "방이\t업쓰며"]
    first, second, third = (s.text for s in correction.sentences)
    assert correction.text == f"  {first} \n\n {second}  {third} "
    for sentence in correction.sentences:
        assert text[sentence.start :].startswith(sentence.source)


def test_one_at_a_time_equals_all_at_once(tiny_corrector, corrections):
    many = TEXTS * 30  # more sentences than one batch holds
    assert tiny_corrector.correct_batch(many) == corrections * 30
    for text, correction in zip(TEXTS, corrections, strict=True):
        assert tiny_corrector.correct(text) == correction
    assert tiny_corrector.correct_batch([]) == []


def test_a_sentence_that_stands_many_times_is_read_once(tiny_corrector, monkeypatch):
    read = []
    produce = tiny_corrector._network.produce
    monkeypatch.setattr(tiny_corrector._network, "produce", lambda ids: read.extend(ids) or produce(ids))
    alone = tiny_corrector.correct("\n".join(TEXTS))
    once = len(read)
    many = tiny_corrector.correct_batch(["\n".join(TEXTS)] * 3)
    assert (many, len(read)) == ([alone] * 3, 2 * once)


def test_a_trace_equals_what_step_by_step_decoding_computes(tiny_corrector):
    sentence, tokenizer = tiny_corrector.correct("손니미 왔다").sentences[0], tiny_corrector.tokenizer
    source, target = tokenizer.encode_source(sentence.source), tokenizer.encode_target(sentence.text)
    inputs, trace = np.array([[START_ID, *target[:-1]]]), sentence.trace
    for index in range(len(target)):
        step = tiny_corrector._network.keras.network.full_pass(np.array([source]), inputs[:, : index + 1])
        own, cross = (
            np.asarray(each)[0, :, :, index] for each in (step.decoder_attention, step.cross_attention)
        )
        np.testing.assert_allclose(own, trace.decoder_attention[:, :, index, : index + 1], atol=1e-5)
        np.testing.assert_allclose(cross, trace.cross_attention[:, :, index], atol=1e-5)
        logits = np.asarray(step.logits[0, index], np.float64)
        # Row t is about the token it PRODUCED, not about the one it had just read.
        expected = logits[target[index]] - np.log(np.exp(logits).sum())
        assert trace.log_probabilities[index] == pytest.approx(expected, abs=1e-4)
    lengths = len(trace.source_tokens), len(trace.target_tokens)
    matrix = positional_encoding(max(lengths), tiny_corrector.config.d_model)
    np.testing.assert_array_equal(trace.source_positional_encoding, matrix[: lengths[0]])
    np.testing.assert_array_equal(trace.target_positional_encoding, matrix[: lengths[1]])


def test_the_trace_of_a_text_is_that_of_its_first_changed_sentence(tiny_corrector):
    correction = tiny_corrector.correct(f"ok. {TEXTS[0]}")
    assert [bool(s.changes) for s in correction.sentences] == [False, True]
    assert correction.trace is correction.sentences[1].trace
    unchanged = tiny_corrector.correct("ok. fine.")
    assert unchanged.trace is unchanged.sentences[0].trace


@pytest.fixture
def looks(tiny_corrector, monkeypatch):
    """Target ids of the passes that are run only for their attention."""
    asked, attend = [], tiny_corrector._network.attend
    monkeypatch.setattr(
        tiny_corrector._network, "attend", lambda *ids: asked.append(list(ids[1])) or attend(*ids)
    )
    return asked


def test_the_pass_that_wrote_a_sentence_is_its_trace(tiny_corrector, looks):
    (sentence,) = tiny_corrector.correct(TEXTS[1]).sentences
    assert sentence.changes
    trace = sentence.trace
    assert trace is sentence.trace
    assert not looks
    looked = tiny_corrector.trace(sentence.source, sentence.text)
    assert len(looks) == 1
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(trace.attention(kind), looked.attention(kind), atol=1e-5)
    np.testing.assert_allclose(trace.log_probabilities, looked.log_probabilities, atol=1e-4)
    assert trace.alternatives == looked.alternatives


def test_threads_get_what_one_caller_gets(tiny_corrector, corrections):
    def work(_):
        results = [tiny_corrector.correct(text) for text in TEXTS]
        return results, [r.trace.cross_attention for r in results]

    expected = [c.trace.cross_attention for c in corrections]
    with ThreadPoolExecutor(4) as threads:
        for results, attention in threads.map(work, range(4)):
            assert results == corrections
            for got, wanted in zip(attention, expected, strict=True):
                np.testing.assert_allclose(got, wanted, atol=1e-6)


def test_one_text_is_no_list_of_texts(tiny_corrector):
    with pytest.raises(TypeError, match="list of texts, received one str"):
        tiny_corrector.correct_batch("안되요")


def test_where_nothing_can_answer_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setattr("model.graph.files.has_library", lambda: False)
    monkeypatch.setattr("model.correction.corrector.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '\.\[app\]'"):
        Corrector.load()


FOLDER = ASSETS / "growing-up"
TEXT = "어제 친구를 만낫다."


def test_each_snapshot_answers_as_it_does_alone():
    steps = snapshot_steps(FOLDER)
    found = growing_network(FOLDER).answers(TEXT)
    assert tuple(each.step for each in found) == steps
    for number in (3, len(steps) - 1):
        (alone,) = Corrector.load(FOLDER, 0.0, steps[number]).correct(TEXT).sentences
        assert found[number].text == alone.text
        np.testing.assert_allclose(
            found[number].trace.cross_attention, alone.trace.cross_attention, atol=1e-4
        )
    assert len({each.text for each in found}) > 3  # it learned something on the way
    assert found[0].is_unfinished
    assert not found[-1].is_unfinished


def test_nothing_has_no_answers():
    assert growing_network(FOLDER).answers(" ") == ()


def test_a_folder_without_snapshots_is_named():
    with pytest.raises(ModelFolderError, match="keeps snapshots of the steps"):
        growing_network(ASSETS / "seq2seq")


@pytest.fixture
def grown(tmp_path):
    """The model with its first and its two last snapshots."""
    folder = shutil.copytree(FOLDER, tmp_path / "growing")
    for step in snapshot_steps(folder)[1:-2]:
        weights_path(folder, step).unlink()
    return folder


def test_other_snapshots_are_another_network(grown):
    folder, network = grown, growing_network(grown)
    assert growing_network(folder) is network
    *_, last = snapshot_steps(folder)
    weights_path(folder, last).unlink()
    assert growing_network(folder).steps == network.steps[:-1]


def test_keras_and_graphs_grow_up_alike(grown, monkeypatch):
    found = GrowingNetwork(grown).answers(TEXT)
    monkeypatch.setenv("ATTENTION_BACKEND", "keras")
    expected = GrowingNetwork(grown).answers(TEXT)
    assert [(each.step, each.text) for each in found] == [(each.step, each.text) for each in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.trace.cross_attention, other.trace.cross_attention, atol=1e-5)
