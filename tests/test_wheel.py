"""The wheel has everything: installed in an empty environment, it works from a folder that knows nothing of the repository."""

import os
import re
import site
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.test_seeing import OPENED_AND_DRAWN, shadowed
from viz.browser.texts import table

ROOT = Path(__file__).parents[1]
FOLDERS = tuple(".streamlit assets classroom engine model seeing static training ui viz".split())
CORRECT_ASK_DRAW_EXPLORE = """
from pathlib import Path

import model
from model import Corrector
from model.analysis import head_effects
from viz import attention_heatmap, explore

corrector = Corrector.load()
result = corrector.correct("고갱니믈 초대하고 십씀니다.")
trace = result.trace
effects = head_effects(corrector, result.source, result.text, result.changes[0])
figure = attention_heatmap(trace.cross_attention[-1].mean(0), trace.target_tokens, trace.source_tokens)
explore(trace, language="ko").save("seen.html")
print(model.__file__, result.text, len(figure.data), len(effects.heads), sep="\\n")
"""


NEEDED = {"numpy", "plotly", "rapidfuzz", "onnxruntime", "kiwipiepy", "kiwipiepy-model"}
# Beside a plain `pip install .` none of what the extras bring can be imported.
WITHOUT_EXTRAS = """
import sys

for name in "streamlit pandas openpyxl segno click rich keras tensorflow onnx ray torch jax".split():
    sys.modules[name] = None
"""


class Installed(NamedTuple):
    python: Path
    home: Path  # an empty folder to work in

    def command(self, name: str) -> Path:
        return self.python.with_name(name)

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(self, *arguments: str) -> str:
        return subprocess.run(
            [self.python, *arguments],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            check=True,
            timeout=120,
            encoding="utf-8",
        ).stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder))
    subprocess.run([sys.executable, "-m", "pip", "-q", "wheel", *options, str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Installed:
    """An environment with the wheel; its dependencies are those of this one, so nothing is downloaded."""
    folder, home = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "-q", "--python", str(python)]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A path in a .pth file is searched last, and .pth files that lie there, such as of `pip install -e .`, are not read.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()), "utf-8")
    return Installed(python, home)


def test_the_wheel_holds_every_file_and_is_small(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    here = {path.relative_to(ROOT) for name in FOLDERS for path in (ROOT / name).rglob("*") if path.is_file()}
    wanted = {path.as_posix() for path in here if "__pycache__" not in path.parts} - {"assets/fonts/build.py"}
    assert wanted and wanted <= held
    assert "app.py" in held and not any(name.startswith("tests/") for name in held)
    assert wheel.stat().st_size < 60e6


def test_what_the_library_needs_is_little_and_the_rest_is_asked_for(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in held if name.endswith("/METADATA"))
    needed = re.findall(r"^Requires-Dist: ([\w.-]+)(?:\[.*?\])?(.*)$", metadata, re.MULTILINE)
    assert {name for name, rest in needed if "extra ==" not in rest} == NEEDED
    extras = {"app": "streamlit", "train": "onnx", "ray": "ray"}
    for extra, name in extras.items():
        assert any(each == name and f"extra == '{extra}'" in rest for each, rest in needed), extra
    assert {f"{room}/py.typed" for room in ("model", "seeing", "viz")} <= set(held)


def test_what_builds_it_here_is_what_builds_it_elsewhere():
    pinned = re.findall(r'"(hatch[\w-]*==[\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    development = (ROOT / "requirements-dev.txt").read_text("utf-8")
    assert len(pinned) == 2 and all(each in development for each in pinned)


def test_it_corrects_asks_the_laboratory_draws_and_explores(installed):
    code = WITHOUT_EXTRAS + CORRECT_ASK_DRAW_EXPLORE
    where, text, drawn, heads = installed.run("-c", code).splitlines()[-4:]
    assert Path(where).is_relative_to(installed.python.parents[1])
    assert text == "고객님을 초대하고 싶습니다."
    assert int(drawn) >= 1 and int(heads) >= 1
    page = (installed.home / "seen.html").read_text("utf-8")
    assert "Plotly" in page and table("ko")["take_away_no_script"] in page


def test_files_of_the_same_names_do_not_hide_it(installed):
    """As `tests/test_seeing.py` has it for a checkout."""
    folder = shadowed(installed.home / "shadowed")
    command = [installed.python, "-c", OPENED_AND_DRAWN]
    done = subprocess.run(
        command, cwd=folder, env=installed.environment, capture_output=True, text=True, check=True
    )
    own, library = done.stdout.splitlines()
    assert Path(own).parent == folder and Path(library).is_relative_to(installed.python.parents[1])


def test_its_command_starts_the_app(installed):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        installed.command("see-attention"),
        "--server.port",
        str(port),
        "--server.address",
        "127.0.0.1",
    ]
    app = subprocess.Popen(command, cwd=installed.home, env=installed.environment, stdout=subprocess.DEVNULL)
    try:
        assert fetched(f"http://127.0.0.1:{port}/", app).startswith(b"<!")
        # Only where .streamlit/config.toml was read is the font beside app.py served.
        assert fetched(f"http://127.0.0.1:{port}/app/static/NotoSansKR-subset.woff2", app).startswith(b"wOF2")
    finally:
        app.terminate()
        app.wait(30)


def fetched(address: str, app: subprocess.Popen) -> bytes:
    for _ in range(300):
        assert app.poll() is None, "the app ended"
        try:
            with urllib.request.urlopen(address) as answer:
                return answer.read()
        except urllib.error.URLError:
            time.sleep(0.1)
    raise AssertionError(f"{address} does not answer")
