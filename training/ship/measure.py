"""The steps of shipping that measure: what the heads do, how well the model corrects, and what it leaves alone."""

from pathlib import Path

from training.measure.sets import QUESTIONS
from training.ship.commands import (
    ANSWERS,
    BENCHMARKS,
    ERRORS,
    STUDIED,
    at_most,
    benchmark,
    copied,
    training,
    whole,
)
from training.ship.plan import ROOT, ShipPlan
from training.ship.step import PYTHON, Step

OLDER = ("seq2seq", "growing-up")  # the other shipped models
MEASURE = ROOT / "training" / "measure"


def heads(work: Path, plan: ShipPlan) -> list[Step]:
    """What each head does in sentences of our own, and whether what is looked at matters."""
    weights = (plan.into / "weights.npz", plan.into / "vocabulary.txt")
    pairs, survey = work / "data" / "own_pairs.csv", work / "heads"
    limit = at_most("--limit", plan.head_pairs)
    sizes = ("--effects", plan.effects, "--pruning", plan.pruning, "--answers", plan.effects, *limit)
    survey_them = (
        PYTHON,
        "-m",
        "model",
        "heads",
        str(pairs),
        "--out",
        str(survey),
        "--model",
        str(plan.into),
    )
    errors, lines = work / "data" / "error_pairs.csv", work / "attention"
    found = plan.numbers / "attention.json"
    dev = plan.corpus / "dev.jsonl"
    return [
        Step(
            "pairs",
            "our own sentences with errors",
            inputs=(BENCHMARKS / "own_pairs.py", *sorted(BENCHMARKS.glob("everyday*.csv")), ERRORS),
            outputs=(pairs,),
            commands=(benchmark("own_pairs.py", pairs),),
        ),
        Step(
            "heads",
            "survey what each head does: heads.json",
            inputs=(*weights, *STUDIED, pairs),
            outputs=(plan.into / "heads.json",),
            commands=(
                (*survey_them, *map(str, sizes)),
                copied(survey / "heads.json", plan.into / "heads.json"),
            ),
        ),
        Step(
            "agreement",
            "leave out characters and heads in many edits: agreement.json",
            inputs=(*whole(plan.into), *STUDIED, dev, ERRORS, BENCHMARKS / "does_attention_matter.py"),
            outputs=(plan.into / "agreement.json", found),
            commands=(
                benchmark("error_pairs.py", dev, errors, "--sentences", plan.edit_sentences),
                benchmark(
                    "does_attention_matter.py",
                    *(errors, "--out", lines, "--edits", plan.edits, "--model", plan.into),
                    *("--keep", plan.into, "--json", found),
                ),
            ),
        ),
        *_answers(work, plan),
    ]


def _answers(work: Path, plan: ShipPlan) -> list[Step]:
    """What looked, what wrote and what mattered in edits of the development sentences, and what is heard there."""
    weights = (plan.into / "weights.npz", plan.into / "vocabulary.txt")
    dev, errors, out = plan.corpus / "dev.jsonl", work / "data" / "error_pairs.csv", work / "answers"
    # Only edits are asked, and about two thirds of the sentences have an error: twice as many are read. Roles are counted in all of them.
    sizes = {"limit": 2 * plan.answers, "effects": 0, "pruning": 0}
    sizes |= {"answers": plan.answers, "circuits": plan.circuits}
    options = [str(each) for name, size in sizes.items() for each in (f"--{name}", size)]
    files = (str(errors), "--out", str(out), "--model", str(plan.into))
    survey = (PYTHON, "-m", "model", "heads", *files, *options)
    heard = plan.numbers / "heard.json"
    return [
        Step(
            "answers",
            "who looked, wrote and mattered in many edits: answers.json",
            inputs=(*weights, *STUDIED, dev, ERRORS),
            outputs=(plan.into / "answers.json",),
            commands=(
                benchmark("error_pairs.py", dev, errors, "--sentences", plan.edit_sentences),
                survey,
                copied(out / "answers.json", plan.into / "answers.json"),
            ),
        ),
        Step(
            "heard",
            "what the encoder hears next, and what happens without it: heard.json",
            inputs=(
                *weights,
                *STUDIED,
                dev,
                ERRORS,
                *(MEASURE / f"{name}.py" for name in ("heard", "probe")),
            ),
            outputs=(heard,),
            commands=(
                training(
                    *("heard", dev, "--model", plan.into, "--sentences", plan.heard),
                    *("--edits", plan.heard_edits, "--json", heard),
                ),
            ),
        ),
    ]


