"""What answers keeps to itself: the runtime reports its use to its maker unless it is told not to before it is loaded."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ASKED = "from model import Corrector; assert Corrector.load().correct('고갱이 왔다').trace"


def test_an_answer_leaves_no_record_of_the_device(tmp_path):
    """The runtime's reports begin with files: an identifier of the device, and what is to be sent."""
    places = {name: str(tmp_path) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "LOCALAPPDATA")}
    environment = {
        name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"
    } | places
    subprocess.run([sys.executable, "-c", ASKED], cwd=ROOT, env=environment, check=True, timeout=120)
    assert list(tmp_path.rglob("*")) == []
