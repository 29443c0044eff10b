"""Where TensorFlow is not installed, a worker corrects and shows all attention, and says of the rest what is missing."""

import os
import shutil

import numpy as np
import pytest

from engine import Engine
from engine.errors import LibraryMissingError
from model.graph.files import GRAPH_FOLDER
from model.stored.folder import ASSETS

BLOCKED = "raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)\n"


@pytest.fixture
def without_tensorflow(tmp_path, monkeypatch):
    """Workers that are started now find neither TensorFlow nor Keras."""
    for library in ("tensorflow", "keras"):
        (tmp_path / f"{library}.py").write_text(BLOCKED)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.mark.usefixtures("without_tensorflow")
def test_a_worker_without_tensorflow(tmp_path):
    shipped = ASSETS / "growing-up"
    bare = shutil.copytree(
        shipped, tmp_path / "bare", ignore=shutil.ignore_patterns(GRAPH_FOLDER, "snapshots")
    )
    with Engine.start([shipped]) as engine:
        model = engine.open(shipped)
        (sentence,) = model.correct("머거도 되요").sentences
        assert sentence.trace.kinds == model.config.attention_kinds
        for kind in sentence.trace.kinds:
            np.testing.assert_allclose(sentence.trace.attention(kind).sum(axis=-1), 1, atol=1e-5)
        assert model.trace("머거도", "먹어도").target_tokens[:3] == ("먹", "어", "도")
        with pytest.raises(LibraryMissingError, match="is not installed"):
            model.projections("머거도", "먹어도")
        with pytest.raises(LibraryMissingError, match="is not installed"):
            engine.open(bare).correct("머거도")
        assert model.correct("가").text  # as before
