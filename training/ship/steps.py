"""Steps of the release pipeline ``python -m training ship``, in order, and their settings.

A later step reads the files that an earlier one wrote. A step whose inputs have not changed is skipped.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from model.stored.folder import ASSETS, find_model_folder, model_name
from training.documents.render import DOCUMENTS
from training.documents.tables import QUESTIONS
from training.measure.natural import VERDICTS_FILE
from training.measure.sets import EVERYDAY, OWN_SETS
from training.options import knob
from training.ship.step import PYTHON, Step

ROOT = ASSETS.parent  # of the repository: the documents lie there
SHARE = click.FloatRange(0, 1)
# Makes the errors of every evaluation, so a change there asks for new numbers.
ERRORS = ROOT / "training" / "noise"
# These rooms decide a correction.
ANSWERS = tuple(
    ROOT / "model" / room for room in ("text", "norm", "activations", "network", "graph", "correction")
)
STUDIED = (*ANSWERS, ROOT / "model" / "analysis", ROOT / "model" / "survey")
MEASURE = ROOT / "training" / "measure"
WEIGHTS = ("weights.npz", "vocabulary.txt", "run.json", "history.csv")
CONFIDENCE = ("confidence.json", "words.txt.gz", "ngrams.npz")
OLDER = ("seq2seq", "growing-up")  # the other shipped models
PICTURES = tuple(ROOT / "docs" / f"{name}.py" for name in ("head_pictures", "pictures", "moving_picture"))
STORIES = ("heads-roles", "heads-effects", "heads-pruning", "head-loss", "head-for", "head-against")
SHOWN = (
    *("attention-light", "attention-dark", "steps-light", "laboratory-light"),
    *(f"{name}.{language}" for name in STORIES for language in ("ko", "en")),
)


def _folder(default: str | Path, help: str) -> Any:
    # Resolved, because the commands of the steps run in the repository's folder.
    kind = click.Path(file_okay=False, path_type=Path, resolve_path=True)
    return knob(Path(default), help, type=kind)


def _size(default: int, help: str) -> Any:
    return knob(default, help, type=click.IntRange(min=0))


@dataclass(frozen=True)
class ShipPlan:
    """The settings of one shipping.

    The default sizes are those of the shipped measurements; a rehearsal takes smaller ones.
    """

    corpus: Path = _folder("corpus", "Holds train, train2, dev, test, real_pairs and unseen.jsonl.")  # noqa: RUF009
    last: int | None = knob(
        None, "Ship the mean of the run's last so many snapshots.", type=click.IntRange(min=2)
    )
    other: str | None = knob(None, "Ship an average with this model.", option="--with", metavar="MODEL")
    share: tuple[float, ...] = knob(
        (), "The run's share in it [0.5]; of several the best is chosen.", multiple=True, type=SHARE
    )
    name: str = knob("", "What the documents call these weights, as 'run 58'. [default: the run's name]")
    minimum: str = knob("keep", "Minimum confidence: keep, choose, or a number.", metavar="HOW")
    into: Path = _folder(ASSETS / "transformer", "The model folder that is shipped.")  # noqa: RUF009
    documents: Path = _folder(ROOT, "Holds README.md, docs and benchmarks.")  # noqa: RUF009
    seeds: int = _size(3, "Confidence: errors made for each sentence.")
    drill: int = _size(9000, "Confidence: phrases with a native mistake.")
    space_drill: int = _size(3000, "Confidence: phrases with a misplaced space.")
    names: int = _size(6000, "Confidence: sentences with a made-up name.")
    practised: int = _size(15000, "Confidence: pairs of the practices.")
    intact: int = _size(9000, "Confidence: right sentences of the training text.")
    effects: int = _size(377, "Heads: pairs in which each head is removed in turn.")
    pruning: int = _size(408, "Heads: pairs judged as more and more heads are removed.")
    head_pairs: int = _size(0, "Heads: only the first so many pairs; 0 takes all.")
    edits: int = _size(1000, "Attention: edits in which each character is left out in turn.")
    edit_sentences: int = _size(1500, "Attention: sentences in which errors are made for them.")
    answers: int = _size(416, "Answers: sentences of which it is asked who wrote each fix.")
    circuits: int = _size(100, "Answers: of them, those whose circuits are found.")
    heard: int = _size(800, "Heard: pairs; half of them fit the probes.")
    heard_edits: int = _size(300, "Heard: edits that are asked without what is heard.")
    rows: int = _size(0, "Evaluation: only so many rows of each file; 0 takes all.")
    set_rows: int = _size(500, "Sets: sentences with an error in each.")
    samples: int = _size(1000, "Intact: sentences to make.")
    snapshot_rows: int = _size(1500, "Snapshots of growing-up: rows to measure each on.")

    def __post_init__(self) -> None:
        if self.last is not None and self.other is not None:
            raise ValueError("--last and --with are two ways to average: give one of them")
        if self.minimum not in ("keep", "choose") and not 0 <= float(self.minimum) <= 1:
            raise ValueError(f"--minimum is keep, choose or a number from 0 to 1, received {self.minimum}")

    @property
    def numbers(self) -> Path:
        """Folder of the measurements that the app does not read.

        >>> ShipPlan(documents=Path("place")).numbers.as_posix()
        'place/docs/numbers'
        """
        return self.documents / "docs" / "numbers"

    @property
    def dev(self) -> Path:
        """The development sentences.

        >>> ShipPlan(corpus=Path("corpus")).dev.as_posix()
        'corpus/dev.jsonl'
        """
        return self.corpus / "dev.jsonl"

    @property
    def limit(self) -> tuple[object, ...]:
        """The option of the commands that read at most ``rows`` rows.

        >>> ShipPlan().limit, ShipPlan(rows=9).limit
        ((), ('--limit', 9))
        """
        return ("--limit", self.rows) if self.rows else ()

    @property
    def network(self) -> tuple[Path, ...]:
        """The files of the shipped network alone.

        >>> [path.name for path in ShipPlan().network]
        ['weights.npz', 'vocabulary.txt']
        """
        return self.into / "weights.npz", self.into / "vocabulary.txt"

    @property
    def whole(self) -> tuple[Path, ...]:
        """All that decides the answers of the shipped model: its weights, the trees of its confidence, and
        the code.
        """
        return (
            *(self.into / name for name in ("weights.npz", "config.json", "confidence.json")),
            *ANSWERS,
        )


def _command(module: str, *arguments: object) -> tuple[str, ...]:
    return (PYTHON, "-m", *module.split(), *map(str, arguments))


def _copied(source: Path, target: Path, *options: object) -> tuple[str, ...]:
    return _command("training.ship.copy copy", source, target, *options)


def _evaluated(plan: ShipPlan, file: Path, model: Path, out: Path) -> tuple[str, ...]:
    return _command("training evaluate", file, "--model", model, *plan.limit, "--json", out)


def steps_of(run: Path, plan: ShipPlan) -> list[Step]:
    """All steps for the weights in ``run``. Files that only they need lie in ``run/ship``.

    >>> [step.name for step in steps_of(Path("run"), ShipPlan())][:3]
    ['past', 'take', 'export']
    """
    work = run / "ship"
    return [
        *_weights(run, work, plan),
        *_confidence(work, plan),
        *_heads(work, plan),
        *_answers(work, plan),
        *_sentences(plan),
        *_sets(work, plan),
        *_natural(plan),
        *_documents(plan),
    ]


def _weights(run: Path, work: Path, plan: ShipPlan) -> Iterable[Step]:
    """Keep the numbers that are overwritten, average, and put the result where the app looks for it."""
    chosen = work / "model"
    minimum = () if plan.minimum in ("keep", "choose") else ("--minimum", plan.minimum)
    named = ("--keep-minimum", *minimum, "--name", plan.name or run.name, "--numbers", plan.numbers)
    past = _command("training documents", "--past", "--root", plan.documents, "--model", plan.into)
    yield Step(
        "past",
        "add the numbers of the weights shipped until now to the tables of earlier ones",
        (),
        (plan.numbers / "past",),
        (past,),
        once=True,
    )
    yield from _average(run / "model" if (run / "model").is_dir() else run, work, chosen, plan)
    yield Step(
        "export",
        "put the weights and their record into the model's folder",
        (chosen,),
        (*(plan.into / each for each in WEIGHTS), plan.numbers / "weights.json"),
        (_copied(chosen, plan.into, *named),),
    )


def _average(own: Path, work: Path, chosen: Path, plan: ShipPlan) -> Iterable[Step]:
    """Take the run's weights as they are, the mean of its last snapshots, or the best of averages with
    another model.
    """
    if plan.last:
        command = _command("training average", own, "--last", plan.last, "--out", chosen)
        yield Step("average", f"the mean of the last {plan.last} snapshots", (own,), (chosen,), (command,))
        return
    if not plan.other:
        own_weights = (own / "weights.npz",)
        yield Step("take", "the run's weights as they are", own_weights, (chosen,), (_copied(own, chosen),))
        return
    found = find_model_folder(plan.other).resolve()
    # The other model may be the one that is shipped now, and then it is overwritten below.
    other = work / "with" / model_name(found)
    shares = plan.share or (0.5,)
    averages = {share: work / "averages" / f"{share:g}" for share in shares}
    if len(shares) == 1:
        averages = {shares[0]: chosen}
    keep = _copied(found, other)
    yield Step("with", "keep the model that is averaged with", (), (other,), (keep,), once=True)
    yield Step(
        "average",
        f"averages with {other.name}",
        (other, own / "weights.npz"),
        tuple(averages.values()),
        tuple(
            _command("training average", other, own, "--share", share, "--out", out)
            for share, out in averages.items()
        ),
    )
    if len(shares) > 1:
        yield _choose(averages, chosen, plan)


def _choose(averages: dict[float, Path], chosen: Path, plan: ShipPlan) -> Step:
    """The average with the best F0.5 on the development sentences, each at its best minimum confidence."""
    measured = {share: chosen.parent / "averages" / f"{share:g}.json" for share in averages}
    evaluated = (_evaluated(plan, plan.dev, averages[share], measured[share]) for share in averages)
    pairs = (each for share in averages for each in (averages[share], measured[share]))
    return Step(
        "choose",
        "the average that corrects best",
        (*averages.values(), *ANSWERS, plan.dev, ERRORS),
        (chosen,),
        (*evaluated, _command("training.ship.copy choose", chosen, *pairs)),
    )


def _confidence(work: Path, plan: ShipPlan) -> Iterable[Step]:
    """Fit the confidence of the network's proposals, and choose the confidence below which a proposal is not
    made.
    """
    data, train, second = work / "data", plan.corpus / "train.jsonl", plan.corpus / "train2.jsonl"
    rest, held = data / "train2_rest.jsonl", data / "train2_held.jsonl"
    sets = [data / "sets" / f"{name}.csv" for name in QUESTIONS]
    yield Step(
        "hold-out",
        "keep a part of the second corpus to measure on",
        (second,),
        (rest, held),
        (_command("training hold-out", second, "--rest", rest, "--held", held),),
    )
    made = ("--known", train, "--out", data / "sets", "--count", plan.set_rows)
    yield Step(
        "sets",
        "make the five sets that each ask one question",
        (plan.dev, held, train, ERRORS),
        (data / "sets",),
        (_command("training sets", plan.dev, held, *made),),
    )
    known = ("--known", train, "--known", rest, "--model", plan.into)
    sizes = [f"--seeds={plan.seeds}", f"--drill={plan.drill}", f"--space-drill={plan.space_drill}"]
    sizes += [f"--names={plan.names}", f"--practised={plan.practised}", f"--intact={plan.intact}"]
    found = plan.numbers / "confidence.json"
    yield Step(
        "confidence",
        "fit the trees that weigh the network's proposals",
        (*plan.network, *ANSWERS, plan.dev, *sets, held, train, rest, ERRORS),
        (*(plan.into / each for each in CONFIDENCE), found),
        (_command("training confidence", plan.dev, *sets, held, *known, *sizes, f"--json={found}"),),
    )
    if plan.minimum == "choose":
        yield Step(
            "minimum",
            "choose the minimum confidence with the best F0.5",
            (*plan.network, *ANSWERS, plan.into / "confidence.json", plan.dev, ERRORS),
            (plan.into / "config.json",),
            (_command("training evaluate", plan.dev, "--model", plan.into, "--choose", *plan.limit),),
        )


def _heads(work: Path, plan: ShipPlan) -> Iterable[Step]:
    """Roles and effects of each head in sentences of our own, and the agreement of attribution with
    occlusion.
    """
    pairs, survey = work / "data" / "own_pairs.csv", work / "heads"
    yield Step(
        "pairs",
        "our own sentences with errors",
        (MEASURE / "sets.py", *EVERYDAY, ERRORS),
        (pairs,),
        (_command("training pairs", pairs),),
    )
    sizes = ("--effects", plan.effects, "--pruning", plan.pruning, "--answers", plan.effects)
    limit = ("--limit", plan.head_pairs) if plan.head_pairs else ()
    heads = _command("model heads", pairs, "--out", survey, "--model", plan.into, *sizes, *limit)
    yield Step(
        "heads",
        "survey what each head does: heads.json",
        (*plan.network, *STUDIED, pairs),
        (plan.into / "heads.json",),
        (heads, _copied(survey / "heads.json", plan.into / "heads.json")),
    )
    errors, found = work / "data" / "error_pairs.csv", plan.numbers / "attention.json"
    out = ("--out", work / "attention", "--edits", plan.edits, "--keep", plan.into, "--json", found)
    yield Step(
        "agreement",
        "leave out characters and heads in many edits: agreement.json",
        (*plan.whole, *STUDIED, plan.dev, ERRORS, MEASURE / "studies.py"),
        (plan.into / "agreement.json", found),
        (_error_pairs(errors, plan), _command("training agreement", errors, "--model", plan.into, *out)),
    )


def _error_pairs(out: Path, plan: ShipPlan) -> tuple[str, ...]:
    return _command("training pairs", out, plan.dev, "--sentences", plan.edit_sentences)


def _answers(work: Path, plan: ShipPlan) -> Iterable[Step]:
    """Attention, attribution and ablation in edits of the development sentences, and linear probes of the
    encoder.
    """
    errors, out, heard = work / "data" / "error_pairs.csv", work / "answers", plan.numbers / "heard.json"
    # Only edits are asked, and about two thirds of the sentences have an error: twice as many are read. Roles
    # are counted in all of them.
    sizes = {"limit": 2 * plan.answers, "effects": 0, "pruning": 0}
    sizes |= {"answers": plan.answers, "circuits": plan.circuits}
    options = (each for name, size in sizes.items() for each in (f"--{name}", size))
    survey = _command("model heads", errors, "--out", out, "--model", plan.into, *options)
    yield Step(
        "answers",
        "who looked, wrote and mattered in many edits: answers.json",
        (*plan.network, *STUDIED, plan.dev, ERRORS),
        (plan.into / "answers.json",),
        (
            _error_pairs(errors, plan),
            survey,
            _copied(out / "answers.json", plan.into / "answers.json"),
        ),
    )
    edits = ("--edits", plan.heard_edits, "--json", heard)
    yield Step(
        "heard",
        "what the encoder hears next, and what happens without it: heard.json",
        (*plan.network, *STUDIED, plan.dev, ERRORS, MEASURE / "heard.py"),
        (heard,),
        (_command("training heard", plan.dev, "--model", plan.into, "--sentences", plan.heard, *edits),),
    )


def _sentences(plan: ShipPlan) -> Iterable[Step]:
    """How well all shipped models correct the sentences of the corpus."""
    assets, test = plan.into.parent, plan.corpus / "test.jsonl"
    older = [assets / name for name in OLDER]
    results = {plan.dev: plan.into / "evaluation.json", test: plan.numbers / "test.json"}
    yield Step(
        "evaluation",
        "the development and the test sentences",
        (*plan.whole, *results, ERRORS),
        tuple(results.values()),
        tuple(_evaluated(plan, file, plan.into, out) for file, out in results.items()),
    )
    yield Step(
        "older",
        "the development sentences for the other shipped models",
        (*(folder / "weights.npz" for folder in older), *ANSWERS, plan.dev, ERRORS),
        tuple(folder / "evaluation.json" for folder in older),
        tuple(_evaluated(plan, plan.dev, folder, folder / "evaluation.json") for folder in older),
    )
    small = assets / "growing-up"
    yield Step(
        "snapshots",
        "the snapshots of growing-up: snapshots.csv",
        (small / "snapshots", *ANSWERS, plan.dev, ERRORS),
        (small / "snapshots.csv",),
        (_command("training snapshots", small, plan.dev, "--limit", plan.snapshot_rows),),
    )


def _sets(work: Path, plan: ShipPlan) -> Iterable[Step]:
    """Sets that ask one question each, sentences with parts that must stay unchanged, and our own sets."""
    numbers, sets = plan.numbers, work / "data" / "sets"
    questions = {sets / f"{name}.csv": numbers / "sets" / f"{name}.json" for name in QUESTIONS}
    yield Step(
        "questions",
        "the five sets that each ask one question",
        (*plan.whole, sets),
        tuple(questions.values()),
        tuple(_evaluated(plan, file, plan.into, out) for file, out in questions.items()),
    )
    intact = ("--count", plan.samples, "--json", numbers / "intact.json")
    yield Step(
        "intact",
        "what must stay as it is",
        (*plan.whole, ROOT / "training" / "intact", ERRORS),
        (numbers / "intact.json",),
        (_command("training intact", "--model", plan.into, *intact),),
    )
    for name, undone, options in (
        ("development", "", ()),
        ("everything", ", with nothing left undone", ("--minimum-confidence", 0)),
    ):
        out = numbers / f"{name}.json"
        counts = ("--counts", out, *options, *plan.limit)
        yield Step(
            name,
            f"our own sets, kind by kind{undone}",
            (*plan.whole, MEASURE / "sets.py", OWN_SETS / "sets", *sorted(OWN_SETS.glob("*.csv"))),
            (out,),
            (_command("training development", "--model", plan.into, *counts),),
        )


def _natural(plan: ShipPlan) -> Iterable[Step]:
    """Text as people write it, of sources that no training has read."""
    real, unseen = plan.corpus / "real_pairs.jsonl", plan.corpus / "unseen.jsonl"
    for name, purpose, files in (
        ("natural", "mistakes that people made, at the rate at which they make them", (real, unseen)),
        ("unseen", "right sentences alone", (unseen,)),
    ):
        out = plan.numbers / f"{name}.json"
        yield Step(
            name,
            purpose,
            (*plan.whole, *files, MEASURE / "natural.py", VERDICTS_FILE),
            (out,),
            (_command(f"training {name}", *files, "--model", plan.into, "--json", out),),
        )


def _documents(plan: ShipPlan) -> Iterable[Step]:
    """The studies and pictures, and every number in the documents."""
    numbers, images = plan.numbers, plan.documents / "docs" / "images"
    stories, lesson = numbers / "stories.json", numbers / "lesson.json"
    model = ("--model", plan.into)
    sentences = ROOT / "training" / "documents" / "templates" / "lessons" / "sentences.csv"
    yield Step(
        "stories",
        "three heads in one sentence",
        (*plan.whole, plan.into / "heads.json", MEASURE / "studies.py"),
        (stories,),
        (_command("training stories", *model, "--json", stories),),
    )
    yield Step(
        "lesson",
        "choose the sentence of the lesson plans, and measure what they say",
        (*plan.whole, MEASURE / "lesson.py", sentences),
        (lesson,),
        (_command("training lesson", *model, "--json", lesson),),
    )
    heads, pages, film = map(str, PICTURES)
    yield Step(
        "pictures",
        "the pictures of the studies, and the app as the READMEs show it",
        (*plan.whole, plan.into / "heads.json", *PICTURES, ROOT / "ui", ROOT / "viz"),
        (
            *(images / f"{name}.png" for name in SHOWN),
            *(images / f"mend-{colours}.webp" for colours in ("light", "dark")),
        ),
        (
            (PYTHON, heads, str(images), *map(str, model)),
            (PYTHON, pages, str(images)),
            (PYTHON, film, str(images), *map(str, model)),
        ),
    )
    files = ("evaluation", "heads", "agreement", "answers", "config")
    yield Step(
        "documents",
        "write all generated tables",
        (
            numbers,
            *(plan.into / f"{name}.json" for name in files),
            plan.into / "weights.npz",
            ROOT / "training" / "documents",
        ),
        tuple(plan.documents / name for name in DOCUMENTS),
        (_command("training documents", "--root", plan.documents, *model),),
    )
