"""Repository files agree: links of documents, CI, licences, proxy policy, version."""

import base64
import csv
import hashlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import streamlit

import package

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "deploy", ROOT / "benchmarks")
    for path in folder.glob("*.md")
)


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_link_of_a_document_leads_to_a_file(page):
    links = re.findall(r"\]\((?!https?:)([\w./-]+)(?:#[\w-]*)?\)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md", "docs/glossary.md"])
def test_every_file_that_a_guide_names_exists(page):
    named = set(re.findall(r"`([\w.-]+/[\w./-]*)`", text(page))) | set(
        re.findall(r"pytest -q ([\w/.]+)", text(page))
    )
    ours = [name for name in sorted(named) if (ROOT / name.partition("/")[0]).exists()]
    assert len(ours) > 3 and [name for name in ours if not (ROOT / name).exists()] == []


def test_the_workflow_does_what_ci_does_and_may_only_read():
    workflow = text(".github/workflows/ci.yml")
    assert "- run: .ci/run\n" in workflow
    assert re.search(r"^permissions:\n  contents: read\n\n", workflow, re.MULTILINE)


def test_the_changelog_begins_with_the_version():
    assert re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1] in (
        package.__version__,
        "Unreleased",
    )


def test_the_licence_is_whole_and_each_file_of_others_stands_in_the_notice():
    assert "Apache License" in text("LICENSE") and "END OF TERMS AND CONDITIONS" in text("LICENSE")
    listed = subprocess.run(
        ["git", "ls-files", "static"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [name for name in listed.stdout.split() if name not in text("NOTICE")] == []


def test_the_card_counts_the_collections_that_ask_for_share_alike():
    with open(ROOT / "assets/transformer/corpus.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    alike = [row for row in rows if row["licence"].replace(" ", "-").startswith("CC-BY-SA")]
    share = sum(int(row["sentences"]) for row in alike) / sum(int(row["sentences"]) for row in rows)
    card = " ".join(text("docs/model-card.md").split())
    assert f"{len(alike)} of the {len(rows)} collections, with {share:.0%}" in card


def test_the_proxy_allows_just_the_scripts_in_streamlits_page_and_writes_no_visits_down():
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline}
    config = text("deploy/nginx.conf")
    policy = re.search(r'Content-Security-Policy "([^"]*)"', config)[1]
    (scripts,) = (each for each in policy.split("; ") if each.startswith("script-src"))
    assert set(re.findall(r"'sha256-([^']+)'", scripts)) == hashes and len(hashes) == 1
    assert "unsafe-inline" not in scripts and "'unsafe-eval'" not in scripts
    assert re.findall(r"listen (\S+);", config) == ["127.0.0.1:8080"] and "access_log off;" in config


def test_each_extra_that_a_document_installs_exists():
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    line = re.compile(r'install "(?:\.|see-attention)\[([a-z,]+)\]"')
    told = {page.name: line.findall(page.read_text("utf-8")) for page in PAGES}
    assert {name for found in told.values() for each in found for name in each.split(",")} <= set(extras)
    for page in PAGES:
        if page.name.startswith(("own-", "researchers")):
            assert "pip install" in page.read_text("utf-8"), page.name
