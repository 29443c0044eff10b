"""How long the questions about one answer take: who wrote it, lenses, transplants, circuits, edges, why it looked, claims.

    OPENBLAS_NUM_THREADS=1 python benchmarks/following.py

Processor time and time on the clock, in one process as a worker has it, the best of three after a first one. The sentence has 40 tokens.
"""

import time
from collections.abc import Callable

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
from model.trace.interventions import Head

SENTENCE = "오늘은 날싸가 맑라서 공원에서 점심을 머꼬 친구하고 집까지 거러갔어요."


def main() -> None:
    corrector = Corrector.load()
    (sentence,) = corrector.correct(SENTENCE).sentences
    pair, changes = (sentence.source, sentence.text), sentence.changes
    last = changes[-1]
    twin = changed_twin(corrector, *pair, last)
    instead = twin_values(corrector.patched, corrector.tokenizer, twin)
    asked: dict[str, Callable] = {
        "who wrote it": lambda: who_wrote(corrector, *pair, changes),
        "when decided": lambda: when_decided(corrector, *pair, changes),
        "the twin": lambda: changed_twin(corrector, *pair, last),
        "transplant, encoder's stream": lambda: patch_map(
            corrector, *pair, last, twin, "residual", "encoder"
        ),
        "transplant, encoder's sub-layers": lambda: patch_map(
            corrector, *pair, last, twin, "output", "encoder"
        ),
        "transplant, encoder's heads": lambda: patch_map(
            corrector, *pair, last, twin, "heads", "encoder_attention"
        ),
        "transplant, decoder's stream": lambda: patch_map(
            corrector, *pair, last, twin, "residual", "decoder"
        ),
        "circuit, means": lambda: find_circuit(corrector, *pair, last),
        "circuit, twin": lambda: find_circuit(corrector, *pair, last, instead=instead),
        "edges, means": lambda: circuit_edges(corrector, *pair, by_mean),
        "edges, twin": lambda: circuit_edges(corrector, *pair, by_twin, instead),
        "why it looked": lambda: why_looked(
            corrector, *pair, Head("cross_attention", 3, 0), last.target_start, last.source_start
        ),
        "claims": lambda: explained(corrector, *pair, last),
    }
    by_mean = find_circuit(corrector, *pair, last)
    by_twin = find_circuit(corrector, *pair, last, instead=instead)
    print(
        f"{len(corrector.tokenizer.encode_source(pair[0]))} tokens; members {len(by_mean.members)} and {len(by_twin.members)}"
    )
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
