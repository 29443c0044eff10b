"""The tables of how well the shipped model corrects: by family, by minimum confidence, and whether its confidence is true."""

import numpy as np

from training.documents.block import block
from training.documents.sources import Sources
from training.documents.wording import NOTHING, bold, number, percent, table

FAMILIES = ("clean", "mixed", "native", "pronunciation", "spacing", "typing")
SHOWN = (0, 0.2, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)  # minimum confidences in the tables

RESULTS = {
    "ko": ("문장", "정확히 고친 것", "F0.5", "그대로 둔 맞는 문장", "개발용", "시험용"),
    "en": ("sentences", "exactly right", "F0.5", "right ones left as they were", "development", "test"),
}


@block("results")
def results(sources: Sources, language: str) -> str:
    """The few numbers that sum the model up, on the development and the test sentences."""
    *header, development, test = RESULTS[language]
    rows = [
        [name, f"{each['count']:,}", percent(each["exact_match"]), number(each["f0.5"])]
        + [percent(each["clean_untouched"])]
        for name, each in (
            (development, sources.evaluation()["total"]),
            (test, sources.measured("test")["total"]),
        )
    ]
    return table(["", *header], rows)


@block("shape")
def shape(sources: Sources, language: str) -> str:
    """What the network is made of."""
    config, weights = sources.config, sources.model / "weights.npz"
    with np.load(weights) as arrays:
        parameters = sum(arrays[name].size for name in arrays.files)
    runs = sources.runs
    pairs, seconds = (sum(run["taken"][name] for run in runs) for name in ("pairs", "seconds"))
    layers = f"{config.num_layers} + {config.num_layers} layers, {config.num_heads} heads"
    place = "pre-normalised" if config.norm_first else "normalised afterwards"
    rows = [
        ["network", f"Transformer, {layers}, d_model {config.d_model}, dff {config.dff}, {place}"],
        ["parameters", f"{parameters:,}; {weights.stat().st_size / 1e6:.1f} MB as float16"],
        ["tokens", f"characters ({config.vocab_size - 4:,}, and four marks)"],
        ["longest sentence", f"{config.max_length} characters"],
        ["trained on", f"{pairs / 1e6:.2f} million pairs, in {seconds / 3600:.1f} hours"],
        ["minimum confidence", f"{config.minimum_confidence:g}"],
        ["these weights", f"{sources.name}, fingerprint `{sources.weights}`"],
    ]
    return table(["", ""], rows)


@block("families")
def families(sources: Sources, language: str) -> str:
    """By family of errors, on the development sentences."""
    found = sources.evaluation()
    header = ["family", "sentences", "exact match", "CER before", "CER after", "reduced by", "precision"]
    rows = [_family(name, found["families"][name]) for name in FAMILIES if name in found["families"]]
    return table([*header, "recall", "F0.5"], [*rows, _family("all", found["total"])])


def _family(name: str, scores: dict) -> list[str]:
    cells = [name, str(scores["count"]), percent(scores["exact_match"])]
    cells += [percent(scores[key], 2) for key in ("cer_before", "cer_after")]
    if name == "clean":  # without errors there is nothing to find, so no edit is right
        return ["clean (left as it was)", *cells[1:], *[NOTHING] * 4]
    shares = (percent(scores["cer_reduction"], 0), percent(scores["precision"]), percent(scores["recall"]))
    return [*cells, *shares, number(scores["f0.5"])]


@block("thresholds")
def thresholds(sources: Sources, language: str) -> str:
    """The development sentences at other minimum confidences; the model's own is bold."""
    header = ["minimum", "exact match", "precision", "recall", "F0.5", "CER after", "right ones untouched"]
    rows = []
    for each in sources.evaluation()["thresholds"]:
        at = each["minimum_confidence"]
        if at not in SHOWN and at != sources.config.minimum_confidence:
            continue
        shares = [percent(each[key]) for key in ("exact_match", "precision", "recall")]
        rest = [number(each["f0.5"]), percent(each["cer_after"], 2), percent(each["clean_untouched"])]
        row = [f"{at:g}", *shares, *rest]
        rows.append(bold(row) if at == sources.config.minimum_confidence else row)
    return table(header, rows)


@block("reliability")
def reliability(sources: Sources, language: str) -> str:
    """Whether the proposed changes are as often right as their confidence says."""
    found = sources.evaluation()["reliability"]
    rows = [
        [f"{each['from']:g}–{each['to']:g}", f"{each['changes']:,}"]
        + [percent(each["mean_confidence"]), percent(each["right"])]
        for each in found["bins"]
    ]
    error = percent(found["expected_calibration_error"])
    last = ["all: calibration error", f"{found['changes']:,}", error, ""]
    return table(["confidence", "changes", "mean confidence", "right"], [*rows, last])


@block("older")
def older(sources: Sources, language: str) -> str:
    """The three shipped models on the same development sentences."""
    names = ("transformer", "seq2seq", "growing-up")
    found = [sources.evaluation(None if name == "transformer" else name) for name in names]
    totals = [each["total"] for each in found]
    errors = [percent(each["reliability"]["expected_calibration_error"]) for each in found]
    rows = [
        ["minimum confidence", *(f"{each['minimum_confidence']:g}" for each in found)],
        ["exact match", *(percent(each["exact_match"]) for each in totals)],
        ["CER after", *(percent(each["cer_after"], 2) for each in totals)],
        ["F0.5", *(number(each["f0.5"]) for each in totals)],
        ["right ones untouched", *(percent(each["clean_untouched"]) for each in totals)],
        ["calibration error", *errors],
    ]
    return table(["", "Transformer", "recurrent (`seq2seq`)", "small Transformer (`growing-up`)"], rows)
