"""A corpus is divided by its lines, whatever a sentence holds."""

import json

from click.testing import CliRunner

from training.corpus.hold_out import command


def test_a_line_ends_at_a_line_feed_alone(tmp_path):
    texts = [f"가\u2028나\x85다 {number}" for number in range(4)]
    lines = [json.dumps({"text": text, "source": "one"}, ensure_ascii=False) + "\n" for text in texts]
    (tmp_path / "corpus").write_text("".join(lines), encoding="utf-8", newline="")
    rest, held = tmp_path / "rest", tmp_path / "held"
    arguments = [tmp_path / "corpus", "--rest", rest, "--held", held, "--one-in", 2]
    done = CliRunner().invoke(command, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert (rest.read_text("utf-8"), held.read_text("utf-8")) == ("".join(lines[:2]), "".join(lines[2:]))
