"""Command ``check`` of the service: files of all formats, reports, corrections in place."""

import csv
import errno
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from model import Corrector
from model.tables.reading import read_rows
from service.__main__ import main
from service.checks import Checking, read
from service.files import READERS, files_in, markdown, reader_of
from tests.model.tables.made_documents import MADE

ROOT = Path(__file__).parents[2]
# In each file of the folder "wrong" the same words are wrong in prose and left alone in code, addresses, keys
# and markup; the folder "right" holds the files with the prose corrected.
FOLDER = Path(__file__).with_name("files")
FILES = {path.name: path.read_bytes() for path in sorted((FOLDER / "wrong").iterdir())}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files, in the current folder."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def loaded(corrector, monkeypatch):
    def load(words=(), **options):
        return corrector.with_words(words) if words else corrector

    monkeypatch.setattr(Corrector, "load", load)


def check(*arguments: str):
    return CliRunner().invoke(main, ["check", *arguments])


@pytest.mark.parametrize("name", FILES)
def test_each_finding_lies_where_it_says_and_only_the_mistakes_of_a_file_change(folder, name):
    (found,) = Checking().findings([Path(name)])
    text = read(Path(name)).text
    assert found
    for each in found:
        assert text[each.start : each.end] == each.wrong
        assert text.split("\n")[each.line - 1][each.column - 1 : each.end_column - 1] == each.wrong
    assert check(name).exit_code == 1
    assert check("--fix", name).exit_code == 0
    assert (folder / name).read_bytes() == (FOLDER / "right" / name).read_bytes()
    assert check(name).exit_code == 0


def test_text_json_sarif_and_github_hold_the_same(folder):
    assert check("text.txt").stdout.splitlines()[0].startswith("text.txt:1:4: 머거요 → 먹어요  (")
    listed = json.loads(check("--format", "json", "text.txt").stdout)
    run = json.loads(check("--format", "sarif", "text.txt").stdout)["runs"][0]
    commands = check("--format", "github", "text.txt").stdout.splitlines()
    assert [each["right"] for each in listed] == ["먹어요", "안 돼요"]
    assert [each["ruleId"] for each in run["results"]] == [each["rule"] for each in listed]
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} == {each["rule"] for each in listed}
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 8}
    assert run["results"][1]["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"] == region
    place = "file=text.txt,line=3,endLine=3,col=5,endColumn=8"
    assert commands[1].startswith(f"::error {place},title=KO_AN_DWAE::")


