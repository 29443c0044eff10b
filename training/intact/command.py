"""``python -m training intact``: measures whether a model leaves alone what it must not touch."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import click
from rich.console import Console
from rich.table import Table

from model.correction.answers import AnswersMany
from training.intact.samples import KINDS, Sample, make_samples
from training.measure.evaluate import load_corrector
from training.measure.metrics import none_if_nan, share, wilson_interval
from training.measure.report import open_console, percent, write_json


@dataclass(frozen=True)
class KeptSample:
    """One sample and what the model made of it."""

    sample: Sample
    text: str

    @property
    def lost(self) -> str | None:
        return self.sample.lost(self.text)

    @property
    def changed(self) -> bool:
        """Whether a sentence that was already right was changed."""
        return self.sample.clean and self.text != self.sample.right

    def as_json(self) -> dict:
        sample = self.sample
        texts = {"wrong": sample.wrong, "right": sample.right, "got": self.text}
        return {"kind": sample.kind, "lost": self.lost, **texts}


@dataclass(frozen=True)
class IntactScores:
    """How much of a set of samples came out as it went in."""

    count: int
    intact: int
    clean: int  # samples that were right already
    untouched: int  # of them, those left as they were, to the last character

    @property
    def share(self) -> float:
        return share(self.intact, self.count)

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.intact, self.count)

    @property
    def clean_untouched(self) -> float:
        return share(self.untouched, self.clean)

    def as_json(self) -> dict:
        return {
            "count": self.count,
            "intact": self.intact,
            "share": none_if_nan(self.share),
            "share_95": [none_if_nan(bound) for bound in self.interval],
            "clean": self.clean,
            "clean_untouched": none_if_nan(self.clean_untouched),
        }


def correct_samples(corrector: AnswersMany, samples: Sequence[Sample], batch: int = 64) -> list[KeptSample]:
    """Let the model correct every sample, ``batch`` at a time."""
    kept = []
    for start in range(0, len(samples), batch):
        chunk = samples[start : start + batch]
        corrections = corrector.correct_batch([sample.wrong for sample in chunk])
        kept += [KeptSample(sample, made.text) for sample, made in zip(chunk, corrections, strict=True)]
    return kept


def score_intact(kept: Iterable[KeptSample]) -> IntactScores:
    """Count over any samples and what was made of them."""
    kept = list(kept)
    clean = [each for each in kept if each.sample.clean]
    return IntactScores(
        count=len(kept),
        intact=sum(each.lost is None for each in kept),
        clean=len(clean),
        untouched=sum(not each.changed for each in clean),
    )


def score_kinds(kept: Iterable[KeptSample]) -> dict[str, IntactScores]:
    """The scores of each kind that occurs, in the order of KINDS."""
    groups = defaultdict(list)
    for each in kept:
        groups[each.sample.kind].append(each)
    return {kind: score_intact(groups[kind]) for kind in KINDS if kind in groups}


@click.command("intact")
@click.option("--model", default="transformer", show_default=True, help="Name or path of a model folder.")
@click.option(
    "--minimum-confidence",
    type=click.FloatRange(0, 1),
    help="Leave changes undone that are less probable. [default: the model's own]",
)
@click.option(
    "--count", type=click.IntRange(min=1), default=1000, show_default=True, help="Sentences to make."
)
@click.option("--seed", default=0, show_default=True, help="Decides the sentences and their errors.")
@click.option("--batch", type=click.IntRange(min=1), default=64, show_default=True)
@click.option("--json", "json_path", help="Write everything as JSON to this file; - for standard output.")
@click.option("--show", type=click.IntRange(min=0), default=0, help="Print this many failures of each sort.")
def command(model, minimum_confidence, count, seed, batch, json_path, show):
    """Measure whether digits, Latin words, addresses, emoji, hanja, quotation marks, unseen names and the
    ends of long sentences come out as they went in. Half of the sentences have errors beside them."""
    corrector = load_corrector(model, minimum_confidence)
    kept = correct_samples(corrector, make_samples(count, seed), batch)
    kinds, total = score_kinds(kept), score_intact(kept)
    run = {
        "model": corrector.name,
        "fingerprint": corrector.fingerprint,
        "minimum_confidence": corrector.minimum_confidence,
        "seed": seed,
    }
    console = open_console(json_path)
    console.print(_table(run["model"], kinds, total))
    console.print("model: {model} {fingerprint}, minimum confidence {minimum_confidence}".format(**run))
    failures = [each for each in kept if each.lost is not None]
    changed = [each for each in kept if each.changed and each.lost is None]
    print_kept(console, failures[:show])
    print_kept(console, changed[:show])
    if json_path:
        document = {
            **run,
            "total": total.as_json(),
            "kinds": {kind: scores.as_json() for kind, scores in kinds.items()},
            "failures": [each.as_json() for each in failures],
            "changed": [each.as_json() for each in changed],
        }
        write_json(document, json_path)


def _table(model: str, kinds: dict[str, IntactScores], total: IntactScores) -> Table:
    table = Table("kind", title=f"what {model} leaves as it was")
    for heading in ("sentences", "intact", "share (95%)", "correct sentences", "untouched"):
        table.add_column(heading, justify="right", no_wrap=True)
    for kind, scores in kinds.items():
        table.add_row(kind, *_cells(scores))
    table.add_section()
    table.add_row("all", *_cells(total))
    return table


def _cells(scores: IntactScores) -> list[str]:
    low, high = scores.interval
    return [
        str(scores.count),
        str(scores.intact),
        f"{percent(scores.share)} ({percent(low)}–{percent(high)})",
        str(scores.clean),
        percent(scores.clean_untouched),
    ]


def print_kept(console: Console, kept: Iterable[KeptSample]) -> None:
    """One block for each: what was lost (or that a correct sentence changed), and the three texts."""
    for each in kept:
        what = "a correct sentence changed" if each.lost is None else f"lost: {each.lost}"
        console.print(f"\n[{each.sample.kind}] {what}", soft_wrap=True)
        texts = {"wrong": each.sample.wrong, "right": each.sample.right, "got": each.text}
        for label, text in texts.items():
            console.print(f"  {label:<6}{text}", soft_wrap=True)
