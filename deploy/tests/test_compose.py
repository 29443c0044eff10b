"""Tests of the container file and its compose example against the repository."""

import re
from pathlib import Path

import yaml

DEPLOY = Path(__file__).parents[1]
SERVICES = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]


def test_pages_and_the_engine_share_one_volume_and_no_rights():
    for name in ("engine", "page1", "page2"):
        service = SERVICES[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        (volume,) = service["volumes"]
        assert service["environment"]["ATTENTION_ENGINE"].startswith(volume.partition(":")[2])


def test_the_proxy_alone_is_reached_and_from_this_machine_alone():
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"proxy"}
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["proxy"]["ports"])
    for source, _, _ in (each.split(":") for each in SERVICES["proxy"]["volumes"]):
        assert (DEPLOY / source).is_file()


def test_the_container_holds_every_room_that_the_app_imports():
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    copied = set(re.findall(r"^COPY (\S+) ", text, re.MULTILINE))
    assert all((DEPLOY.parent / each).exists() for each in copied)
    assert copied >= {"app.py", "assets", "engine", "model", "ui", "viz", "static", ".streamlit"}
    assert "\nUSER visitor\n" in text
