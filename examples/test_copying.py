"""Circuit search on small networks that are trained to copy three letters.

Run by `pytest examples`; see requirements-examples.txt.
"""

import pytest

from examples import hugging_face_networks, keras_networks
from model import Intervention, laboratory_of
from model.analysis import Edit, activation_patching, corrupted_by_text, corrupted_values, find_circuit


@pytest.mark.parametrize("kind, side", [("gpt2", "decoder"), ("bart", "encoder"), ("keras", "encoder")])
def test_a_trained_network_has_a_circuit(kind, side):
    is_keras, written, other = kind == "keras", "cab", "ceb"
    trained = (
        (keras_networks.copying(), keras_networks.LETTERS)
        if is_keras
        else hugging_face_networks.copying(kind)
    )
    lab, mark = laboratory_of(*trained), "" if is_keras else "="
    assert lab.written_under(written + mark, [Intervention()]) == [written]
    edit = Edit(written + mark, written, lab.contrast(written + mark, written, other))
    run = corrupted_by_text(lab, edit, other + mark)
    patching = activation_patching(lab, run, "residual", side)
    assert patching.corrupted_score < 0 < patching.score  # of the other letter, and of the letter
    assert patching.restored[0, 1] == pytest.approx(1, abs=1e-3)
    circuit = find_circuit(lab, edit, ablation=corrupted_values(lab.patched, lab.tokenizer, run))
    assert circuit.is_telling and circuit.is_minimal and circuit.p < 0.01
    assert abs(circuit.faithfulness - 1) <= 0.1 and abs(circuit.completeness) < 0.1
    assert len(circuit.members) < len(circuit.nodes)
