"""The first steps of shipping: choose the weights, and fit the confidence of what they propose."""

from pathlib import Path

from model.stored.folder import find_model_folder, model_name
from training.measure.sets import QUESTIONS
from training.ship.commands import ANSWERS, ERRORS, at_most, copied, model_of, training
from training.ship.plan import ShipPlan
from training.ship.step import PYTHON, Step

WEIGHTS = ("weights.npz", "vocabulary.txt", "run.json", "history.csv")
CONFIDENCE = ("confidence.json", "words.txt.gz", "ngrams.npz")


def weights(run: Path, work: Path, plan: ShipPlan) -> list[Step]:
    """Keep what is overwritten, average, and put the result where the app looks for it."""
    chosen = work / "model"
    minimum = () if plan.minimum in ("keep", "choose") else ("--minimum", plan.minimum)
    named = ("--keep-minimum", *minimum, "--name", plan.name or run.name, "--numbers", plan.numbers)
    return [
        Step(
            "past",
            "add the numbers of the weights shipped until now to the tables of earlier ones",
            inputs=(),
            outputs=(plan.numbers / "past",),
            commands=(training("documents", "--past", "--root", plan.documents, "--model", plan.into),),
            once=True,
        ),
        *_average(model_of(run), work, chosen, plan),
        Step(
            "export",
            "put the weights and their record into the model's folder",
            inputs=(chosen,),
            outputs=(*(plan.into / each for each in WEIGHTS), plan.numbers / "weights.json"),
            commands=(copied(chosen, plan.into, *named),),
        ),
    ]


def _average(own: Path, work: Path, chosen: Path, plan: ShipPlan) -> list[Step]:
    """Take the run's weights as they are, the mean of its last snapshots, or the best of averages with another model."""
    if plan.last:
        command = training("average", own, "--last", plan.last, "--out", chosen)
        return [
            Step(
                "average",
                f"the mean of the last {plan.last} snapshots",
                inputs=(own,),
                outputs=(chosen,),
                commands=(command,),
            )
        ]
    if not plan.other:
        return [
            Step(
                "take",
                "the run's weights as they are",
                inputs=(own / "weights.npz",),
                outputs=(chosen,),
                commands=(copied(own, chosen),),
            )
        ]
    found = find_model_folder(plan.other).resolve()
    # The other model may be the one that is shipped now, and then it is overwritten below.
    other = work / "with" / model_name(found)
    shares = plan.share or (0.5,)
    averages = {share: work / "averages" / f"{share:g}" for share in shares}
    if len(shares) == 1:
        averages = {shares[0]: chosen}
    made = [
        training("average", other, own, "--share", share, "--out", out) for share, out in averages.items()
    ]
    kept = Step(
        "with",
        "keep the model that is averaged with",
        inputs=(),
        outputs=(other,),
        commands=(copied(found, other),),
        once=True,
    )
    average = Step(
        "average",
        f"averages with {other.name}",
        inputs=(other, own / "weights.npz"),
        outputs=tuple(averages.values()),
        commands=tuple(made),
    )
    return [kept, average, *([_choose(averages, chosen, plan)] if len(shares) > 1 else [])]


def _choose(averages: dict[float, Path], chosen: Path, plan: ShipPlan) -> Step:
    """The average with the best F0.5 on the development sentences, each at its own best minimum confidence."""
    dev, rows = plan.corpus / "dev.jsonl", at_most("--limit", plan.rows)
    measured = {share: chosen.parent / "averages" / f"{share:g}.json" for share in averages}
    evaluated = (
        training("evaluate", dev, "--model", averages[share], *rows, "--json", measured[share])
        for share in averages
    )
    pairs = (each for share in averages for each in (averages[share], measured[share]))
    last = (PYTHON, "-m", "training.ship.choose", str(chosen), *map(str, pairs))
    return Step(
        "choose",
        "the average that corrects best",
        inputs=(*averages.values(), *ANSWERS, dev, ERRORS),
        outputs=(chosen,),
        commands=(*evaluated, last),
    )


def confidence(work: Path, plan: ShipPlan) -> list[Step]:
    """Fit the confidence of the network's proposals, and choose the confidence below which a proposal is not made."""
    data, corpus = work / "data", plan.corpus
    rest, held = data / "train2_rest.jsonl", data / "train2_held.jsonl"
    sets = [data / "sets" / f"{name}.csv" for name in QUESTIONS]
    dev, train = corpus / "dev.jsonl", corpus / "train.jsonl"
    shipped = (plan.into / "weights.npz", plan.into / "vocabulary.txt")
    fit = training("confidence", dev, *sets, held, "--known", train, "--known", rest, "--model", plan.into)
    sizes = [f"--seeds={plan.seeds}", f"--drill={plan.drill}", f"--space-drill={plan.space_drill}"]
    sizes += [f"--names={plan.names}", f"--practised={plan.practised}", f"--intact={plan.intact}"]
    found = plan.numbers / "confidence.json"
    steps = [
        Step(
            "hold-out",
            "keep a part of the second corpus to measure on",
            inputs=(corpus / "train2.jsonl",),
            outputs=(rest, held),
            commands=(training("hold-out", corpus / "train2.jsonl", "--rest", rest, "--held", held),),
        ),
        Step(
            "sets",
            "make the five sets that each ask one question",
            inputs=(dev, held, train, ERRORS),
            outputs=(data / "sets",),
            commands=(
                training(
                    "sets", dev, held, "--known", train, "--out", data / "sets", "--count", plan.set_rows
                ),
            ),
        ),
        Step(
            "confidence",
            "fit the trees that weigh the network's proposals",
            inputs=(*shipped, *ANSWERS, dev, *sets, held, train, rest, ERRORS),
            outputs=(*(plan.into / each for each in CONFIDENCE), found),
            commands=((*fit, *sizes, f"--json={found}"),),
        ),
    ]
    if plan.minimum == "choose":
        command = training("evaluate", dev, "--model", plan.into, "--choose", *at_most("--limit", plan.rows))
        read = (*shipped, *ANSWERS, plan.into / "confidence.json", dev, ERRORS)
        steps.append(
            Step(
                "minimum",
                "choose the minimum confidence with the best F0.5",
                inputs=read,
                outputs=(plan.into / "config.json",),
                commands=(command,),
            )
        )
    return steps
