"""The proxy's configuration fits the Streamlit that is pinned."""

import base64
import hashlib
import re
from pathlib import Path

import streamlit

CONFIG = Path(__file__).parents[1] / "deploy" / "nginx.conf"


def test_the_policy_allows_just_the_scripts_in_streamlits_page():
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text("utf-8")
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = {base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in inline}
    policy = re.search(r'Content-Security-Policy "([^"]*)"', CONFIG.read_text("utf-8"))[1]
    (scripts,) = (each for each in policy.split("; ") if each.startswith("script-src"))
    assert set(re.findall(r"'sha256-([^']+)'", scripts)) == hashes
    assert len(hashes) == 1
    assert "unsafe-inline" not in scripts
    assert "'unsafe-eval'" not in scripts


def test_the_proxy_listens_on_this_machine_alone_and_writes_no_visits_down():
    text = CONFIG.read_text("utf-8")
    assert re.findall(r"listen (\S+);", text) == ["127.0.0.1:8080"]
    assert "access_log off;" in text