def test_a_path_of_sarif_is_a_uri(tmp_path):
    (tmp_path / "글 이름.md").write_text(WRONG, "utf-8")
    (run,) = json.loads(check("--format", "sarif", str(tmp_path / "글 이름.md")).stdout)["runs"]
    (place,) = run["results"][0]["locations"]
    uri = place["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.isascii() and " " not in uri and unquote(uri).endswith("글 이름.md")


def test_offers_are_reported_when_asked_for_and_fail_nothing(folder):
    Path("text.txt").write_text("지금 rkrh 있어.", "utf-8")
    assert (check("text.txt").exit_code, check("text.txt").stdout) == (0, "")
    found = check("--suggest", "--format", "github", "text.txt")
    assert found.exit_code == 0 and found.stdout.startswith("::notice file=text.txt")


def test_own_words_are_left_alone_with_their_particles_and_others_named(folder):
    Path("words.txt").write_text("# 우리 반\n머거*\n", "utf-8")
    found = check("--words", "words.txt", "text.txt").stdout.splitlines()
    assert [line.split()[1] for line in found] == ["안되요"]
    for words, told in (("가" * 1_000).encode(), ""), ("머거요".encode("cp949"), "words.txt is not UTF-8"):
        Path("words.txt").write_bytes(words)
        refused = check("--words", "words.txt", "text.txt")
        assert refused.exit_code == 1 and refused.stderr.startswith("Error: ") and told in refused.stderr


def test_folders_are_searched_without_what_is_hidden_or_ignored(folder):
    for name in ("안/글.md", "node_modules/글.md", ".git/글.md", "안/그림.png", "안/속/글.po"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("네.", "utf-8")
    found = {str(path) for path in files_in([Path(".")], ["text*", "*/속/*"])}
    assert found == {"안/글.md"}
    assert list(files_in([Path(".")], ["text*", "안"])) == []
    assert [str(path) for path in files_in([Path("안/그림.png")])] == ["안/그림.png"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", b"\xff\xfe"), ("a.json", "{머".encode()), ("a.ipynb", '{"가": 1}'.encode())],
)
def test_a_file_that_cannot_be_read_is_named(folder, name, content):
    Path(name).write_bytes(content)
    found = check(name)
    assert found.exit_code == 1 and found.stderr.startswith(f"Error: {name} is ")


ODD = ["", "\n", '"', "<string>", "```", 'msgstr "', '{"cells": [{"cell_type": "markdown"}]}']


SEVERAL = """
from pathlib import Path
from urllib.parse import unquote
from service import checks
checks.BATCH, checks.ALONE = 200, 0
if __name__ == "__main__":
    print(len(*checks.Checking(processes=2).findings([Path("long.md")])))
"""


@pytest.mark.parametrize("name", READERS)
def test_every_reader_keeps_its_pieces_in_order_for_any_text(name):
    for text in (*map(bytes.decode, FILES.values()), *ODD):
        try:
            documents = list(reader_of(Path(f"a{name}"))(text))
        except ValueError:
            continue
        for document in documents:
            prose = [each for each in document.pieces if text[each.start : each.end] == each.text]
            assert prose == sorted(prose)


def test_several_processes_find_the_same(folder, tmp_path, monkeypatch):
    """Real processes, which load the shipped corrector themselves."""
    text = "\n\n".join(f"{number}번째 글에서는 밥을 머거요." for number in range(60))
    (tmp_path / "long.md").write_text(text, "utf-8")
    (tmp_path / "run.py").write_text(SEVERAL, "utf-8")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "run.py")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "60\n", done.stderr


CALLS = [
    ROOT / name
    for name in (".pre-commit-hooks.yaml", "docs/check-korean.yml", "docs/editors.md", "docs/editors.en.md")
]


@pytest.mark.parametrize("path", CALLS, ids=lambda path: path.name)
def test_what_calls_the_command_names_options_that_it_has(path):
    text = path.read_text("utf-8")
    calls = re.findall(r"see-attention (check|serve)\b([^\n]*)", text)
    assert calls
    for command, options in calls:
        described = CliRunner().invoke(main, [command, "--help"]).output
        assert [
            each for each in re.findall(r"--[a-z-]+", options.partition("#")[0]) if each not in described
        ] == []
    described = CliRunner().invoke(main, ["serve", "--help"]).output
    assert all(each in described for each in re.findall(r"`(--(?:host|allow)[a-z-]*)`", text))


@pytest.mark.parametrize(
    "typed, read_as",
    [
        ("밥을 `머거\n안되요`도 봐요.", "밥을 X0도 봐요."),
        ("> 인용 `머거\n> 안되요`도\n> 봐요.", "인용 X0도 봐요."),
        ("식 $$\n안되요\n$$는 <b\ntitle='안되요'>봐요</b>.", "식 X0는 봐요."),
        ("- 하나 ``머거 `\n  안되요``을\n  봐요.", "하나 X0을 봐요."),
    ],
)
def test_code_and_tags_of_markdown_may_cross_lines(typed, read_as):
    assert [each.text for each in markdown(typed)] == [read_as]
    assert [each.text for each in markdown(typed.replace("\n", "\r\n"))] == [read_as]


@pytest.mark.parametrize("name, wrong, right", MADE)
def test_a_document_is_corrected_in_place_with_a_list_of_its_changes(tmp_path, name, wrong, right):
    (tmp_path / name).write_bytes(wrong)
    paths = str(tmp_path / name), "--changes", str(tmp_path / "changes.csv")
    assert check("--fix", *paths).exit_code == 0
    assert (tmp_path / name).read_bytes() == right
    with (tmp_path / "changes.csv").open(encoding="utf-8-sig", newline="") as file:
        made = list(csv.DictReader(file))
    assert made
    paragraphs = read_rows(io.BytesIO(wrong), name)
    lines = {row.number: unicodedata.normalize("NFC", row.text) for row in paragraphs}
    for each in made:
        assert each["wrong"] in lines[int(each["line"])]


def test_a_document_of_a_folder_is_read_where_it_is_named(tmp_path):
    (tmp_path / MADE[0].name).write_bytes(MADE[0].wrong)
    assert check(str(tmp_path)).exit_code == 0
    found = check(str(tmp_path / MADE[0].name))
    assert found.exit_code == 1 and f"{MADE[0].name}:1:4: 머거요 → 먹어요" in found.stdout


@pytest.mark.parametrize(
    "name, reason", [("글.hwp", "HWP or XLS"), ("글.docx", "no document"), ("글.xlsx", "correct --csv")]
)
def test_a_document_that_cannot_be_read_is_named_with_the_reason(tmp_path, name, reason):
    (tmp_path / name).write_bytes(b"HWP Document File" if name.endswith("hwp") else b"?")
    found = check(str(tmp_path / name))
    assert found.exit_code == 1 and name in found.stderr and reason in found.stderr


@pytest.mark.parametrize(
    "options", [["--changes", "changes.csv"], ["--fix", "--changes", "none/changes.csv"]]
)
def test_a_list_of_changes_needs_changes_and_a_folder(folder, options):
    before = (folder / "text.txt").read_bytes()
    assert check(*options, "text.txt").exit_code == 2
    assert (folder / "text.txt").read_bytes() == before


def test_a_link_that_leads_out_of_a_folder_is_left_alone(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out.md").write_text(WRONG, "utf-8")
    (tmp_path / "in" / "link.md").symlink_to(tmp_path / "out.md")
    assert check("--fix", str(tmp_path / "in")).exit_code == 0
    assert (tmp_path / "out.md").read_text("utf-8") == WRONG


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "`commit`을 `push`를 `main`으로, $n$은 $m$는 `값`이 맞다. `a`와 `b`과 같다."),
        ("a.md", "좋아요 <br> 그리고 <!-- x --> 글 ![그림](a.png) <https://a.kr>을 보고, 안&nbsp;돼요."),
        ("a.json", '{"가": "{count}이 {0}과 %1$s으로, {name}가 {user}를 열었다."}'),
    ],
)
def test_particles_behind_code_and_spaces_beside_marks_stay(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf-8")
    assert check(str(tmp_path / name)).output == ""


WRONG, RIGHT = "할수 있는 만큼 머거요. 그러면 안되요.\n", "할 수 있는 만큼 먹어요. 그러면 안 돼요.\n"


def test_a_file_that_is_reached_twice_is_corrected_once(tmp_path):
    file, link = tmp_path / "a.md", tmp_path / "b.md"
    file.write_text(WRONG, "utf-8")
    link.symlink_to(file)
    check("--fix", str(tmp_path), str(file))
    assert file.read_text("utf-8") == RIGHT


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path, monkeypatch):
    files = [tmp_path / name for name in ("a.md", "b.md")]
    for file in files:
        file.write_text(WRONG, "utf-8")
    findings = Checking.findings

    def edited_meanwhile(self, *arguments):
        yield from findings(self, *arguments)
        files[0].write_text(f"새 문장. {WRONG}", "utf-8")
        os.utime(files[0], ns=(0, 0))

    monkeypatch.setattr(Checking, "findings", edited_meanwhile)
    found = check("--fix", *map(str, files))
    assert f"not corrected: {files[0]}" in found.output and found.exit_code == 1
    assert [file.read_text("utf-8") for file in files] == [f"새 문장. {WRONG}", RIGHT]