def scores(work: Path, plan: ShipPlan) -> list[Step]:
    """How well the models correct, and what they leave alone."""
    return [*_sentences(plan), *_sets(work, plan)]


def _evaluated(plan: ShipPlan, file: Path, model: Path, out: Path) -> tuple[str, ...]:
    return training("evaluate", file, "--model", model, *at_most("--limit", plan.rows), "--json", out)


def _sentences(plan: ShipPlan) -> list[Step]:
    """How well all shipped models correct the sentences of the corpus."""
    assets = plan.into.parent
    dev, test = plan.corpus / "dev.jsonl", plan.corpus / "test.jsonl"
    shipped, older = whole(plan.into), [assets / name for name in OLDER]
    return [
        Step(
            "evaluation",
            "the development and the test sentences",
            inputs=(*shipped, dev, test, ERRORS),
            outputs=(plan.into / "evaluation.json", plan.numbers / "test.json"),
            commands=(
                _evaluated(plan, dev, plan.into, plan.into / "evaluation.json"),
                _evaluated(plan, test, plan.into, plan.numbers / "test.json"),
            ),
        ),
        Step(
            "older",
            "the development sentences for the other shipped models",
            inputs=(*(folder / "weights.npz" for folder in older), *ANSWERS, dev, ERRORS),
            outputs=tuple(folder / "evaluation.json" for folder in older),
            commands=tuple(_evaluated(plan, dev, folder, folder / "evaluation.json") for folder in older),
        ),
        Step(
            "snapshots",
            "the snapshots of growing-up: snapshots.csv",
            inputs=(assets / "growing-up" / "snapshots", *ANSWERS, dev, ERRORS),
            outputs=(assets / "growing-up" / "snapshots.csv",),
            commands=(training("snapshots", assets / "growing-up", dev, "--limit", plan.snapshot_rows),),
        ),
    ]


def _sets(work: Path, plan: ShipPlan) -> list[Step]:
    """What the new model makes of the sets that ask one question each, of what must stay as it is, and of our own sets."""
    shipped, numbers, sets = whole(plan.into), plan.numbers, work / "data" / "sets"
    questions = {sets / f"{name}.csv": numbers / "sets" / f"{name}.json" for name in QUESTIONS}
    development = (
        ("development", numbers / "development.json", ()),
        ("everything", numbers / "everything.json", ("--minimum-confidence", 0)),
    )
    rows = at_most("--limit", plan.rows)
    return [
        Step(
            "questions",
            "the five sets that each ask one question",
            inputs=(*shipped, sets),
            outputs=tuple(questions.values()),
            commands=tuple(_evaluated(plan, file, plan.into, out) for file, out in questions.items()),
        ),
        Step(
            "intact",
            "what must stay as it is",
            inputs=(*shipped, ROOT / "training" / "intact", ERRORS),
            outputs=(numbers / "intact.json",),
            commands=(
                training(
                    *("intact", "--model", plan.into, "--count", plan.samples),
                    *("--json", numbers / "intact.json"),
                ),
            ),
        ),
        *(
            Step(
                name,
                f"our own sets, kind by kind{', with nothing left undone' if options else ''}",
                inputs=(
                    *shipped,
                    BENCHMARKS / "development.py",
                    BENCHMARKS / "sets",
                    *sorted(BENCHMARKS.glob("*.csv")),
                ),
                outputs=(out,),
                commands=(
                    benchmark("development.py", "--model", plan.into, "--counts", out, *options, *rows),
                ),
            )
            for name, out, options in development
        ),
    ]
