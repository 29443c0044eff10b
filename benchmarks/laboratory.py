"""Seconds of each question to the laboratory, warm, for one sentence of 40 tokens.

    python benchmarks/laboratory.py [--rounds 5]

Wall time and processor time of the fastest round: on a machine that does other work as well, the second says more.
"""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from model import Corrector
from model.analysis.aligning import aligned_difference
from model.analysis.contrasts import contrast_of_change
from model.analysis.contributions import METHODS, contribution
from model.analysis.forks import road_not_taken
from model.analysis.head_effects import head_effects, written_without
from model.analysis.lenses import when_decided
from model.analysis.pair_effects import pair_effects
from model.analysis.replacing import replaced_attention
from model.analysis.writing import who_wrote
from model.survey.survey_sums import sums_of_roles
from model.text.changes import find_changes
from model.trace.interventions import Head

SOURCE = "나는 학꾜에 가따와서 바블 머거따 그리고 동생과 집에서 노랏슴니다."
TOGETHER = 64  # sentences of one batch, as the survey takes them
TARGET = "나는 학교에 갔다와서 밥을 먹었다 그리고 동생과 집에서 놀았습니다."


def fastest(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Wall and processor seconds of the fastest of ``rounds``, after one that is not counted."""
    work()
    found = []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - wall, time.process_time() - processor))
    return min(found)


def _twin(corrector: Corrector) -> None:
    """What typed against corrected needs: the correction of the other sentence, its trace, and a difference map."""
    first, second = corrector.trace(SOURCE, TARGET), corrector.correct(TARGET).trace
    kind = "cross_attention"
    weights = tuple(each.attention(kind).mean(axis=(0, 1)) for each in (first, second))
    aligned_difference(kind, first, second, weights)


@click.command()
@click.option("--model", default="transformer", show_default=True)
@click.option("--rounds", default=5, show_default=True)
def main(model, rounds):
    """Print a line for each question."""
    corrector = Corrector.load(model)
    change = find_changes(SOURCE, TARGET)[-1]
    contrast = contrast_of_change(corrector, SOURCE, TARGET, change)
    strongest = head_effects(corrector, SOURCE, TARGET, change).strongest()
    head = Head("cross_attention", corrector.config.num_layers - 1, 0)
    asked = corrector, SOURCE, TARGET
    work = {
        "all heads": lambda: head_effects(*asked, change),
        "texts without the strongest five": lambda: written_without(
            corrector, SOURCE, [[each] for each in strongest]
        ),
        **{name: lambda name=name: contribution(*asked, contrast, name) for name in METHODS},
        "four attentions of one head": lambda: replaced_attention(*asked, contrast, head),
        "who wrote it": lambda: who_wrote(*asked, find_changes(SOURCE, TARGET)),
        "when it was decided": lambda: when_decided(*asked, find_changes(SOURCE, TARGET)),
        "another token": lambda: road_not_taken(*asked, contrast.row, contrast.instead_token),
        "a second sentence beside it": lambda: _twin(corrector),
        f"effects of all heads on {len(find_changes(SOURCE, TARGET))} edits": lambda: pair_effects(*asked),
        f"roles of all heads in {TOGETHER} sentences": lambda: sums_of_roles(
            corrector, [(SOURCE, TARGET)] * TOGETHER, 0
        ),
    }
    click.echo(
        f"{len(SOURCE) + 1} and {len(TARGET) + 1} tokens, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}"
    )
    for name, each in work.items():
        wall, processor = fastest(each, rounds)
        click.echo(f"{name:>36} {wall:7.3f} s wall {processor:7.3f} s processor")


if __name__ == "__main__":
    main()
