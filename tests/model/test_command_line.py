"""``python -m model correct``: lines, JSON, options, suggestions and errors.

One test starts a real process; the others use click's runner.
"""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from model import Correction, Corrector, SentenceCorrection
from model.__main__ import main
from model.text.changes import Change, find_changes
from model.text.keyboard import find_in_english_layout
from model.trace.trace import ATTENTION_KINDS

ROOT = Path(__file__).parents[2]
SENTENCE = "전 오래 씂 수 깄는 겍 필요해요."
PATIENCE = 300  # seconds until a silent process counts as hanging, on a busy machine


@pytest.fixture
def correct(tiny_corrector, monkeypatch):
    """Runs the command in this process with the tiny model: ``correct("--json", input="…")``."""
    monkeypatch.setattr(Corrector, "load", lambda model, minimum_confidence, **_: tiny_corrector)
    return lambda *arguments, **rest: CliRunner().invoke(main, ["correct", *arguments], **rest)


def test_a_pipe_gets_a_line_for_each_line_before_the_input_ends(tiny_folder, tiny_corrector, tmp_path):
    command = [sys.executable, "-m", "model", "correct", "--model", str(tiny_folder)]
    errors = tmp_path / "stderr"
    with open(errors, "wb") as file:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file
        )
    guard = threading.Timer(PATIENCE, process.kill)
    guard.start()
    try:
        for line in (SENTENCE, "", "🙂 ok"):  # each answer is read before the next line is written
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == f"{tiny_corrector.correct(line).text}\n"
        assert errors.read_bytes() == b""  # nothing was wrong
        odd = [
            b"\xff\xfe broken \x80",
            b"form\x0cfeed\x0b\x1c\x85",
            "line\u2028separator\u2029\x85".encode(),
            b"ends in a carriage return\r",
            b"\x00",
            ("가 " * 3000).encode(),
            ("가나. " * 300).encode(),
            b"the last line has no end",
        ]
        output, _ = process.communicate(b"\n".join(odd), timeout=PATIENCE)
    finally:
        guard.cancel()
        process.kill()
    lines = output.split(b"\n")
    assert lines.pop() == b""
    assert len(lines) == len(odd)
    assert lines[:5] == odd[:5]
    assert lines[-1] == odd[-1]
    assert process.returncode == 0
    assert {line.split(":")[0] for line in errors.read_text().splitlines()} <= {"line 9", "line 10"}


def test_an_argument_that_is_no_utf_8_comes_out_as_it_went_in(correct):
    assert correct("ok \udcff").stdout_bytes == b"ok \xff\n"


@pytest.mark.parametrize("text", ["-네, 알겠습니다", "- 방이 없어요.", "--네", "-ok 방이", "—네"])
def test_a_text_may_begin_with_a_hyphen(correct, tiny_corrector, text):
    for arguments in ([text], ["--suggest", text], [text, "--minimum-confidence", "1"], ["--", text]):
        result = correct(*arguments)
        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines()[0] == tiny_corrector.correct(text).text


@pytest.mark.parametrize("option", ["--sugest", "-x", "--jsn"])
def test_a_misspelt_option_is_no_text(correct, option):
    assert correct(option, "가").exit_code == 2
    assert correct(option).exit_code == 2


def test_lines_in_the_korean_code_page_are_read_as_those_of_a_file_are(correct, tiny_corrector):
    lines = ["ok", "방이 없어요", "손님이 왔는데"]
    expected = [tiny_corrector.correct(line).text for line in lines]
    assert correct(input="\n".join(lines).encode("cp949")).stdout.splitlines() == expected
    # In a text that began as UTF-8, bytes that are none come out as they went in.
    broken = "방이\n".encode() + "방이".encode("cp949") + b"\n"
    assert correct(input=broken).stdout_bytes.splitlines()[1] == "방이".encode("cp949")


def test_no_input_gives_no_line_and_an_empty_argument_one(correct):
    assert correct(input="").stdout == ""
    assert correct(input="\n").stdout == "\n"
    assert correct("").stdout == "\n"


