"""Writer of a survey's files: ``heads.json``, ``heads.csv`` and ``answers.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from model.analysis.residual_stream import KINDS as WRITING
from model.analysis.roles import CLASSES, COPIED, EDITED, ROLES
from model.analysis.statistics import Tally
from model.stored.folder import of_weights, write_atomically
from model.survey.results import HEADS_FILE, AnswerSurvey, HeadSurvey, Mean, plain_numbers, write_answers
from model.survey.sums import (
    ANSWER,
    ANY_KIND,
    CHANCE,
    CORRELATION,
    EFFECT,
    ERROR_KINDS,
    LOOKER,
    LOSS,
    MEANS,
    WROTE,
)
from model.survey.survey import Survey
from model.trace.interventions import Head, Node

TABLE = "heads.csv"


def write_result(survey: Survey, folder: Path) -> Path:
    """Write all files of a survey into ``folder``; the path of the first.

    Raises:
        OSError: for a folder that cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = result(survey)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    write_atomically(folder / HEADS_FILE, lambda file: file.write(text.encode("utf-8", "replace")))
    rows = list(table(survey, found))
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)] if rows else []
    write_atomically(folder / TABLE, lambda file: file.write(("\n".join(lines) + "\n").encode()))
    if survey.done["answers"]:
        write_answers(folder, answers(survey))
    return folder / HEADS_FILE


def answers(survey: Survey) -> dict:
    """The content of ``answers.json``, as ``AnswerSurvey`` reads it."""
    groups: dict[str, dict] = {}
    for name, tally in sorted(survey.sums.tallies.items()):
        start, *rest = name.split("/")
        if start == ANSWER:
            group, quantity = rest
            groups.setdefault(group, {})[quantity] = _estimated(tally)
    return {
        "fingerprint": of_weights(survey.corrector.fingerprint),
        "sentences": survey.done["answers"],
        "circuit_sentences": min(survey.plan.circuits, survey.done["answers"]),
        "kinds": list(survey.kinds),
        "shape": list(survey.shape),
        "groups": groups,
    }


def result(survey: Survey) -> dict:
    """All results as plain numbers. Grids are (L, H), from 0; ``margin`` is half of the 95% interval.

    * ``roles[kind][role][class]``, observed: ``mean``, ``margin``, ``rows``, and ``chance``, the mean of a
      head with uniform attention.
    * ``effects[kind]``, intervened: the effect of ablating a head, in nats, at edited and at copied
      characters, and in the whole text (``loss``, positive where it hurts).
    * ``written[kind]``, observed over ``answer_sentences``: the direct contribution of the decoder's heads to
      the score of a fix, and of a copied character.
    * ``means``: mean outputs of heads.
    * ``pruning``: rows of (removed, exact, untouched) by order of removal, judged on ``pruning_sentences``
      pairs with
      ``pruning_right`` different targets. ``pruning_overlap`` of these pairs also order the heads.
    * ``examples[kind][role]``: for each head a sentence and a row.
    """
    means = {kind: survey.sums.tallies.get(f"{kind}/{MEANS}") for kind in survey.kinds}
    order = np.argsort(survey.loss() if survey.done["effects"] else [], kind="stable")
    return {
        "model": survey.corrector.name,
        "fingerprint": of_weights(survey.corrector.fingerprint),
        "sentences": survey.done["roles"],
        "effect_sentences": survey.done["effects"],
        "pruning_sentences": len(survey.plan.judged),
        "pruning_right": len({right for _, right in survey.plan.judged}),
        "pruning_overlap": len(set(survey.plan.judged) & set(survey.plan.edited)),
        "kinds": list(survey.kinds),
        "roles": {kind: _roles(survey, kind) for kind in survey.kinds},
        "effects": _effects(survey) if survey.done["effects"] else {},
        "written": _written(survey),
        "answer_sentences": survey.done["answers"],
        "attention_and_effect": _agreement(survey),
        "means": {kind: plain_numbers(tally.estimate().mean) for kind, tally in means.items() if tally},
        "pruning": survey.curves,
        "pruning_order": [list(survey.heads[place]) for place in order.tolist()],
        **_examples(survey),
    }


