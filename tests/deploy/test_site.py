"""Build of the static site: npm packages, their lock file, packed bytes, rules.

Its behaviour in a browser is tested in ``tests/browser/``.
"""

import json
import re
from pathlib import Path

import pytest

from deploy.site import build, bundle, rules

ROOT = Path(__file__).parents[2]


@pytest.fixture
def packages(monkeypatch):
    """Empties the cache of ``bundle.packages`` before and after a test."""
    bundle.packages.cache_clear()
    yield
    bundle.packages.cache_clear()


@pytest.mark.parametrize("library", ["let a;", "make();\n}", ""])
def test_a_library_of_another_form_is_refused(library):
    with pytest.raises(ValueError, match="should end with the function that makes it"):
        bundle.parsed_at_once(library)


def test_a_missing_npm_is_named(tmp_path, monkeypatch, packages):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(bundle.PackagesMissing, match="npm is needed"):
        bundle.packages(tmp_path)


def test_another_package_than_the_locked_one_is_refused(tmp_path, monkeypatch, packages):
    lock = (bundle.SITE / "package-lock.json").read_text("utf-8")
    wrong = re.sub(r'(?<="integrity": ")sha512-[^"]+', "sha512-" + "A" * 86 + "==", lock)
    for name, text in (
        ("package.json", (bundle.SITE / "package.json").read_text("utf-8")),
        ("package-lock.json", wrong),
    ):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(bundle, "SITE", tmp_path)
    with pytest.raises(bundle.PackagesMissing, match="EINTEGRITY"):
        bundle.packages(tmp_path / "cache")


def test_the_lock_names_checksums_and_no_registry():
    locked = json.loads((bundle.SITE / "package-lock.json").read_text("utf-8"))["packages"]
    assert all("integrity" in each and "resolved" not in each for path, each in locked.items() if path)


def test_every_byte_comes_back_from_a_page():
    content = bytes(range(256)) * 2
    text = build.written(content).decode("cp1252", "replace")
    read = build.written(content)
    assert not set(read) & {0, 13, ord("<")} and len(text) == len(read)
    back, escaped = bytearray(), False
    for byte in read:
        if byte == build.ESCAPE and not escaped:
            escaped = True
        else:
            back.append(byte - build.SHIFT if escaped else byte)
            escaped = False
    assert bytes(back) == content


@pytest.mark.parametrize("pattern", [r"(a)(?(1)b|c)", r"a\Bb"])
def test_what_is_not_translated_is_refused(pattern):
    with pytest.raises(ValueError, match="is not translated"):
        rules.javascript(re.compile(pattern))


def test_its_requirements_are_those_of_the_app():
    own = (ROOT / "deploy/site/requirements.txt").read_text("utf-8").splitlines()
    known = "".join(
        (ROOT / name).read_text("utf-8") for name in ("requirements.txt", "requirements-train.txt")
    )
    assert all(
        re.search(rf"^{re.escape(line)}\b", known, re.MULTILINE) for line in own if not line.startswith("#")
    )
