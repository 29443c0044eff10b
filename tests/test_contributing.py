"""What the guide for contributors names is there, and what checks a commit is what CI checks."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
CI = (ROOT / ".ci/run").read_text("utf-8")


def test_every_file_in_the_guide_exists():
    named = re.findall(r"`([\w./-]+/[\w./-]*|[\w.-]+\.(?:py|md|toml|txt))`|\]\(([\w./-]+)\)", GUIDE)
    paths = {code or link for code, link in named}
    assert len(paths) > 25
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_every_file_tested_in_the_guide_exists():
    assert [path for path in re.findall(r"pytest -q (\S+)", GUIDE) if not (ROOT / path).exists()] == []


def test_the_checks_of_a_commit_are_those_of_ci():
    hooks = re.findall(r"entry: (.+)", (ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    checks = [hook.removesuffix(" --force-exclude") for hook in hooks]
    assert checks == ["ruff check", "ruff format", "mypy"]
    for check in checks:
        assert re.search(rf"^{check}\b", CI, re.MULTILINE), check


def test_the_workflow_runs_what_everybody_can_run_and_may_only_read():
    workflow = (ROOT / ".github/workflows/ci.yml").read_text("utf-8")
    assert "- run: .ci/run\n" in workflow
    assert re.search(r"^permissions:\n  contents: read\n\n", workflow, re.MULTILINE)
