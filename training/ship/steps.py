"""The steps of ``python -m training ship``, in the order in which they are made.

Each is one ``Step``. What a step leaves, a later one reads; a step whose inputs are the same as last time is skipped.
"""

from pathlib import Path

from training.ship.plan import ROOT, Plan
from training.ship.step import PYTHON, Step

ERRORS = (
    ROOT / "training" / "noise"
)  # makes the errors of every evaluation, so a change there asks for new numbers
BENCHMARKS = ROOT / "benchmarks"
QUESTIONS = ("everyday", "general", "rare", "several", "spaces")  # the sets of ``python -m training sets``
OLDER = ("seq2seq", "growing-up")  # the other shipped models
WEIGHTS = ("weights.npz", "vocabulary.txt", "run.json", "history.csv")
PICTURES = ROOT / "docs" / "pictures.py"
STORIES = ("heads-roles", "heads-effects", "heads-pruning", "head-loss", "head-for", "head-against")
SHOWN = (
    *("attention-light", "attention-dark", "steps-light", "laboratory-light"),
    *(f"{name}.{language}" for name in STORIES for language in ("ko", "en")),
)
CONFIDENCE = ("confidence.json", "words.txt.gz", "ngrams.npz")


def steps_of(run: Path, plan: Plan) -> list[Step]:
    """All steps for the weights in ``run``. What only they need lies in ``run/ship``."""
    work = run / "ship"
    return [
        *_weights(run, work, plan),
        *_confidence(work, plan),
        *_heads(work, plan),
        *_scores(work, plan),
        *_documents(plan),
    ]


def _training(*arguments: object) -> tuple[str, ...]:
    return (PYTHON, "-m", "training", *map(str, arguments))


def _benchmark(name: str, *arguments: object) -> tuple[str, ...]:
    return (PYTHON, str(BENCHMARKS / name), *map(str, arguments))


def _copy(source: Path, target: Path, *options: object) -> tuple[str, ...]:
    return (PYTHON, "-m", "training.ship.copy", *map(str, (source, target, *options)))


def _at_most(option: str, rows: int) -> tuple[object, ...]:
    return (option, rows) if rows else ()


def _model(run: Path) -> Path:
    """Where a run keeps its model: in a folder of its own while it trains."""
    return run / "model" if (run / "model").is_dir() else run


def _weights(run: Path, work: Path, plan: Plan) -> list[Step]:
    """Keep what is overwritten, average, and put the result where the app looks for it."""
    own, chosen = _model(run), work / "model"
    before = work / "before"
    read: tuple[Path, ...]
    if plan.last:
        averaged, read = _training("average", own, "--last", plan.last, "--out", chosen), (own,)
    elif plan.other:
        averaged = _training("average", before, own, "--share", plan.share, "--out", chosen)
        read = (before, own / "weights.npz")
    else:
        averaged, read = _copy(own, chosen), (own / "weights.npz",)
    minimum = () if plan.minimum in ("keep", "choose") else ("--minimum", plan.minimum)
    name = plan.name or run.name
    kept = [
        Step(
            "before",
            "keep the model that the run is averaged with",
            (),
            (before,),
            (_copy(_named(plan.other), before),),
            once=True,
        )
    ]
    return [
        *(kept if plan.other else []),
        Step(
            "past",
            "add the numbers of the weights shipped until now to the tables of earlier ones",
            (),
            (plan.numbers / "past",),
            (_training("documents", "--past", "--root", plan.documents, "--model", plan.into),),
            once=True,
        ),
        Step("average", "average the weights, or take them as they are", read, (chosen,), (averaged,)),
        Step(
            "export",
            "put the weights and their record into the model's folder",
            (chosen,),
            (*(plan.into / each for each in WEIGHTS), plan.numbers / "weights.json"),
            (
                (
                    *_copy(chosen, plan.into, *minimum, "--keep-minimum"),
                    *("--name", name, "--numbers", str(plan.numbers)),
                ),
            ),
        ),
    ]


def _named(model: str | None) -> Path:
    from model.stored.folder import find_model_folder

    return find_model_folder(model or "").resolve()


