"""Reading corpora: the formats, and skipped rows with their line and the reason."""

import json

import pytest

from training.corpus.corpus import (
    CorpusError,
    Pair,
    Sentence,
    SkippedRow,
    read_corpus,
    read_pairs,
    read_sentences,
)


@pytest.fixture
def write(tmp_path):
    def _write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


def test_json_lines_keep_their_order_and_origin(write):
    rows = [{"text": " 비가 온다. ", "source": "날씨", "mt": 1}, {"text": "눈이 온다."}]
    path = write("a.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert read_sentences(path) == [Sentence("비가 온다.", "날씨", True), Sentence("눈이 온다.")]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_text_with_and_without_byte_order_mark(write, mark, end):
    path = write("a.txt", mark + f"비가 온다.{end}{end}  눈이 온다.{end}".encode())
    corpus = read_corpus(path)
    assert [row.text for row in corpus.rows] == ["비가 온다.", "눈이 온다."]
    assert corpus.problems == ()
    assert corpus.problem_summary() == ""


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_quotes_commas_and_line_breaks(write, mark, end):
    text = end.join(["src,tgt", '"네, 조아요","네, 좋아요"', '"""왜""","""왜"""', "감배,담배", ""])
    path = write("a.csv", mark + text.encode())
    assert read_pairs(path) == [Pair("네, 조아요", "네, 좋아요"), Pair('"왜"', '"왜"'), Pair("감배", "담배")]


def test_pairs_are_recognised_by_header_and_by_keys(write):
    assert read_pairs(write("a.txt", "src,tgt\n감배,담배\n")) == [Pair("감배", "담배")]
    assert read_pairs(write("a.jsonl", '{"src": "감배", "tgt": "담배"}\n')) == [Pair("감배", "담배")]


def test_bad_csv_rows_are_reported_with_the_line_they_begin_on(write):
    rows = [
        "src,tgt",
        '"두 줄',  # 2 and 3: one good row
        '짜리","두 줄 짜리"',
        "하나뿐",  # 4
        "",  # 5: blank, nothing to report
        ",오른쪽만",  # 6
        '"따옴표"뒤,글',  # 7
        "감배,담배",  # 8
    ]
    corpus = read_corpus(write("a.csv", "\n".join(rows)))
    assert corpus.holds_pairs
    assert corpus.rows == [Pair("두 줄\n짜리", "두 줄 짜리"), Pair("감배", "담배")]
    assert corpus.problems[:2] == (
        SkippedRow(4, "1 fields where the header has 2"),
        SkippedRow(6, "src is empty"),
    )
    assert corpus.problems[2].line == 7
    assert corpus.problems[2].reason.startswith("not CSV")


def test_bad_json_rows_are_reported_with_their_line(write):
    lines = [
        "{",
        "[1]",
        '{"text": 3}',
        '{"text": "  "}',
        '{"title": "x"}',
        "",
        '{"text": "비가 온다."}',
        '{"src": "감배", "tgt": "담배"}',
        '{"text": "\\ud800"}',
    ]
    corpus = read_corpus(write("a.jsonl", "\n".join(lines)))
    assert corpus.rows == [Sentence("비가 온다.")]
    reasons = {problem.line: problem.reason for problem in corpus.problems}
    assert reasons.pop(1).startswith("not JSON")
    assert reasons == {
        2: "not a JSON object: list",
        3: "text is not a string: int",
        4: "text is empty",
        5: "neither text nor src and tgt among its keys: ['title']",
        8: "the file mixes sentences and pairs",
        9: "text is not UTF-8",
    }


def test_summary_is_short_and_counts_the_rest(write):
    corpus = read_corpus(write("a.jsonl", "{\n" * 10 + '{"text": "비"}'))
    summary = corpus.problem_summary(shown=2).splitlines()
    assert summary[0].endswith("a.jsonl: skipped 10, kept 1 rows")
    assert summary[1].startswith("  line 1: not JSON")
    assert summary[-1] == "  … and 8 more"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.txt", "", "no usable row in .*empty.txt$"),
        ("blank.jsonl", "\n \n", "no usable row in .*blank.jsonl$"),
        ("bad.jsonl", "{}\n", r"no usable row in .*bad.jsonl \(line 1: neither"),
        ("header.csv", "src,tgt\n", "no usable row in .*header.csv$"),
        ("none.csv", "", "header should hold src,tgt; received ''"),
        ("other.csv", "wrong,right\na,b\n", "header should hold src,tgt; received 'wrong,right'"),
    ],
)
def test_a_useless_file_is_an_error_that_names_it(write, name, content, message):
    with pytest.raises(CorpusError, match=message) as error:
        read_corpus(write(name, content))
    assert name in str(error.value)


def test_the_wrong_kind_is_an_error(write):
    with pytest.raises(CorpusError, match="holds sentences"):
        read_pairs(write("a.txt", "비가 온다."))
    with pytest.raises(CorpusError, match="holds pairs"):
        read_sentences(write("a.csv", "src,tgt\n감배,담배"))


def test_a_sentence_with_a_certain_mistake_is_skipped_and_the_mistake_named(write):
    corpus = read_corpus(write("a.txt", "비가 온다.\n네가 보고싶어.\n"))
    assert [row.text for row in corpus.rows] == ["비가 온다."]
    (problem,) = corpus.problems
    assert problem.line == 2 and "'고싶' is misspelt: 보고 싶다" in problem.reason
