"""A corpus is divided by its lines, whatever a sentence holds."""

import json

import pytest
from click.testing import CliRunner

from training.corpus.selection import hold_out_command


def test_a_line_ends_at_a_line_feed_alone(tmp_path):
    texts = [f"가\u2028나\x85다 {number}" for number in range(4)]
    lines = [json.dumps({"text": text, "source": "one"}, ensure_ascii=False) + "\n" for text in texts]
    (tmp_path / "corpus").write_text("".join(lines), encoding="utf-8", newline="")
    rest, held = tmp_path / "rest", tmp_path / "held"
    arguments = [tmp_path / "corpus", "--rest", rest, "--held", held, "--one-in", 2]
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert (rest.read_text("utf-8"), held.read_text("utf-8")) == ("".join(lines[:2]), "".join(lines[2:]))


@pytest.mark.parametrize("line", ["\n", "밥을 먹어요.\n", '["밥을 먹어요."]\n'])
def test_a_line_that_is_no_object_is_named(line, tmp_path):
    (tmp_path / "corpus").write_text(f'{{"text": "가"}}\n{line}', encoding="utf-8")
    arguments = [tmp_path / "corpus", "--rest", tmp_path / "rest", "--held", tmp_path / "held"]
    done = CliRunner().invoke(hold_out_command, list(map(str, arguments)))
    assert done.exit_code == 1 and "line 2 should be a JSON object" in done.output
    assert not (tmp_path / "rest").exists()
