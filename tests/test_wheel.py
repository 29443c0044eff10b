"""Wheel in an empty environment: imports, commands, types, code of the documents.

It works in a folder that has files called ``model.py`` and ``viz.py``.
"""

import os
import re
import site
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.server import free_port
from hatch_build import inside_package

ROOT = Path(__file__).parents[1]
NEEDED = set("click numpy plotly rapidfuzz onnxruntime kiwipiepy kiwipiepy-model threadpoolctl".split())
# Those that come with an extra.
MISSING = (
    "streamlit starlette uvicorn anyio pandas openpyxl segno rich keras tensorflow onnx ray torch jax".split()
)
SCRIPT = """
from see_attention.model import AttentionTrace, Corrector
from see_attention.model.analysis import Edit, head_effects
from see_attention.viz import attention_heatmap, explore

corrector = Corrector.load()
result = corrector.correct("고갱니믈 초대하고 십씀니다.")
trace: AttentionTrace = result.trace
assert trace.cross_attention is not None and trace.target_tokens is not None
effects = head_effects(corrector, Edit(result.source, result.text, result.changes[0]))
figure = attention_heatmap(trace.cross_attention[-1].mean(0), trace.target_tokens, trace.source_tokens)
explore(trace, language="ko").save("seen.html")
print(result.text, len(effects.heads))
"""
IMPORT_ALL = """
import pkgutil, sys
import see_attention

missing, plain = set(), set(sys.modules)
for found in pkgutil.walk_packages(see_attention.__path__, "see_attention."):
    if found.name.endswith((".__main__", ".app")) or ".ui.pages" in found.name:
        continue
    try:
        __import__(found.name)
    except ModuleNotFoundError as error:
        missing.add(error.name.partition(".")[0])
rooms = {"assets", "classroom", "deploy", "engine", "model", "package", "service", "training", "ui", "viz"}
print(sorted(missing), sorted(rooms & set(sys.modules)))
"""


class Installed(NamedTuple):
    """An environment with the wheel alone; ``home`` is a student's folder, whose files have the names of
    rooms.
    """

    python: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(self, *command: str | Path, status: int = 0) -> str:
        """The output of a command; the first word is ``python`` or a script of the environment."""
        done = subprocess.run(
            [self.python.with_name(str(command[0])), *command[1:]],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            timeout=240,
            check=False,
            encoding="utf-8",
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr * bool(status)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder))
    subprocess.run([sys.executable, "-m", "pip", "-q", "wheel", *options, str(ROOT)], check=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Installed:
    """Its dependencies are those of this environment, so nothing is downloaded."""
    folder, home = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "-q", "--python", str(python)]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # A path in a .pth file is searched last, and .pth files that lie there, such as of `pip install -e .`,
    # are not read.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()), "utf-8")
    for name in ("model", "viz", "engine", "assets", "ui"):
        (home / f"{name}.py").write_text("raise ImportError('not what was meant')\n", "utf-8")
    return Installed(python, home)


def test_the_wheel_holds_one_package_with_every_file_of_the_rooms(wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
        (metadata,) = (archive.read(name).decode() for name in held if name.endswith("/METADATA"))
    assert {name.partition("/")[0].partition("-")[0] for name in held} == {"see_attention"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rooms = (
        r"(?:assets/(?!fonts/)|classroom/|deploy/site/|engine/|model/"
        r"|service/|static/|training/|ui/|viz/|\.streamlit/|app\.py)"
    )
    wanted = {f"see_attention/{name}" for name in listed.split("\n") if re.match(rooms, name)}
    present = {name for name in wanted if (ROOT / name.removeprefix("see_attention/")).exists()}
    assert (
        present - held == set() and {f"see_attention/{name}" for name in ("py.typed", "__main__.py")} <= held
    )
    assert wheel.stat().st_size < 60e6
    needed = re.findall(r"^Requires-Dist: ([\w.-]+)(?:\[.*?\])?(.*)$", metadata, re.MULTILINE)
    assert {name for name, rest in needed if "extra ==" not in rest} == NEEDED
    extras = {"app": "streamlit", "keras": "keras", "transformers": "torch", "train": "onnx", "ray": "ray"}
    for extra, name in extras.items():
        assert any(each == name and f"extra == '{extra}'" in rest for each, rest in needed), extra


def test_every_module_can_be_imported_and_none_under_its_plain_name(installed):
    missing, plain = installed.run("python", "-c", IMPORT_ALL).splitlines()[-1].split("] ")
    of_extras = set("onnx torch jax transformers tokenizers flax keras_hub ray".split())
    assert set(re.findall(r"\w+", missing)) <= of_extras
    assert plain == "[]"


def test_it_corrects_asks_the_laboratory_draws_and_explores_without_the_extras(installed):
    without = f"import sys\nsys.modules |= dict.fromkeys({MISSING})\n"
    assert installed.run("python", "-c", without + SCRIPT) == "고객님을 초대하고 싶습니다. 48\n"
    assert "Plotly" in (installed.home / "seen.html").read_text("utf-8")


def test_a_type_checker_sees_its_types(installed):
    options = ("--strict", "--ignore-missing-imports", "--no-incremental")
    (installed.home / "script.py").write_text(SCRIPT + "result.txt\n", "utf-8")
    command = [sys.executable, "-m", "mypy", "--python-executable", installed.python, *options, "script.py"]
    done = subprocess.run(command, cwd=installed.home, capture_output=True, text=True, check=False)
    (error,) = re.findall(r"error: (.*)", done.stdout)
    assert error.startswith('"Correction" has no attribute "txt"')


def test_the_code_of_the_documents_runs(installed):
    """Each page by itself, in one process: starting TensorFlow takes as long as most pages do."""
    codes = {}
    for page in ("own-file", "editors", "own-keras", "researchers"):
        text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        codes[page] = "\n".join(block for block in blocks if "hugging_face" not in block)  # run in examples/
    assert all(codes.values())
    run = f"for page, code in {codes!r}.items(): exec(compile(code, page, 'exec'), {{}})"
    installed.run("python", "-c", run)


def test_its_command_corrects_and_checks(installed):
    assert installed.run("see-attention", "correct", "그러면 안되요.") == "그러면 안 돼요.\n"
    assert installed.run("python", "-m", "see_attention", "--version").startswith("see-attention, version 1.")
    (installed.home / "text.txt").write_text("밥을 먹어요.\n그러면 안되요.\n", "utf-8")
    assert installed.run("see-attention", "check", "text.txt", status=1).startswith(
        "text.txt:2:5: 안되요 → 안 돼요  ("
    )


def test_a_missing_library_is_named_in_one_sentence(installed):
    code = "import sys; sys.modules['streamlit'] = None; sys.argv[1:] = ['app']; "
    code += "from see_attention.__main__ import main; main()"
    told = installed.run("python", "-c", code, status=1).splitlines()
    assert told == ['see-attention: streamlit is not installed: pip install "see-attention[app]"']


def test_its_command_starts_the_app(installed):
    port = free_port()
    command = [installed.python.with_name("see-attention"), "app", "--server.port", str(port)]
    command += ["--server.address", "127.0.0.1"]
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


def test_an_import_that_would_mean_another_module_ends_the_build():
    with pytest.raises(ValueError, match="somewhere.py, line 1"):
        inside_package("import model.text.jamo", "somewhere.py")
