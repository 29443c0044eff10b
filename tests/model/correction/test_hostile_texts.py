"""``Corrector`` on adversarial texts: one answer each, and only spelling is changed."""

import json

import pytest
from click.testing import CliRunner

from model import Correction
from model.__main__ import main
from model.text.protected import protected
from model.text.tokenizer import normalise
from tests.hostile_texts import MAKERS, hostile_texts

TEXTS = list(hostile_texts(seed=21, count=10 * len(MAKERS)))


def test_nothing_but_spelling_is_touched(tiny_corrector):
    corrections = tiny_corrector.correct_batch(TEXTS)
    assert len(corrections) == len(TEXTS)
    for text, correction in zip(TEXTS, corrections, strict=True):
        assert isinstance(correction, Correction)
        assert correction.source == normalise(text)
        assert protected(correction.text) == protected(correction.source)


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command_answers_each_line(tiny_folder, as_json):
    lines = [text for text in TEXTS[: 2 * len(MAKERS)] if "\n" not in text and len(text) <= 200]
    lines = [line.encode("utf-8", "replace") for line in lines] + [b"\xff\xfe\x00", b"\xed\xa0\x80"]
    arguments = ["correct", "--model", str(tiny_folder), *["--json"] * as_json]
    done = CliRunner().invoke(main, arguments, input=b"\n".join(lines) + b"\n")
    assert (done.exit_code, done.exception) == (0, None)
    answers = done.stdout_bytes.split(b"\n")[:-1]
    assert len(answers) == len(lines)
    if as_json:
        assert all("text" in json.loads(answer.decode("utf-8", "surrogateescape")) for answer in answers)