@pytest.mark.parametrize("name", ["a.md", MADE[0].name])
def test_an_interruption_leaves_the_old_file_whole(tmp_path, monkeypatch, name):
    """The disk is full when the first half was written."""
    old = WRONG.encode() if name == "a.md" else MADE[0].wrong
    (tmp_path / name).write_bytes(old)
    (tmp_path / name).chmod(0o600)

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        found = check("--fix", str(tmp_path / name))
    assert found.exit_code == 1 and "not corrected" in found.output and "No space left" in found.output
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [(name, old)]
    assert check("--fix", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_files_of_a_folder_that_cannot_be_read_are_skipped_and_named(tmp_path):
    (tmp_path / "a.txt").write_bytes(WRONG.encode("cp949"))
    (tmp_path / "b.json").write_text('{"가": 1, // 주석\n}', "utf-8")
    (tmp_path / "c.md").write_text(WRONG, "utf-8")
    (tmp_path / "d.json").write_text("[" * 9999 + f'"{WRONG}"' + "]" * 9999, "utf-8")
    found = check(str(tmp_path))
    assert found.output.count("skipped: ") == 3 and "c.md:1:1: " in found.output and found.exit_code == 1


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("a.md", unicodedata.normalize("NFD", "그러면 안되요."), None),  # as files of macOS are
        ("a.md", "첫째 안되요.\r둘째 안되요.\r", "첫째 안 돼요.\r둘째 안 돼요.\r"),
        (
            "a.md",
            "\ufeff---\ntitle: 안되요\n---\n그러면 안되요.",
            "\ufeff---\ntitle: 안되요\n---\n그러면 안 돼요.",
        ),
        ("a.json", '\ufeff{"가": "그러면 안되요."}', '\ufeff{"가": "그러면 안 돼요."}'),
    ],
)
def test_marks_line_ends_and_decomposed_hangul_of_other_systems(tmp_path, name, wrong, right):
    file = tmp_path / name
    file.write_bytes(wrong.encode())
    assert check("--fix", str(file)).exit_code == 0
    text = file.read_bytes().decode()
    assert text == right if right else unicodedata.normalize("NFC", text) == "그러면 안 돼요."


def test_several_spaces_are_layout(tmp_path):
    (tmp_path / "a.md").write_text("옳은  글이에요.\n\n용어\n:   안되요\n\n1. 셋   머거요\n", "utf-8")
    assert check("--fix", str(tmp_path / "a.md")).exit_code == 0
    right = "옳은  글이에요.\n\n용어\n:   안 돼요\n\n1. 셋   먹어요\n"
    assert (tmp_path / "a.md").read_text("utf-8") == right