def table(survey: Survey, found: dict) -> Iterator[dict[str, object]]:
    """A row for each head: its leading role at copied characters, its shares, and its effects.

    ``found``: the ``result`` of the survey.
    """
    measured = HeadSurvey(found)
    for each in survey.heads:
        kind, layer, head = each
        yield {
            "kind": kind,
            "layer": layer + 1,
            "head": head + 1,
            "role": measured.leading(each),
            **{
                f"{role}_{name}": _cell(measured.role(kind, role, name), each)
                for role in ROLES
                for name in CLASSES
            },
            **{name: _cell(measured.effect(kind, name), each) for name in found["effects"].get(kind, {})},
            **{
                f"wrote_{name}": _cell(measured.written(kind, name), each)
                for name in CLASSES
                if found["written"]
            },
        }


def _cell(measured: Mean | None, head: Head) -> object:
    return "" if measured is None else measured.mean[head.layer, head.head]


def _roles(survey: Survey, kind: str) -> dict:
    found: dict[str, dict] = {}
    for role in ROLES:
        for name in CLASSES:
            tally = survey.sums.tallies.get(f"{kind}/{role}/{name}")
            if tally is None:
                continue
            expected = survey.sums.tallies[f"{kind}/{role}/{name}/{CHANCE}"].estimate()
            found.setdefault(role, {})[name] = _estimated(tally) | {"chance": plain_numbers(expected.mean)}
    return found


def _effects(survey: Survey) -> dict:
    names = {
        "edited": f"{ANY_KIND}/{EFFECT}/{EDITED}",
        "edited_size": f"{ANY_KIND}/{EFFECT}/{EDITED}/size",
        "copied": f"{ANY_KIND}/{EFFECT}/{COPIED}",
        "loss": f"{ANY_KIND}/{LOSS}",
    }
    found: dict[str, dict] = {}
    for name, key in names.items():
        if key not in survey.sums.tallies:
            continue
        estimate = survey.sums.tallies[key].estimate()
        sign = -1 if name == "loss" else 1
        for number, kind in enumerate(survey.kinds):
            size = int(np.prod(survey.shape))
            part = slice(number * size, (number + 1) * size)
            mean, margin = (
                each[part].reshape(survey.shape) for each in (sign * estimate.mean, estimate.margin)
            )
            found.setdefault(kind, {})[name] = _numbers(mean, margin, estimate.rows)
    return found


def _written(survey: Survey) -> dict:
    """Direct contributions of the decoder's heads to fixes and to copied characters, by kind."""
    asked = AnswerSurvey(answers(survey))
    found: dict[str, dict] = {}
    for name, group in ((EDITED, ANY_KIND), (COPIED, COPIED)):
        if (measured := asked.of(group, WROTE)) is None:
            continue
        for kind in WRITING:
            places = [asked.writing.index(Node(kind, *place)) for place in np.ndindex(survey.shape)]
            mean, margin = (each[places].reshape(survey.shape) for each in measured[:2])
            found.setdefault(kind, {})[name] = _numbers(mean, margin, measured.rows)
    return found


def _agreement(survey: Survey) -> dict:
    """Two measures over edits:

    the rank correlation of attention to an edit with the size of the effect on it, and the rank by
    effect of the head with most attention (1 is the largest).
    """
    found: dict[str, dict] = {}
    for error in ERROR_KINDS:
        for name, measure in (("rank_of_looker", LOOKER), ("correlation", CORRELATION)):
            if (tally := survey.sums.tallies.get(f"{measure}/{error}")) is not None:
                found.setdefault(error, {})[name] = _estimated(tally)
    return found


def _examples(survey: Survey) -> dict:
    """``sentences_shown``: the pairs that examples point into; ``examples``: [place there, row]."""
    shown: dict[int, int] = {}
    examples: dict[str, dict] = {}
    for name, (_, sentences, rows) in survey.sums.best.items():
        kind, role = name.split("/")
        grid = [
            [[shown.setdefault(int(number), len(shown)), int(row)] for number, row in zip(*line, strict=True)]
            for line in zip(sentences, rows, strict=True)
        ]
        examples.setdefault(kind, {})[role] = grid
    return {"sentences_shown": [list(survey.plan.pairs[number]) for number in shown], "examples": examples}


def _estimated(tally: Tally) -> dict:
    return _numbers(*tally.estimate()[:3])


def _numbers(mean: np.ndarray, margin: np.ndarray, rows: int) -> dict:
    return {"mean": plain_numbers(mean), "margin": plain_numbers(margin), "rows": rows}
