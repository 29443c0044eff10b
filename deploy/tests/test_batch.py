"""Tests of the batch job on a Ray cluster: one node is killed in the middle."""

import csv
import json
from dataclasses import replace

import click
import numpy as np
import pytest
import ray

from deploy.batch import RESULT, BatchJob, BatchSettings, FinishedParts, do, write_corrections, write_heads
from model.survey.sums import readable
from model.survey.survey import Survey, SurveyPlan, made_pairs
from model.survey.survey_files import result

WORDS = "전오래쓸수있는게필요해요손님이왔방없으면어떡가나다라마바"
ROWS, EACH = 400, 20


def texts() -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list(WORDS), 12)) + f" {number}" for number in range(ROWS)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts()), "utf-8")
    return path


def read(path) -> list[tuple]:
    with path.open(encoding="utf-8-sig", newline="") as opened:
        return [(int(row["row"]), row["text"], row["corrected"]) for row in csv.DictReader(opened)]


def test_a_folder_with_the_work_on_another_file_is_refused(file, tiny_folder, tmp_path):
    job = BatchJob.of(file, BatchSettings(heads=False, effects=0, rows=EACH, model=str(tiny_folder)))
    FinishedParts(tmp_path / "out", job).keep(3, b"done")
    assert FinishedParts(tmp_path / "out", job).has(3)
    with pytest.raises(click.ClickException, match="another file, or by other settings"):
        FinishedParts(tmp_path / "out", replace(job, rows=EACH + 1))


class Stopped(Exception):
    pass


def test_nothing_is_lost_and_nothing_is_done_twice(cluster, file, tiny_folder, tiny_corrector, tmp_path):
    job = BatchJob.of(file, BatchSettings(heads=False, effects=0, rows=EACH, model=str(tiny_folder)))
    parts, kept, out = FinishedParts(tmp_path / "out", job), [], tmp_path / "out"
    keep, parts.keep = parts.keep, lambda number, data: (kept.append(number), keep(number, data))

    def told(done, total):
        if done == total // 4:
            raise Stopped  # as if the command had been killed
        if done == total // 2:
            cluster.remove_node(cluster.workers[0], allow_graceful=False)

    with pytest.raises(Stopped):
        do(file, job, parts, told)
    total = do(file, job, parts, lambda done, total: done > total // 4 and told(done, total))
    assert sorted(kept) == list(range(total)) == list(range(ROWS // EACH))
    assert len([node for node in ray.nodes() if node["Alive"]]) == 2
    assert write_corrections(parts, total, out, ()).startswith(f"{ROWS} rows")
    expected = [each.text for each in tiny_corrector.correct_batch(texts())]
    assert read(out / RESULT) == [*zip(range(1, ROWS + 1), texts(), expected, strict=True)]
    check_heads(file, tiny_folder, tiny_corrector, tmp_path / "heads")


def check_heads(file, folder, corrector, out):
    """On the node that is left."""
    job = BatchJob.of(file, BatchSettings(heads=True, effects=1, rows=ROWS // 2, model=str(folder)))
    parts = FinishedParts(out, job)
    total = do(file, job, parts)
    assert write_heads(parts, total, out, job).startswith(f"{ROWS} sentences")
    found = json.loads((out / "heads.json").read_text("utf-8"))
    pairs = readable(made_pairs(texts(), corrector), corrector)
    whole = Survey(corrector, SurveyPlan(pairs, effects=0, pruning=0))
    for _ in whole.run():
        pass
    expected = result(whole)
    for kind, roles in expected["roles"].items():
        for role, classes in roles.items():
            for name, numbers in classes.items():
                assert found["roles"][kind][role][name]["rows"] == numbers["rows"]
                np.testing.assert_allclose(
                    found["roles"][kind][role][name]["mean"], numbers["mean"], atol=2e-3
                )
    assert found["effect_sentences"] == 2
