"""The tables of what weighs the network's proposals: what it was fitted on, and what each part of it gives."""

from training.documents.block import block
from training.documents.scores import SHOWN
from training.documents.sources import Sources
from training.documents.wording import bold, number, percent, table

WEIGHED = {
    "network": "the network's answer, by its own confidence",
    "phrases": "all candidates, with words and phrases",
    "morphemes": "the same, and in doubt morphemes (as shipped)",
}


@block("fitted")
def fitted(sources: Sources, language: str) -> str:
    """What the trees were fitted on, and what they look words and phrases up in."""
    found = sources.measured("confidence")
    pairs = found["pairs"]
    sizes = {name: (sources.model / name).stat().st_size / 1e6 for name in ("words.txt.gz", "ngrams.npz")}
    rows = [
        ["pairs of unseen sentences that the trees are fitted on", f"{pairs['fitted']:,}"],
        ["drills, names and right sentences beside them", f"{pairs['others']:,}"],
        ["pairs of the other half, on which they are judged", f"{pairs['tested']:,}"],
        ["trees, and as many again for what is in doubt", f"{found['trees']:,}"],
        ["words in `words.txt.gz`", f"{found['words']:,}, {sizes['words.txt.gz']:.2f} MB"],
        [
            "runs of one to five characters in `ngrams.npz`",
            f"{found['runs_of_characters']:,}, {sizes['ngrams.npz']:.1f} MB",
        ],
    ]
    return table(["", ""], rows)


@block("parts")
def parts(sources: Sources, language: str) -> str:
    """What each part gives on the other half, at the model's minimum confidence."""
    minimum = sources.config.minimum_confidence
    judged = sources.measured("confidence")["judged"]
    rows = []
    for name, says in WEIGHED.items():
        at = _at(judged[name], minimum)
        cells = [percent(at["exact_match"]), number(at["f0.5"]), percent(at["clean_untouched"])]
        cells.append(percent(judged[name]["expected_calibration_error"]))
        rows.append(bold([says, *cells]) if name == "morphemes" else [says, *cells])
    return table(
        [f"what is weighed, at {minimum:g}", "exact match", "F0.5", "untouched", "calibration error"], rows
    )


def _at(judged: dict, minimum: float) -> dict:
    """The measures at the minimum in the table that is nearest."""
    return min(judged["thresholds"], key=lambda each: abs(each["minimum_confidence"] - minimum))


@block("other-half")
def other_half(sources: Sources, language: str) -> str:
    """The other half at each minimum confidence, by the network alone and by all that is weighed."""
    judged = sources.measured("confidence")["judged"]
    network, everything = (
        {each["minimum_confidence"]: each for each in judged[name]["thresholds"]}
        for name in ("network", "morphemes")
    )
    rows = []
    for minimum in (each for each in SHOWN if each in network and each in everything):
        row = [f"{minimum:g}"]
        for each in (network[minimum], everything[minimum]):
            row += [percent(each["exact_match"]), number(each["f0.5"]), percent(each["clean_untouched"])]
        rows.append(row)
    alone, weighed = ("network alone: exact match", "all that is weighed: exact match")
    return table(["minimum", alone, "F0.5", "untouched", weighed, "F0.5", "untouched"], rows)