def test_json_holds_the_changes_and_the_attention(correct, tiny_corrector):
    text = f"{SENTENCE} 방이 없어요."
    result = correct("--json", "--attention", input=f"{text}\n\nok\n")
    first, empty, latin = map(json.loads, result.stdout.splitlines())
    assert empty == {"source": "", "text": "", "sentences": []}
    assert (latin["source"], latin["text"]) == ("ok", "ok")
    expected = tiny_corrector.correct(text)
    assert (first["source"], first["text"]) == (expected.source, expected.text)
    assert len(first["sentences"]) == 2
    for got, sentence in zip(first["sentences"], expected.sentences, strict=True):
        trace = sentence.trace
        assert text[got["start"] :].startswith(got["source"])
        assert got["text"] == sentence.text
        assert [c["right"] for c in got["changes"]] == [c.right for c in sentence.changes]
        assert tuple(got["target_tokens"]) == trace.target_tokens
        np.testing.assert_allclose(got["log_probabilities"], trace.log_probabilities, atol=1e-5)
        for kind in ATTENTION_KINDS:
            np.testing.assert_allclose(got[kind], trace.attention(kind), atol=1e-5)
            np.testing.assert_allclose(np.sum(got[kind], axis=-1), 1, atol=1e-3)  # five decimals


def test_json_is_short_where_attention_is_not_asked_for(correct):
    document = json.loads(correct("--json", "--suggest", SENTENCE).stdout)
    (sentence,) = document["sentences"]
    assert set(sentence) == {"start", "source", "text", "too_long", "changes"}
    fields = {frozenset(each) for each in [*sentence["changes"], *document["suggestions"]]}
    assert len(fields) == 1 and {"confidence", "article"} <= fields.pop()


def test_a_sentence_too_long_is_reported_beside_the_output(correct):
    long = "가" * 41
    result = correct("--json", input=f"ok\n{long}\n")
    assert "line 2: a sentence of 41 characters was left as it is; 40 are allowed" in result.stderr
    sentence = json.loads(result.stdout.splitlines()[1])["sentences"][0]
    assert sentence["too_long"] is True
    assert sentence["text"] == long
    assert "cross_attention" not in sentence


def test_beams_are_searched_when_asked_for(tiny_folder, monkeypatch):
    wide, asked = Corrector.load(tiny_folder, beam_width=3), {}
    monkeypatch.setattr(
        Corrector, "load", lambda model, *_, **options: asked.update(options, model=model) or wide
    )
    result = CliRunner().invoke(main, ["correct", SENTENCE, "--model", str(tiny_folder), "--beam-width", "3"])
    assert result.stdout == f"{wide.correct(SENTENCE).text}\n"
    assert asked == {"model": str(tiny_folder), "beam_width": 3}
    assert CliRunner().invoke(main, ["correct", SENTENCE, "--beam-width", "0"]).exit_code == 2


@pytest.mark.parametrize("share", ["nan", "-0.1", "1.1", "x"])
def test_a_minimum_confidence_lies_between_0_and_1(correct, share):
    result = correct(SENTENCE, "--minimum-confidence", share)
    assert result.exit_code == 2
    assert "Invalid value for '--minimum-confidence'" in result.stderr


def test_words_of_a_file_are_left_alone(correct, tiny_corrector, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        tiny_corrector, "with_words", lambda words: asked.append(list(words)) or tiny_corrector
    )
    path = tmp_path / "words.txt"
    path.write_text("인박스\n갓*\n", "utf-8")
    assert correct("--words", str(path), "가").exit_code == 0
    assert [word.strip() for word in asked[0]] == ["인박스", "갓*"]


