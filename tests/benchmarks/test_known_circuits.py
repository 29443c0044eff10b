"""Benchmark of circuit discovery: task programs, their networks, metrics of a search."""

import numpy as np
import pytest

from benchmarks.known_circuits import Known, Letters, Measurement, auroc, pairs_of, precision_and_recall
from benchmarks.known_networks import Forward, Swap, example, first_arrays, stream_of
from benchmarks.known_tasks import TASKS
from model.trace.interventions import Patch

BY_NAME = {task.name: task for task in TASKS}


@pytest.mark.parametrize("task", TASKS, ids=BY_NAME)
def test_an_exchanged_part_changes_the_parts_that_read_it_and_no_others(task):
    assert task.circuit < {*task.nodes} and len(task.circuit) == len(task.parts)
    assert {receiver for _, receiver in task.edges} <= {*task.circuit, None}
    rng = np.random.default_rng(0)
    texts, others = task.texts(rng, 64), task.texts(rng, 64)
    plain, given = task.values(texts), task.values(others)
    for name in task.parts:
        swapped = {other: np.full(64, other == name) for other in task.parts}
        found = task.values(texts, given, swapped)
        np.testing.assert_array_equal(found[name], given[name])
        reached = {name}
        for other, part in task.parts.items():
            if reached & {*part.of}:
                reached.add(other)
        for other in {*task.parts} - reached:
            np.testing.assert_array_equal(found[other], plain[other])


@pytest.mark.parametrize("name", ["induction", "pointer"])
def test_the_network_in_training_is_the_one_that_is_analysed(name):
    """With the outputs of some nodes from another text, as in a step of the training."""
    task, rng = BY_NAME[name], np.random.default_rng(0)
    arrays, batch = first_arrays(task, rng), example(task, rng, 4)
    walk, swap = stream_of(task, arrays), Swap(Forward(task, arrays, batch.other).outputs, batch.rows)
    logits = Forward(task, arrays, batch.ids, swap).logits
    for row in range(4):
        found = walk.taps(*walked(task, batch.other, row), {node.tap for node in task.nodes})
        swapped = [node for node, is_swapped in zip(task.nodes, batch.rows[row], strict=True) if is_swapped]
        patches = tuple(Patch.of(node, found[node.tap][node.place]) for node in swapped)
        passed = walk.passes(*walked(task, batch.ids, row), [patches])
        np.testing.assert_allclose(passed.logits[0], logits[row], atol=1e-4)


def walked(task, ids, row) -> tuple[list[int], list[int]]:
    """Source and target of the walk, which reads all of the target but its last id."""
    source, read = (ids[side][row].tolist() for side in ("encoder", "decoder"))
    return source, [*(read[1:] if task.has_encoder else read), 0]


def test_a_measurement_has_all_numbers_of_a_network_without_training():
    task = BY_NAME["a letter"]
    pairs = pairs_of(task, 2)
    assert all(pair.edit.source != pair.run.source and pair.edit.about.row == 0 for pair in pairs)
    found = Measurement(task, first_arrays(task, np.random.default_rng(0)), pairs)
    assert isinstance(found.known, Known) and isinstance(found.known.tokenizer, Letters)
    numbers = found.all()
    assert numbers["nodes"] == 10 and numbers["known"] == 1
    assert all(0 <= numbers[name] <= 1 for name in ("exact", "EAP-IG", "exact, edges", "EAP-IG, edges"))


def test_areas_precision_and_recall():
    assert auroc({"a": 1.0, "b": 1.0, "c": 0.0}, {"a"}) == 0.75
    assert precision_and_recall({1, 2}, {2, 3, 4, 5}) == (0.5, 0.25)
    assert np.isnan(precision_and_recall(set(), {1})[0])
