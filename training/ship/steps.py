"""Steps of the release pipeline ``python -m training ship``, in order, and their settings.

A later step reads the files that an earlier one wrote. A step whose inputs have not changed is skipped. The
steps that choose the weights depend on the plan; the others are declared in ``steps.toml``.
"""

import re
import tomllib
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

_NAME = re.compile(r"\{(\w+)\}")
ROOT = ASSETS.parent  # of the repository: the documents lie there
SHARE = click.FloatRange(0, 1)
# Makes the errors of every evaluation, so a change there asks for new numbers.
ERRORS = ROOT / "training" / "noise"
# These rooms decide a correction.
ANSWERS = tuple(
    ROOT / "model" / room for room in ("text", "norm", "activations", "network", "graph", "correction")
)
WEIGHTS = ("weights.npz", "vocabulary.txt", "run.json", "history.csv")
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
    claimed: int = _size(200, "Attention: edits whose claims are tested.")
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
    values = _values(run / "ship", plan)
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for name, text in declared.pop("names").items():
        words = _filled(text, values)
        values[name] = words if len(words) > 1 else words[0]
    chosen = (name for name, step in declared.items() if values.get(step.get("when", "always"), True))
    return [*_weights(run, plan), *(_declared(name, declared[name], values) for name in chosen)]


def _values(work: Path, plan: ShipPlan) -> dict[str, Any]:
    """Values of the names in ``steps.toml`` that do not stand there: the plan's settings, files, options."""
    return vars(plan) | {
        "root": ROOT,
        "assets": plan.into.parent,
        "work": work,
        "errors": ERRORS,
        "answering": ANSWERS,
        "verdicts": VERDICTS_FILE,
        "everyday": EVERYDAY,
        "own_sets": (OWN_SETS / "sets", *sorted(OWN_SETS.glob("*.csv"))),
        "questions": QUESTIONS,
        "dev": plan.dev,
        "numbers": plan.numbers,
        "shown": SHOWN,
        "names_of_documents": DOCUMENTS,
        "choose": plan.minimum == "choose",
        "limit": plan.limit,
        "head_limit": ("--limit", plan.head_pairs) if plan.head_pairs else (),
        # Only edits are asked, and about two thirds of the sentences have an error: twice as many are read.
        # Roles are counted in all of them.
        "sentences_of_answers": 2 * plan.answers,
    }


def _declared(name: str, step: dict[str, Any], values: dict[str, Any]) -> Step:
    """A step of ``steps.toml`` with its values put in."""
    each = [{**values, "each": one} for one in values[step["each"]]] if "each" in step else [values]
    outputs = [path for own in each for path in _filled(step["to"], own)]
    commands = [_filled(line, own) for own in each for line in step["run"]]
    return Step(
        name,
        step["purpose"],
        tuple(map(Path, _filled(step["from"], values))),
        tuple(map(Path, outputs)),
        tuple((PYTHON, *(words if words[0].endswith(".py") else ("-m", *words))) for words in commands),
    )


def _filled(text: str, values: dict[str, Any]) -> list[str]:
    """The words of a text with their values, and a word for each of several values.

    >>> _filled("{a}/{some}.csv", {"a": 1, "some": ("x", "y")})
    ['1/x.csv', '1/y.csv']
    """
    words = []
    for word in text.split():
        lists = [name for name in _NAME.findall(word) if isinstance(values[name], tuple | list)]
        each = [values | {lists[0]: one} for one in values[lists[0]]] if lists else [values]
        words += [word.format_map(own) for own in each]
    return words


def _weights(run: Path, plan: ShipPlan) -> Iterable[Step]:
    """Keep the numbers that are overwritten, average, and put the result where the app looks for it."""
    work, chosen = run / "ship", run / "ship" / "model"
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