def test_too_long_a_word_of_a_file_is_refused(correct, tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("가" * 65, "utf-8")
    assert "at most 64 characters" in correct("--words", str(path), "가").output.replace("\n", " ")


def test_a_folder_that_is_no_model_is_named(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    result = CliRunner().invoke(main, ["correct", "가", "--model", str(folder)])
    assert result.exit_code == 1
    assert "empty" in result.stderr
    assert "cannot be read" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("model", ["tranformer", "runs/nowhere"])
def test_an_unknown_model_gets_the_names_of_those_there_are(model):
    result = CliRunner().invoke(main, ["correct", "가", "--model", model])
    assert result.exit_code == 1
    assert f"there is no model '{model}'" in result.stderr
    for name in ("transformer", "seq2seq", "growing-up"):
        assert name in result.stderr
    assert result.stdout == ""


def test_only_log_lines_are_hidden_even_before_a_crash():
    code = (
        r"""
import os
from model.terminal import hide_log_lines
hide_log_lines()
lines = ["WARNING: All log messages before absl::InitializeLog() is called", "I0000 00:00:1.5 1 port.cc:1] x",
         "E0000 00:00:1.5 1 util.cc:131] oneDNN supports DT_BOOL only on platforms with AVX-512."""
        r""" Falling back",
         "E0000 00:00:1.5 1 port.cc:1] an error", "W0000 00:00:1.5 1 port.cc:1] a warning", "It broke"]
os.write(2, "\n".join(lines).encode())
os.abort()
"""
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False
    )
    kept = [b"E0000 00:00:1.5 1 port.cc:1] an error", b"W0000 00:00:1.5 1 port.cc:1] a warning", b"It broke"]
    assert result.stderr.splitlines() == kept
    assert result.returncode != 0


@pytest.fixture
def suggested(correct, tiny_corrector, monkeypatch):
    """(lines, suggestions of the JSON) of ``correct --suggest`` for a text that the network answers so."""

    def suggest(found: Correction) -> tuple[list[str], list[dict]]:
        monkeypatch.setattr(tiny_corrector, "correct_batch", lambda texts: [found] * len(texts))
        document = json.loads(correct("--suggest", "--json", found.source).output)
        return correct("--suggest", found.source).output.splitlines(), document["suggestions"]

    return suggest


def test_what_was_left_undone_is_suggested(tiny_corrector, suggested):
    careful = tiny_corrector.correct(SENTENCE).with_minimum_confidence(1.0)
    assert not careful.changes and careful.proposed
    (text, *suggestions), told = suggested(careful)
    assert text == SENTENCE
    assert len(suggestions) == len(careful.proposed)
    for line, change in zip(suggestions, careful.proposed, strict=True):
        assert line.startswith(f"  {change.source_start}-{change.source_end} ")
        assert f"confidence {change.confidence:.2f}" in line and line.endswith(")")
    assert [each["right"] for each in told] == [change.right for change in careful.proposed]
    assert told[0]["confidence"] == careful.proposed[0].confidence


def test_a_word_typed_in_the_english_layout_is_suggested(tiny_corrector, suggested):
    (offer,) = find_in_english_layout("지금 rkrh 있어", (), {"가고"}.__contains__)
    lines, (suggestion,) = suggested(corrected(tiny_corrector, "지금 rkrh 있어", offer))
    assert lines == ["지금 rkrh 있어", "  3-7 rkrh → 가고  in rkrh  typed in the English layout"]
    assert suggestion["is_english_layout"] and suggestion["confidence"] is None


def test_a_suggestion_tells_its_article(tiny_corrector, suggested):
    (change,) = find_changes("몇일 뒤", "며칠 뒤")
    unsure = replace(change, fix_probability=0.5, keep_probability=0.5)
    found = corrected(tiny_corrector, "몇일 뒤", unsure).with_minimum_confidence(0.9)
    (_, line), (suggestion,) = suggested(found)
    assert line.endswith("(fix 0.50, keep 0.50), 한글 맞춤법 제27항 붙임 2")
    assert suggestion["article"]["article"] == "한글 맞춤법 제27항 붙임 2"


def corrected(corrector, source: str, *proposed: Change) -> Correction:
    """A sentence for which just these changes are proposed."""
    return Correction(source, (SentenceCorrection(0, source, proposed, 0.8, False, corrector.trace),))