def _confidence(work: Path, plan: Plan) -> list[Step]:
    """Fit what weighs the network's proposals, and choose below what they are left undone."""
    data, corpus = work / "data", plan.corpus
    rest, held = data / "train2_rest.jsonl", data / "train2_held.jsonl"
    sets = [data / "sets" / f"{name}.csv" for name in QUESTIONS]
    dev, train = corpus / "dev.jsonl", corpus / "train.jsonl"
    weights = (plan.into / "weights.npz", plan.into / "vocabulary.txt")
    fit = _training("confidence", dev, *sets, held, "--known", train, "--known", rest, "--model", plan.into)
    sizes = [f"--seeds={plan.seeds}", f"--drill={plan.drill}", f"--space-drill={plan.space_drill}"]
    sizes += [f"--names={plan.names}", f"--intact={plan.intact}"]
    found = plan.numbers / "confidence.json"
    steps = [
        Step(
            "hold-out",
            "keep a part of the second corpus to measure on",
            (corpus / "train2.jsonl",),
            (rest, held),
            (_training("hold-out", corpus / "train2.jsonl", "--rest", rest, "--held", held),),
        ),
        Step(
            "sets",
            "make the five sets that each ask one question",
            (dev, held, train, ERRORS),
            (data / "sets",),
            (
                _training(
                    "sets", dev, held, "--known", train, "--out", data / "sets", "--count", plan.set_rows
                ),
            ),
        ),
        Step(
            "confidence",
            "fit the trees that weigh the network's proposals",
            (*weights, dev, *sets, held, train, rest, ERRORS),
            (*(plan.into / each for each in CONFIDENCE), found),
            ((*fit, *sizes, f"--json={found}"),),
        ),
    ]
    if plan.minimum == "choose":
        command = _training(
            "evaluate", dev, "--model", plan.into, "--choose", *_at_most("--limit", plan.rows)
        )
        read = (*weights, plan.into / "confidence.json", dev, ERRORS)
        steps.append(
            Step(
                "minimum",
                "choose the minimum confidence with the best F0.5",
                read,
                (plan.into / "config.json",),
                (command,),
            )
        )
    return steps


def _whole(folder: Path) -> tuple[Path, ...]:
    """What decides the answers of a model: its weights, and what weighs its proposals."""
    return tuple(folder / name for name in ("weights.npz", "config.json", "confidence.json"))


def _heads(work: Path, plan: Plan) -> list[Step]:
    """What each head does in sentences of our own, and whether what is looked at matters."""
    weights = (plan.into / "weights.npz", plan.into / "vocabulary.txt")
    pairs, survey = work / "data" / "own_pairs.csv", work / "heads"
    limit = _at_most("--limit", plan.head_pairs)
    sizes = ("--effects", str(plan.effects), "--pruning", str(plan.pruning), *map(str, limit))
    heads = (PYTHON, "-m", "model", "heads", str(pairs), "--out", str(survey), "--model", str(plan.into))
    errors, lines = work / "data" / "error_pairs.csv", work / "attention"
    found = plan.numbers / "attention.json"
    dev = plan.corpus / "dev.jsonl"
    return [
        Step(
            "pairs",
            "our own sentences with errors",
            (BENCHMARKS / "own_pairs.py", *sorted(BENCHMARKS.glob("everyday*.csv")), ERRORS),
            (pairs,),
            (_benchmark("own_pairs.py", pairs),),
        ),
        Step(
            "heads",
            "survey what each head does: heads.json",
            (*weights, pairs),
            (plan.into / "heads.json",),
            ((*heads, *sizes), _copy(survey / "heads.json", plan.into / "heads.json")),
        ),
        Step(
            "agreement",
            "leave out characters and heads in many edits: agreement.json",
            (*_whole(plan.into), dev, ERRORS, BENCHMARKS / "does_attention_matter.py"),
            (plan.into / "agreement.json", found),
            (
                _benchmark("error_pairs.py", dev, errors, "--sentences", plan.edit_sentences),
                _benchmark(
                    "does_attention_matter.py",
                    *(errors, "--out", lines, "--edits", plan.edits, "--model", plan.into),
                    *("--keep", plan.into, "--json", found),
                ),
            ),
        ),
    ]


