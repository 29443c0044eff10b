"""Attribution studies: methods against occlusion, claims, ablation of three heads.

``python -m training agreement`` measures how well attribution methods agree with occlusion over many edits.
An edit is a change that the network makes of its own accord in a sentence of the pairs. Its reference is
occlusion: each source character is left out in turn, and log p(fix) - log p(keep) is compared. Intervals are
95% and know which edits come from one sentence (``model.analysis.statistics``).

``python -m training claims`` counts how many claims of each kind hold over many edits of the same pairs.

``python -m training stories`` measures the effect of three heads on each correction of one sentence of our
own. The heads are those that ``heads.json`` of the model singles out: by the loss of the sentence without
them, and by the effect of their ablation at corrected characters.

References:
    Jain & Wallace, "Attention is not Explanation" (2019), and its reply by Wiegreffe & Pinter (2019).
"""

import csv
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from model import Corrector
from model.analysis.claims import CLAIMS, verified_explanation
from model.analysis.contrasts import Edit, contrast_of_edit
from model.analysis.contributions import REFERENCE, contributions, method_agreement
from model.analysis.head_effects import ablate_heads, head_effects
from model.analysis.kinds import kind_of
from model.analysis.statistics import Estimate, shared_top
from model.correction.correction import SentenceCorrection
from model.stored.folder import find_model_folder, fingerprint, of_weights
from model.survey.results import Agreed, CorpusAgreement, HeadSurvey, read_head_survey, write_agreement
from model.trace.interventions import Head
from training.documents.render import content
from training.documents.tables import Sources, heads_of_stories
from training.measure.report import Numbers, clustered, tell, write_numbers
from training.options import FOLDER, PATH, command, knob

Row = dict[str, Any]  # an edit; a line of the file of edits, which holds numbers and no text


def _edits_of(
    file: Path, name: str, asked: "ClaimsStudy", ask: Callable[[Corrector, int, str], Iterator[Row]]
) -> list[Row]:
    """So many edits of the pairs in ``file``, or all; those kept in ``asked.out`` are not measured again."""
    kept, count = asked.out / f"{name}-{asked.weights}.jsonl", asked.edits
    asked.out.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()] if kept.exists() else []
    if rows and len(rows) >= count:
        return rows
    corrector = Corrector.load(asked.model)
    first = 1 + max((row["pair"] for row in rows), default=-1)
    with file.open(encoding="utf-8", newline="") as stream, kept.open("a", encoding="utf-8") as lines:
        for number, pair in enumerate(csv.DictReader(stream)):
            if number < first or len(rows) >= count:
                continue
            found = list(ask(corrector, number, pair["src"]))
            rows += found
            lines.writelines(json.dumps(row) + "\n" for row in found)
            lines.flush()
            click.echo(f"\r{len(rows)}/{count} edits", nl=False, err=True)
    if not rows:
        click.echo("no edits")
    return rows


def claims_of(corrector: Corrector, number: int, text: str) -> Iterator[Row]:
    """A row for each edit of the text's first sentence, ``number`` its pair: whether each claim holds."""
    for sentence in corrector.correct(text).sentences[:1]:
        for change in sentence.changes:
            try:
                found = verified_explanation(corrector, Edit(sentence.source, sentence.text, change))
            except ValueError:  # the fix writes the tokens of the typed text
                continue
            yield {"pair": number, "claims": {each.name: each.holds for each in found.claims}}


def claim_numbers(rows: list[Row], fingerprint: str) -> dict[str, Any]:
    """How often each claim was made, and the share that fails, by the names of ``docs/numbers/claims.json``.

    Example:
        >>> claim_numbers([{"pair": 0, "claims": {"wrote": True}}], "0")["claims"]
        {'wrote': {'made': 1, 'fails': (0.0, nan)}}
    """
    made = {name: [row for row in rows if name in row["claims"]] for name in CLAIMS}
    return {
        "fingerprint": fingerprint,
        "edits": len(rows),
        "sentences": len({row["pair"] for row in rows}),
        "claims": {
            name: {
                "made": len(of),
                "fails": mean_and_margin(of, lambda row, name=name: not row["claims"][name]),
            }
            for name, of in made.items()
            if of
        },
    }


