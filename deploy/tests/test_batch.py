"""Tests of the batch job on a Ray cluster: one node is killed in the middle."""

import csv
import json
from dataclasses import replace

import click
import numpy as np
import pytest
import ray

from deploy import batch
from deploy.batch import RESULT, BatchJob, BatchSettings, do, finished_parts, write_corrections, write_heads
from model.survey.sums import readable
from model.survey.survey import Survey, SurveyPlan, made_pairs
from model.survey.survey_files import result
from tests.waiting import wait_until

ROWS, EACH = 400, 20
TEXTS = [f"{'전오래쓸수있는게필요해요손님이왔방'[i % 11 : i % 11 + 6]} {i}" for i in range(ROWS)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS), "utf-8")
    return path


def read(path) -> list[tuple]:
    with path.open(encoding="utf-8-sig", newline="") as opened:
        return [(int(row["row"]), row["text"], row["corrected"]) for row in csv.DictReader(opened)]


def test_a_folder_with_the_work_on_another_file_is_refused(file, tiny_folder, tmp_path):
    job = BatchJob.of(file, BatchSettings(rows=EACH, model=str(tiny_folder)))
    assert finished_parts(tmp_path, job) == finished_parts(tmp_path, job)
    with pytest.raises(click.ClickException, match="another file, or by other settings"):
        finished_parts(tmp_path, replace(job, rows=EACH + 1))


class Stopped(Exception):
    pass


def test_nothing_is_lost_and_nothing_is_done_twice(
    cluster, file, tiny_folder, tiny_corrector, tmp_path, monkeypatch
):
    job = BatchJob.of(file, BatchSettings(rows=EACH, model=str(tiny_folder)))
    parts, kept, write = finished_parts(tmp_path, job), [], batch.write_atomically
    monkeypatch.setattr(batch, "write_atomically", lambda *given: (kept.append(given[0]), write(*given)))

    def told(done, total):
        if done == total // 4:
            raise Stopped  # as if the command had been killed
        if done == total // 2:
            cluster.remove_node(cluster.workers[0], allow_graceful=False)

    with pytest.raises(Stopped):
        do(file, job, parts, told)
    total = do(file, job, parts, lambda done, total: done > total // 4 and told(done, total))
    assert len(kept) == len(set(kept)) == total == ROWS // EACH
    # Ray calls a node dead after five missed checks, which may be later than the last part is done.
    wait_until(lambda: sum(node["Alive"] for node in ray.nodes()) == 2)
    assert write_corrections(parts, total, tmp_path, ()).startswith(f"{ROWS} rows")
    expected = [each.text for each in tiny_corrector.correct_batch(TEXTS)]
    assert read(tmp_path / RESULT) == [*zip(range(1, ROWS + 1), TEXTS, expected, strict=True)]
    check_heads(file, tiny_folder, tiny_corrector, tmp_path / "heads")


def check_heads(file, folder, corrector, out):
    """On the node that is left."""
    job = BatchJob.of(file, BatchSettings(heads=True, effects=1, rows=ROWS // 2, model=str(folder)))
    parts = finished_parts(out, job)
    assert write_heads(parts, do(file, job, parts), out, job).startswith(f"{ROWS} sentences")
    found = json.loads((out / "heads.json").read_text("utf-8"))
    whole = Survey(
        corrector, SurveyPlan(readable(made_pairs(TEXTS, corrector), corrector), effects=0, pruning=0)
    )
    assert all(whole.run())
    for kind, roles in result(whole)["roles"].items():
        for role, name in ((role, name) for role, classes in roles.items() for name in classes):
            part, expected = found["roles"][kind][role][name], roles[role][name]
            assert part["rows"] == expected["rows"]
            np.testing.assert_allclose(part["mean"], expected["mean"], atol=2e-3)
    assert found["effect_sentences"] == 2