def _scores(work: Path, plan: Plan) -> list[Step]:
    """How well the models correct, and what they leave alone."""
    corpus, numbers, assets = plan.corpus, plan.numbers, plan.into.parent
    rows = _at_most("--limit", plan.rows)

    def evaluated(file: Path, model: Path, out: Path) -> tuple[str, ...]:
        return _training("evaluate", file, "--model", model, *rows, "--json", out)

    dev, test = corpus / "dev.jsonl", corpus / "test.jsonl"
    whole, sets = _whole(plan.into), work / "data" / "sets"
    older = [assets / name for name in OLDER]
    questions = {sets / f"{name}.csv": numbers / "sets" / f"{name}.json" for name in QUESTIONS}
    development = (
        ("development", numbers / "development.json", ()),
        (
            "everything",
            numbers / "everything.json",
            ("--minimum-confidence", 0),
        ),
    )
    return [
        Step(
            "evaluation",
            "the development and the test sentences",
            (*whole, dev, test, ERRORS),
            (plan.into / "evaluation.json", numbers / "test.json"),
            (
                evaluated(dev, plan.into, plan.into / "evaluation.json"),
                evaluated(test, plan.into, numbers / "test.json"),
            ),
        ),
        Step(
            "older",
            "the development sentences for the other shipped models",
            (*(folder / "weights.npz" for folder in older), dev, ERRORS),
            tuple(folder / "evaluation.json" for folder in older),
            tuple(evaluated(dev, folder, folder / "evaluation.json") for folder in older),
        ),
        Step(
            "snapshots",
            "the snapshots of growing-up: snapshots.csv",
            (assets / "growing-up" / "snapshots", dev, ERRORS),
            (assets / "growing-up" / "snapshots.csv",),
            (_training("snapshots", assets / "growing-up", dev, "--limit", plan.snapshot_rows),),
        ),
        Step(
            "questions",
            "the five sets that each ask one question",
            (*whole, sets),
            tuple(questions.values()),
            tuple(evaluated(file, plan.into, out) for file, out in questions.items()),
        ),
        Step(
            "intact",
            "what must stay as it is",
            (*whole, ROOT / "training" / "intact", ERRORS),
            (numbers / "intact.json",),
            (
                _training(
                    *("intact", "--model", plan.into, "--count", plan.samples),
                    *("--json", numbers / "intact.json"),
                ),
            ),
        ),
        *(
            Step(
                name,
                f"our own sets, kind by kind{', with nothing left undone' if options else ''}",
                (
                    *whole,
                    BENCHMARKS / "development.py",
                    BENCHMARKS / "sets",
                    *sorted(BENCHMARKS.glob("*.csv")),
                ),
                (out,),
                (_benchmark("development.py", "--model", plan.into, "--counts", out, *options, *rows),),
            )
            for name, out, options in development
        ),
    ]


def _documents(plan: Plan) -> list[Step]:
    """The studies and pictures, and every number in the documents."""
    from training.documents.marks import DOCUMENTS

    numbers, images = plan.numbers, plan.documents / "docs" / "images"
    stories = numbers / "stories.json"
    told = [plan.documents / name for name in DOCUMENTS]
    measured = ("evaluation.json", "heads.json", "agreement.json", "config.json", "weights.npz")
    return [
        Step(
            "stories",
            "three heads in one sentence",
            (*_whole(plan.into), plan.into / "heads.json", BENCHMARKS / "head_stories.py"),
            (stories,),
            (_benchmark("head_stories.py", "--model", plan.into, "--json", stories),),
        ),
        Step(
            "pictures",
            "the pictures of the studies, and the app as the READMEs show it",
            (*_whole(plan.into), plan.into / "heads.json", PICTURES, ROOT / "ui", ROOT / "viz"),
            tuple(images / f"{name}.png" for name in SHOWN),
            (
                _benchmark("head_stories.py", "--model", plan.into, "--pictures", images),
                (PYTHON, str(PICTURES), str(images)),
            ),
        ),
        Step(
            "documents",
            "write all generated tables",
            (numbers, *(plan.into / each for each in measured), ROOT / "training" / "documents"),
            tuple(told),
            (_training("documents", "--root", plan.documents, "--model", plan.into),),
        ),
    ]