def agreement_of(rows: list[Row], fingerprint: str) -> CorpusAgreement:
    """The agreement of each method with occlusion, as the app shows it."""
    methods = {}
    for name in methods_of(rows):
        correlation, first = (measured(rows, lambda row, n=name, i=i: row["methods"][n][i]) for i in (0, 1))
        values = (*first[:2], *correlation[:2])
        methods[name] = Agreed(*(round(float(value), 4) for value in values))
    return CorpusAgreement(fingerprint, len(rows), len({row["pair"] for row in rows}), methods)


def methods_of(rows: list[Row]) -> list[str]:
    """The methods that every edit has: one that came later may be missing from the first ones.

    >>> methods_of([{"methods": {"alti": 1}}, {"methods": {"alti": 1, "norms": 0}}])
    ['alti']
    """
    return [name for name in rows[0]["methods"] if all(name in row["methods"] for row in rows)]


def ask(corrector: Corrector, number: int, text: str) -> Iterator[Row]:
    """A row for each edit of the text's first sentence, ``number`` its pair."""
    sentences = corrector.correct(text).sentences
    if not sentences or not sentences[0].changes:
        return
    sentence = sentences[0]
    source, target = sentence.source, sentence.text
    for change in sentence.changes:
        contrast = contrast_of_edit(corrector, Edit(source, target, change))
        found = {each.method: each for each in contributions(corrector, Edit(source, target, contrast))}
        reference = found[REFERENCE]
        sizes = np.abs(reference.source[:-1])
        if sizes.size < 2:
            continue
        compared = {
            name: method_agreement(each, reference) for name, each in found.items() if name != REFERENCE
        }
        cross = sentence.trace.attention("cross_attention")[:, :, contrast.row, :-1].mean(axis=1)  # (L, S)
        heads = head_effects(corrector, Edit(source, target, change))
        yield {
            "pair": number,
            "kind": kind_of(change, source, target),
            "characters": len(source),
            "first_at": int(sizes.argmax()) - change.source_start,
            "attention_first_at": int(found["attention"].source[:-1].argmax()) - change.source_start,
            "methods": {name: [each.correlation, each.top_1, each.top_3] for name, each in compared.items()},
            "layers": [bool(shared_top(layer, sizes, 1)) for layer in cross],
            "rank_of_looker": heads.rank_of_looker()[1],
            "correlation_of_heads": heads.correlation(),
            "heads": len(heads.heads),
        }


def numbers_of(rows: list[Row], fingerprint: str) -> dict[str, Any]:
    """All measures as ``(mean, half the 95% interval)``, by the names of ``docs/numbers/attention.json``."""
    names = methods_of(rows)
    layers = range(len(rows[0]["layers"]))
    kinds = defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    moved = kinds.get("liaison", [])
    return {
        "fingerprint": fingerprint,
        "edits": len(rows),
        "sentences": len({row["pair"] for row in rows}),
        "chance": mean_and_margin(rows, lambda row: 1 / row["characters"]),
        "methods": {
            name: {
                key: mean_and_margin(rows, lambda row, n=name, i=i: row["methods"][n][i])
                for key, i in (("correlation", 0), ("first", 1), ("three", 2))
            }
            for name in names
        },
        "layers": [mean_and_margin(rows, lambda row, at=at: row["layers"][at]) for at in layers],
        "kinds": {kind: _of_kind(found, names, layers) for kind, found in kinds.items()},
        "liaison": {
            "edits": len(moved),
            "next": sum(row["first_at"] == 1 for row in moved),
            "own": sum(row["attention_first_at"] == 0 for row in moved),
        },
        "heads": {
            "count": rows[0]["heads"],
            "rank": mean_and_margin(rows, lambda row: row["rank_of_looker"]),
            "first": mean_and_margin(rows, lambda row: row["rank_of_looker"] == 1),
            "correlation": mean_and_margin(rows, lambda row: row["correlation_of_heads"]),
        },
    }


def _of_kind(rows: list[Row], names: list[str], layers: range) -> dict[str, Any]:
    """Share of edits of one kind in which the same first character is named, by method and by layer."""
    return {
        "edits": len(rows),
        "methods": {name: mean_and_margin(rows, lambda row, n=name: row["methods"][n][1]) for name in names},
        "layers": [mean_and_margin(rows, lambda row, at=at: row["layers"][at]) for at in layers],
    }


