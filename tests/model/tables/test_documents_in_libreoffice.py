"""Corrected documents, opened by LibreOffice Writer; not collected where it is missing."""

import subprocess

from tests.model.tables.made_documents import MADE


def test_corrected_documents_open_in_libreoffice(tmp_path):
    """LibreOffice has no filter for HWPX."""
    names = [made.name for made in MADE if made.name.endswith(".docx")]
    for made in MADE:
        (tmp_path / made.name).write_bytes(made.right)
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", "txt:Text (encoded):UTF8", *names]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    for name in names:
        text = (tmp_path / name).with_suffix(".txt").read_text("utf-8-sig")
        assert "안 돼" in text or "먹어" in text, name
        assert "안되" not in text, name
