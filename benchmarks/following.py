"""How long the questions about one answer take: who wrote it, lenses, transplants, circuits, edges, why it looked, claims.

    OPENBLAS_NUM_THREADS=1 python benchmarks/following.py

Processor time and time on the clock, in one process as a worker has it, the best of three after a first one. The sentence has 40 tokens.
"""

import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from model import Corrector
from model.analysis import (
    changed_twin,
    circuit_edges,
    explained,
    find_circuit,
    patch_map,
    twin_values,
    when_decided,
    who_wrote,
    why_looked,
)
from model.text.changes import Change
from model.trace.interventions import Head

SENTENCE = "오늘은 날싸가 맑라서 공원에서 점심을 머꼬 친구하고 집까지 거러갔어요."
HEAD = Head("cross_attention", 3, 0)  # the one that is asked why it looked


def questions(corrector: Any, source: str, target: str, change: Change) -> dict[str, Callable[[], Any]]:
    """Every question that a view asks about one change, by name. The head is asked why it looked from where the change begins at the last
    character that was typed there."""
    pair, changes = (source, target), corrector.changes(source, target)
    twin = changed_twin(corrector, *pair, change)
    instead = twin_values(corrector.patched, corrector.tokenizer, twin)
    read = max(change.source_start, change.source_end - 1)
    by_mean = cache(lambda: find_circuit(corrector, *pair, change))
    by_twin = cache(lambda: find_circuit(corrector, *pair, change, instead=instead))
    return {
        "who wrote it": lambda: who_wrote(corrector, *pair, changes),
        "when decided": lambda: when_decided(corrector, *pair, changes),
        "the twin": lambda: changed_twin(corrector, *pair, change),
        **{
            f"transplant, {side}'s {name}": _transplant(corrector, pair, change, twin, part, of)
            for side, name, part, of in (
                ("encoder", "stream", "residual", "encoder"),
                ("encoder", "sub-layers", "output", "encoder"),
                ("encoder", "heads", "heads", "encoder_attention"),
                ("decoder", "stream", "residual", "decoder"),
            )
        },
        "circuit, means": lambda: find_circuit(corrector, *pair, change),
        "circuit, twin": lambda: find_circuit(corrector, *pair, change, instead=instead),
        "edges, means": lambda: circuit_edges(corrector, *pair, by_mean()),
        "edges, twin": lambda: circuit_edges(corrector, *pair, by_twin(), instead),
        "why it looked": lambda: why_looked(corrector, *pair, HEAD, change.target_start, read),
        "claims": lambda: explained(corrector, *pair, change),
    }


def _transplant(corrector: Any, pair, change: Change, twin, part: str, of: str) -> Callable[[], Any]:
    return lambda: patch_map(corrector, *pair, change, twin, part, of)


def main() -> None:
    corrector = Corrector.load()
    (sentence,) = corrector.correct(SENTENCE).sentences
    asked = questions(corrector, sentence.source, sentence.text, sentence.changes[-1])
    sizes = (len(asked[f"circuit, {name}"]().members) for name in ("means", "twin"))
    tokens = len(corrector.tokenizer.encode_source(sentence.source))
    print(f"{tokens} tokens; members {' and '.join(map(str, sizes))}")
    print("| question | processor, s | clock, s |\n|---|---|---|")
    for name, ask in asked.items():
        ask()
        found = []
        for _ in range(3):
            cpu, clock = time.process_time(), time.perf_counter()
            ask()
            found.append((time.process_time() - cpu, time.perf_counter() - clock))
        print(
            f"| {name} | {min(each[0] for each in found):.2f} | {min(each[1] for each in found):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
