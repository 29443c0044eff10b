"""What the first page does without is imported beside it, and after the pages that wait."""

import subprocess
import sys
from threading import Event, Thread

import pytest

from ui.shell import server
from ui.shell.runs import TURNS


@pytest.fixture
def imported(monkeypatch):
    """Set when the libraries are imported, which imports nothing here."""
    imported = Event()
    monkeypatch.setattr(server, "import_module", lambda _: imported.set())
    return imported


def test_pages_that_wait_come_first(monkeypatch, imported):
    looked = Event()
    monkeypatch.setattr(server.time, "sleep", lambda _: looked.wait(0.01))
    place = (0.0, 0, Event())
    TURNS._texts.append(place)
    try:
        thread = Thread(target=server._import_libraries)
        thread.start()
        assert not imported.wait(0.1)
    finally:
        TURNS._texts.remove(place)
    thread.join(10)
    assert imported.is_set()


def test_no_page_is_drawn_meanwhile(imported):
    """Plotly would use what is only half imported."""
    with TURNS.taken(0.0):
        thread = Thread(target=server._import_libraries)
        thread.start()
        assert not imported.wait(0.1)
    thread.join(10)
    assert imported.is_set()


def test_the_first_page_waits_for_nothing():
    code = (
        "import sys, time; from ui.shell import server; server.IMPORT_AFTER = 0.2; server._import_later(); "
    )
    code += "print('pandas' in sys.modules, flush=True); time.sleep(0.2)\n"
    code += "while not {'pandas', 'streamlit.emojis'} <= sys.modules.keys(): time.sleep(0.05)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.strip(), done.returncode) == ("False", 0), done.stderr
