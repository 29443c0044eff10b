"""The steps of ``python -m training ship``, in the order in which they are made.

Each is one ``Step``. A later step reads the files that an earlier one wrote. A step whose inputs have not changed is skipped.
"""

from pathlib import Path

from training.documents.render import DOCUMENTS
from training.ship.commands import BENCHMARKS, benchmark, training, whole
from training.ship.measure import heads, scores
from training.ship.plan import ROOT, ShipPlan
from training.ship.step import PYTHON, Step
from training.ship.weights import confidence, weights

PICTURES = ROOT / "docs" / "pictures.py"
STORIES = ("heads-roles", "heads-effects", "heads-pruning", "head-loss", "head-for", "head-against")
SHOWN = (
    *("attention-light", "attention-dark", "steps-light", "laboratory-light"),
    *(f"{name}.{language}" for name in STORIES for language in ("ko", "en")),
)


def steps_of(run: Path, plan: ShipPlan) -> list[Step]:
    """All steps for the weights in ``run``. What only they need lies in ``run/ship``.

    >>> [step.name for step in steps_of(Path("run"), ShipPlan())][:3]
    ['past', 'take', 'export']
    """
    work = run / "ship"
    return [
        *weights(run, work, plan),
        *confidence(work, plan),
        *heads(work, plan),
        *scores(work, plan),
        *documents(plan),
    ]


def documents(plan: ShipPlan) -> list[Step]:
    """The studies and pictures, and every number in the documents."""
    numbers, images = plan.numbers, plan.documents / "docs" / "images"
    stories = numbers / "stories.json"
    told = [plan.documents / name for name in DOCUMENTS]
    measured = (
        "evaluation.json",
        "heads.json",
        "agreement.json",
        "answers.json",
        "config.json",
        "weights.npz",
    )
    return [
        Step(
            "stories",
            "three heads in one sentence",
            inputs=(*whole(plan.into), plan.into / "heads.json", BENCHMARKS / "head_stories.py"),
            outputs=(stories,),
            commands=(benchmark("head_stories.py", "--model", plan.into, "--json", stories),),
        ),
        Step(
            "lesson",
            "choose the sentence of the lesson plans, and measure what they say",
            inputs=(
                *whole(plan.into),
                BENCHMARKS / "lesson.py",
                ROOT / "training" / "documents" / "lessons" / "sentences.csv",
            ),
            outputs=(numbers / "lesson.json",),
            commands=(benchmark("lesson.py", "--model", plan.into, "--json", numbers / "lesson.json"),),
        ),
        Step(
            "pictures",
            "the pictures of the studies, and the app as the READMEs show it",
            inputs=(*whole(plan.into), plan.into / "heads.json", PICTURES, ROOT / "ui", ROOT / "viz"),
            outputs=tuple(images / f"{name}.png" for name in SHOWN),
            commands=(
                benchmark("head_stories.py", "--model", plan.into, "--pictures", images),
                (PYTHON, str(PICTURES), str(images)),
            ),
        ),
        Step(
            "documents",
            "write all generated tables",
            inputs=(numbers, *(plan.into / each for each in measured), ROOT / "training" / "documents"),
            outputs=tuple(told),
            commands=(training("documents", "--root", plan.documents, "--model", plan.into),),
        ),
    ]
