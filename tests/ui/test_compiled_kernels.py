"""What was compiled for one sentence serves the next one: Streamlit would throw it away after each run."""

from streamlit.runtime.scriptrunner import script_runner

from model.folder import ASSETS
from ui import loaders


def test_a_run_of_the_page_leaves_the_compiled_kernels_alone(monkeypatch):
    from tensorflow.python.eager import context

    cleared = []
    monkeypatch.setattr(context.Context, "clear_kernel_cache", lambda self: cleared.append(self))
    loaders.start_loading(ASSETS / "transformer").result()
    script_runner._clean_problem_modules()
    assert not cleared
