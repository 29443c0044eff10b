"""Where TensorFlow is not installed, a worker corrects, shows all attention and switches heads off, and says
of the rest what is missing.
"""

import os
import shutil

import numpy as np
import pytest

from engine import Engine, questions
from engine.questions import ROUNDS
from engine.records import LibraryMissingError
from model.graph.files import GRAPH_FOLDER
from model.stored.folder import ASSETS
from model.trace.interventions import Head

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
        assert model.projections("머거도", "먹어도").keys() == set(sentence.trace.kinds)
        assert model.ask(questions.ablate_heads, "머거도", ((Head("cross_attention", 0, 0),),))
        with pytest.raises(LibraryMissingError, match="is not installed"):
            model.ask(questions.contributions, "머거도", "먹어도", (0, 2), len(ROUNDS) - 1)
        with pytest.raises(LibraryMissingError, match="is not installed"):
            engine.open(bare).correct("머거도")
        assert model.correct("가").text  # as before