def mean_and_margin(rows: list[Row], value_of: Callable[..., Any]) -> tuple[float, float]:
    """A mean with half its 95% interval.

    >>> mean_and_margin([{"pair": 0, "x": 1}, {"pair": 1, "x": 1}], lambda row: row["x"])
    (1.0, 0.0)
    """
    found = measured(rows, value_of)
    return round(float(found.mean), 4), round(float(found.margin), 4)


def measured(rows: list[Row], value_of: Callable[..., Any]) -> Estimate:
    """The mean of a value over edits."""
    return clustered([float(value_of(row)) for row in rows], [row["pair"] for row in rows])


@dataclass(frozen=True)
class ClaimsStudy(Numbers):
    """The options of ``claims``."""

    out: Path = knob(None, "Keeps the edits.", required=True, type=FOLDER)
    edits: int = knob(200)

    @property
    def weights(self) -> str:
        """The fingerprint of the model's weights."""
        return of_weights(fingerprint(find_model_folder(self.model)))


@dataclass(frozen=True)
class AgreementStudy(ClaimsStudy):
    """The options of ``agreement``."""

    edits: int = knob(1000)
    keep: Path | None = knob(None, "A model folder.", type=FOLDER)


@command("agreement", asked=AgreementStudy)
@click.argument("file", type=PATH)
def agreement_command(file: Path, asked: AgreementStudy) -> None:
    """Ask about EDITS edits in the pairs of FILE, and print the tables.

    KEEP gets the app's numbers on methods.

    OUT keeps one line for each edit, in one file for each set of weights, so a run that was stopped goes
    on.
    """
    if rows := _edits_of(file, "edits", asked, ask):
        tell("attention", "attention-all", numbers_of(rows, asked.weights), asked.json)
        if asked.keep:
            write_agreement(asked.keep, agreement_of(rows, asked.weights))


@command("claims", asked=ClaimsStudy)
@click.argument("file", type=PATH)
def claims_command(file: Path, asked: ClaimsStudy) -> None:
    """Test the claims about EDITS edits in the pairs of FILE, and print how many of each kind fail."""
    if rows := _edits_of(file, "claims", asked, claims_of):
        tell("claims", "claims", claim_numbers(rows, asked.weights), asked.json)


SENTENCE = "꼬치 활짝 피어서 아이드리 우서요."


def read_survey(model: str) -> HeadSurvey:
    """The survey of a model's heads. Raises click.ClickException where the model has none."""
    survey = read_head_survey(find_model_folder(model))
    if survey is None:
        raise click.ClickException(f"{model} has no heads.json: python -m model heads makes it")
    return survey


def measure_stories(
    corrector: Corrector, sentence: SentenceCorrection, stories: Mapping[str, Head]
) -> dict[str, Any]:
    """The effects of the heads of ``stories`` at each change of the sentence, in nats, and the text written
    without each of them.
    """
    changes = []
    for change in sentence.changes:
        found = head_effects(corrector, Edit(sentence.source, sentence.text, change))
        looker, rank = found.rank_of_looker()
        effects = {
            story: round(float(found.effect[found.heads.index(head)]), 4) for story, head in stories.items()
        }
        changes.append(
            {"wrong": change.wrong, "right": change.right, "looker": list(looker), "rank": int(rank)}
            | {"of": len(found.heads), "effects": effects}
        )
    written = ablate_heads(corrector, sentence.source, [[head] for head in stories.values()])
    return {
        "fingerprint": of_weights(corrector.fingerprint),
        "heads": {story: list(head) for story, head in stories.items()},
        "source": sentence.source,
        "target": sentence.text,
        "changes": changes,
        "without": {story: each.text for story, each in zip(stories, written, strict=True)},
    }


@command("stories", asked=Numbers)
def stories(asked: Numbers) -> None:
    """Print the survey's numbers of three heads, and their effects on one sentence."""
    survey, corrector = read_survey(asked.model), Corrector.load(asked.model)
    (sentence,) = corrector.correct(SENTENCE).sentences
    found = measure_stories(corrector, sentence, heads_of_stories(survey))
    sources = Sources(model=find_model_folder(asked.model), given={"stories": found})
    for name in ("story-heads", "story-sentence", "story-pruning"):
        click.echo(f"{content(sources, name)}\n")
    write_numbers(asked.json, found)
