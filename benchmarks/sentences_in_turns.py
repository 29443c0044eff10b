"""Two versions of this program correct the same sentences in turns: milliseconds of processor time, and whether they write the same.

    python benchmarks/sentences_in_turns.py FOLDER FOLDER [--rounds 100] [--lengths 32,128]

FOLDER holds a version with its model, such as a git worktree. Each version is a process of its own and answers one sentence after
the other has; what else the machine does hits both alike. A sentence is corrected once by each, with the trace that would be
shown, and no sentence comes twice. Processor time counts all threads of a process.
"""

import json
import random
import statistics
import subprocess
import sys
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.made_sentences import pair_of

WARM_UP = 5  # sentences of each length before it counts
# Run in the folder of a version, whatever that version's own benchmarks are like.
ANSWERING = """
import json, sys, time
from model import Corrector
corrector = Corrector.load()
corrector.warm_up()
corrector.warm_up_doubts()
for line in sys.stdin:
    wall, processor = time.perf_counter(), time.process_time()
    correction = corrector.correct(json.loads(line))
    correction.trace
    used = time.process_time() - processor, time.perf_counter() - wall
    print(json.dumps([1000 * used[0], 1000 * used[1], correction.text]), flush=True)
"""


class Version:
    """A process that corrects in one folder."""

    def __init__(self, folder: Path):
        command = [sys.executable, "-c", ANSWERING]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def correct(self, sentence: str) -> tuple[float, float, str]:
        """Milliseconds of processor time and of wall time, and the corrected text."""
        print(json.dumps(sentence), file=self.process.stdin, flush=True)
        return tuple(json.loads(self.process.stdout.readline()))


def whole_numbers(_context, _option, text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


@click.command()
@click.argument("before", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("after", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--rounds", default=100, show_default=True, help="Sentences of each length.")
@click.option("--lengths", default="32,128", show_default=True, callback=whole_numbers)
@click.option("--seed", default=0, show_default=True)
def main(before: Path, after: Path, rounds: int, lengths: list[int], seed: int):
    """Correct the same sentences in turns, BEFORE and AFTER."""
    rng = random.Random(seed)
    versions = Version(before), Version(after)
    for length in lengths:
        sentences = [pair_of(rng, length).wrong for _ in range(WARM_UP + rounds)]
        found = []
        for number, sentence in enumerate(sentences):
            order = versions if number % 2 else versions[::-1]
            answers = {version: version.correct(sentence) for version in order}
            found.append([answers[version] for version in versions])
        found = found[WARM_UP:]
        for name, pick in (("processor", 0), ("wall", 1)):
            one, two = ([row[side][pick] for row in found] for side in (0, 1))
            click.echo(
                f"{length:4} tokens, {name:9}: mean {statistics.mean(one):5.1f} and {statistics.mean(two):5.1f} ms, "
                f"median {statistics.median(one):5.1f} and {statistics.median(two):5.1f}, "
                f"median of after / before {statistics.median(b / a for a, b in zip(one, two, strict=True)):.2f}"
            )
        click.echo(f"{length:4} tokens: {sum(a[2] == b[2] for a, b in found)} of {rounds} texts the same")
    for version in versions:
        version.process.stdin.close()
        version.process.wait()


if __name__ == "__main__":
    main()
