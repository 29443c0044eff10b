"""Wire format of the engine: round trip of all questions and answers; refused bytes."""

import io
import json
import pickle
import shutil
import zipfile

import numpy as np
import pytest

from engine import remote as wire
from engine.question import QUESTIONS, Edit
from engine.questions import Patching, Teaching
from engine.records import EngineBusyError, EngineError, ModelKey, freeze, pack
from model import ModelFolderError
from model.analysis.attention_scores import AttentionCell
from model.analysis.attribution_methods import METHODS
from model.analysis.contributions import Contribution
from model.stored.folder import save_snapshot
from model.text.changes import find_changes
from model.trace.interventions import Head
from tests.equality import same

KEY = ModelKey("/models/tiny", None, "0")
SOURCE, TARGET = "전 오래 씂 수 깄는 겍 필요해요.", "전 오래 쓸 수 있는 게 필요해요."
CHANGE = find_changes(SOURCE, TARGET)[0]
SPAN = CHANGE.source_start, CHANGE.source_end
EDIT = Edit(SOURCE, TARGET, SPAN)
HEAD = Head("cross_attention", 1, 0)
ASKED = {
    "correct": ("손니미 \udcff 방이 업쓰며. 가나",),
    "trace": (SOURCE, TARGET),
    "projections": (SOURCE, TARGET, 2),
    "taps": (SOURCE, TARGET, ("decoder_residual", "cross_heads"), (HEAD,)),
    "direct_logit_attribution": (SOURCE, TARGET, (EDIT,)),
    "logit_lens": (SOURCE, TARGET, (EDIT,)),
    "activation_patching": (EDIT, Patching("heads", "cross_attention", "changed")),
    "circuit": (EDIT, 90, "twin"),
    "circuit_edges": (EDIT, 90, "mean"),
    "decompose_attention_score": (SOURCE, TARGET, AttentionCell(HEAD, 3, 2)),
    "verified_explanation": (EDIT,),
    "edited_network": (Teaching(((SOURCE, TARGET), (SOURCE, SOURCE)), 1, 100, 100, SOURCE),),
    "output_weights": (),
    "embeddings": (SOURCE,),
    "weight_sizes": (),
    "num_parameters": (),
    "head_effects": (EDIT,),
    "ablated_fix_probability": (EDIT, ((), (HEAD, Head("cross_attention", 0, 0)))),
    "ablate_heads": (SOURCE, ((HEAD,), (HEAD, Head("cross_attention", 0, 0)))),
    "contributions": (EDIT,),
    "left_out": (EDIT,),
    "step_contributions": (SOURCE, TARGET, 3),
    "replaced": (EDIT, HEAD, (0,)),
    "alternative_continuation": (SOURCE, TARGET, 2, "가"),
    "can_write": ("가",),
    "grown": (SOURCE,),
    "table": (("가나", SOURCE),),
    "head_roles": (((SOURCE, TARGET), ("가나", None)), 0),
    "head_losses": (((SOURCE, TARGET),),),
}


# Half a minute of graphs for two more types; tests/engine/test_engine.py asks for them.
SHARES = np.arange(3, dtype=np.float32)
CONTRIBUTIONS = (
    2,
    tuple(METHODS),
    (
        Contribution("occlusion", SHARES, SHARES, signed=True, intervened=True),
        Contribution("integrated_gradients", SHARES, SHARES, signed=True, intervened=False, gap=0.01),
    ),
)


@pytest.fixture(scope="module")
def growing(tiny_corrector, tiny_network):
    save_snapshot(tiny_corrector.folder, tiny_network, 3)
    yield
    shutil.rmtree(tiny_corrector.folder / "snapshots")  # the folder serves other tests, too


def test_every_question_is_tried_here():
    assert ASKED.keys() == QUESTIONS.keys() - {"own_config"}  # of a model in the worker beside the page


@pytest.mark.parametrize("kind", ASKED)
def test_every_answer_comes_out_as_it_went_in(kind, tiny_corrector, growing):
    arguments = ASKED[kind]
    asked = wire.read_question(wire.write_question(KEY, kind, arguments), {"tiny": "/there/tiny"})
    assert asked == (KEY._replace(path="/there/tiny"), kind, arguments)
    answer = CONTRIBUTIONS if kind.endswith("contributions") else QUESTIONS[kind](tiny_corrector, *arguments)
    found = wire.read_answer(wire.write_answer(answer))
    assert same(found, answer)
    freeze(found)
    assert isinstance(hash(arguments), int)


@pytest.mark.parametrize("error", [EngineBusyError("128 wait"), ModelFolderError("gone"), ValueError("long")])
def test_errors_keep_their_names(error):
    found = wire.read_error(wire.write_error(error))
    assert (type(found), str(found)) == (type(error), str(error))


def test_an_unexpected_error_does_not_tell_what_was_typed():
    assert str(wire.read_error(wire.write_error(KeyError("what was typed")))) == "KeyError in the engine"


def archive(compression=zipfile.ZIP_STORED, **parts) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as packed:
        for name, value in parts.items():
            part = io.BytesIO()
            np.save(part, value, allow_pickle=True)
            packed.writestr(f"{name}.npy", part.getvalue())
    return file.getvalue()


def tree(value) -> np.ndarray:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was read",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK nonsense",
        pickle.dumps(Bomb()),
        archive(tree=np.array([Bomb()], object)),
        archive(**{"tree": tree({"array": 0}), "0": np.array([Bomb()], object)}),
        archive(zipfile.ZIP_DEFLATED, tree=tree(1)),
        archive(tree=tree({"Path": ["/etc"]})),
        archive(tree=tree({"Change": [1]})),
        archive(tree=tree({"array": 7})),
        archive(tree=tree({"tuple": [], "dict": []})),
        archive(),
    ],
)
def test_anything_else_is_refused(data):
    with pytest.raises(wire.WireError):
        wire.read_answer(data)
    with pytest.raises(wire.WireError):
        wire.read_question(data, {})
    assert isinstance(wire.read_error(data), EngineError)


@pytest.mark.parametrize(
    "asked",
    [
        None,
        {},
        [],
        ["tiny", None, "0", "correct"],
        ["tiny", "1", "0", "correct", []],
        [["tiny"], None, "0", "a", []],
    ],
)
def test_what_is_no_question_is_refused(asked):
    with pytest.raises(wire.WireError):
        wire.read_question(json.dumps(asked).encode(), {"tiny": "/there/tiny"})


@pytest.mark.parametrize("name", ["other", "../tiny", "/models/tiny", ""])
def test_only_models_of_the_list_are_found(name):
    asked = json.dumps([name, None, "0", "correct", {"tuple": ["가"]}]).encode()
    with pytest.raises(ModelFolderError):
        wire.read_question(asked, {"tiny": "/there/tiny"})


def test_what_does_not_travel_is_named(tiny_corrector):
    packed = pack(tiny_corrector.correct("가나"))
    assert wire.read_answer(wire.write_answer(packed)).source == "가나"
    with pytest.raises(TypeError, match="Bomb does not travel"):
        wire.write_answer((packed, Bomb()))
