"""The site's scripts and files fit together; what it does in a browser is tested in ``tests/browser/``."""

import base64
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from deploy.site import one_file, packed, patterns, runtime, scripts

ROOT = Path(__file__).parents[2]
ENTRIES = ("shell.js", "worker.js", "page.js", "service.js")


@pytest.mark.parametrize("entry", ENTRIES)
def test_all_names_of_a_script_are_different(entry):
    names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", scripts.joined(entry), re.MULTILINE)
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)


def test_every_module_belongs_to_a_script():
    order: list[str] = []
    for entry in ENTRIES:
        scripts._visit(entry, order)
    assert {path.name for path in scripts.FOLDER.glob("*.js")} == set(order)


def test_no_pattern_of_the_rules_is_copied():
    """``matchAll`` copies a pattern, and a browser may compile the copy anew for each sentence (``spansOf`` in characters.js)."""
    assert not re.search(r"matchAll\((?:rules\.)?patterns?\b", scripts.joined("worker.js"))


def test_a_module_of_another_form_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "FOLDER", tmp_path)
    (tmp_path / "a.js").write_text('import * as all from "./b.js";\n')
    with pytest.raises(ValueError, match="import and export as the others"):
        scripts.joined("a.js")


def test_every_byte_comes_back_from_a_page():
    content = bytes(range(256)) * 2
    text = one_file.written(content).decode("cp1252", "replace")
    read = one_file.written(content)
    assert not set(read) & {0, 13, ord("<")} and len(text) == len(read)
    back, escaped = bytearray(), False
    for byte in read:
        if byte == one_file.ESCAPE and not escaped:
            escaped = True
        else:
            back.append(byte - one_file.SHIFT if escaped else byte)
            escaped = False
    assert bytes(back) == content


def test_the_characters_above_ascii_are_those_of_the_encoding():
    assert len(set(one_file.high())) == 128
    assert one_file.high()[0x80 - 128 : 0x82 - 128] == "€\x81"  # one of the five bytes without a character


def test_half_precision_is_stored_by_halves():
    array = np.array([1.5, -2.0], np.float16)
    assert packed.packed_arrays({"a": array})[-4:] == bytes([0, 0, 0x3E, 0xC0])


@pytest.mark.parametrize("pattern", [r"(a)(?(1)b|c)", r"a\Bb"])
def test_what_is_not_translated_is_refused(pattern):
    with pytest.raises(ValueError, match="is not translated"):
        patterns.javascript(re.compile(pattern))


def test_another_package_than_the_pinned_one_is_refused_and_removed(tmp_path):
    archive = tmp_path / f"{runtime.PACKAGE}-{runtime.VERSION}.tgz"
    archive.write_bytes(b"something else")
    with pytest.raises(runtime.RuntimeMissing, match="another checksum"):
        runtime.runtime(tmp_path)
    assert not archive.exists()


def test_the_checksum_is_a_whole_one():
    name, _, digest = runtime.INTEGRITY.partition("-")
    assert name == "sha512" and len(base64.b64decode(digest)) == hashlib.sha512().digest_size


def test_its_requirements_are_those_of_the_app():
    own = (ROOT / "deploy/site/requirements.txt").read_text("utf-8").splitlines()
    known = "".join(
        (ROOT / name).read_text("utf-8") for name in ("requirements.txt", "requirements-train.txt")
    )
    assert all(
        re.search(rf"^{re.escape(line)}\b", known, re.MULTILINE) for line in own if not line.startswith("#")
    )
