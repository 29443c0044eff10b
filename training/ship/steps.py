"""Steps of the release by ``python -m training ship``, and the record of finished ones.

A later step reads the files that an earlier one wrote. A step whose inputs have not changed is skipped. The
steps are declared in ``steps.toml``.
"""

import ast
import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import click

from model.stored.folder import ASSETS, DEFAULT_MODEL, find_model_folder, model_name, write_atomically
from training.documents.render import DOCUMENTS
from training.documents.tables import QUESTIONS
from training.measure.natural import VERDICTS_FILE
from training.measure.sets import EVERYDAY, OWN_SETS
from training.options import SHARE, knob

# Stands for the interpreter that runs ``ship``, so that a command reads as one would type it.
PYTHON = "python"


@dataclass(frozen=True)
class Step:
    """One step; ``steps_of`` has all of them.

    >>> outputs, commands = (Path("words.csv"),), ((PYTHON, "count.py"),)
    >>> count = Step("words", "count the words", inputs=(), outputs=outputs, commands=commands)
    >>> count.name, count.missing()
    ('words', [])
    """

    name: str
    purpose: str  # half a line
    inputs: tuple[Path, ...]  # files, and folders with all that is in them
    outputs: tuple[Path, ...]
    commands: tuple[tuple[str, ...], ...]  # run one after the other in the repository's folder
    once: bool = False  # it keeps files that later steps overwrite, so it must not be repeated afterwards

    def fingerprint(self) -> str:
        """A key that changes when a command or the content of an input changes.

        >>> len(Step("a", "", (), (), ()).fingerprint())
        12
        """
        key = json.dumps([self.commands, [digest(path) for path in self.inputs]])
        return hashlib.sha256(key.encode()).hexdigest()[:12]

    def missing(self) -> list[Path]:
        """The inputs that are not there.

        >>> Step("a", "", (Path("no such file"),), (), ()).missing()
        [PosixPath('no such file')]
        """
        return [path for path in self.inputs if not path.exists()]


def digest(path: Path) -> str | None:
    """12 digits for the content of a file, or of all files in a folder; None where there is neither.

    Content and not the time of change decides: git gives every file of a checkout a new time. Of Python files
    only the code counts, so that a better docstring asks for no new measurement.

    >>> digest(Path("no such file")) is None
    True
    """
    if not path.exists():
        return None
    found = hashlib.sha256()
    for file in _files(path):
        found.update(f"{file.relative_to(path)}\0".encode())
        if file.suffix == ".py":
            found.update(_code(file.read_text("utf-8")))
        else:
            with file.open("rb") as stream:
                found.update(hashlib.file_digest(stream, "sha256").digest())
    return found.hexdigest()[:12]


@lru_cache(maxsize=1024)  # steps read the same files, and a step's are read again when it is done
def _code(text: str) -> bytes:
    """The code of a Python file: its syntax tree, which has no comments, and no docstrings here."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            del node.body[0]
    return ast.dump(tree).encode()


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


class Journal:
    """The steps that are done, with digests of their inputs and outputs: ``ship.json`` beside a run."""

    def __init__(self, path: Path):
        self.path = path
        self._done: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def is_done(self, step: Step) -> bool:
        """Whether the step was made by these commands from these inputs, and its outputs are unchanged.

        >>> Journal(Path("no such file")).is_done(Step("a", "", (), (), ()))
        False
        """
        entry = self._done.get(step.name)
        if entry is None:
            return False
        if step.once:
            return True
        return entry["made_from"] == step.fingerprint() and entry["left"] == _left(step)

    def record(self, step: Step, seconds: float) -> None:
        """Note that the step was made, in so many seconds.

        Raises OSError where the journal cannot be written.
        """
        self._done[step.name] = {
            "made_from": step.fingerprint(),
            "left": _left(step),
            "seconds": round(seconds, 1),
        }
        text = json.dumps(self._done, indent=1) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, lambda file: file.write(text.encode()))

    def seconds(self, step: Step) -> float | None:
        """How long the step took when it was made last. In seconds; None for a step that was never made."""
        return self._done.get(step.name, {}).get("seconds")


def _left(step: Step) -> list[str | None]:
    return [digest(path) for path in step.outputs]


_NAME = re.compile(r"\{(\w+)\}")
ROOT = ASSETS.parent  # of the repository: the documents lie there
# Makes the errors of every evaluation, so a change there asks for new numbers.
ERRORS = ROOT / "training" / "noise"
# These rooms decide a correction.
ANSWERS = tuple(
    ROOT / "model" / room for room in ("text", "norm", "activations", "network", "graph", "correction")
)
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

    corpus: Path = _folder("corpus", "Holds train, train2, dev, test, real_pairs and unseen.jsonl.")
    last: int | None = knob(
        None, "Ship the mean of the run's last so many snapshots.", type=click.IntRange(min=2)
    )
    other: str | None = knob(None, "Ship an average with this model.", option="--with", metavar="MODEL")
    share: tuple[float, ...] = knob(
        (), "The run's share in it [0.5]; of several the best is chosen.", multiple=True, type=SHARE
    )
    name: str = knob("", "What the documents call these weights, as 'run 58'. [default: the run's name]")
    minimum: str = knob("keep", "Minimum confidence: keep, choose, or a number.", metavar="HOW")
    into: Path = _folder(ASSETS / DEFAULT_MODEL, "The model folder that is shipped.")
    documents: Path = _folder(ROOT, "Holds README.md, docs and benchmarks.")
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


def steps_of(run: Path, plan: ShipPlan) -> list[Step]:
    """All steps for the weights in ``run``. Files that only they need lie in ``run/ship``.

    >>> [step.name for step in steps_of(Path("run"), ShipPlan())][:3]
    ['past', 'take', 'export']
    """
    values = _values(run, plan)
    declared = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for name, text in declared.pop("names").items():
        words = _filled(text, values)
        values[name] = words[0] if len(words) == 1 else words
    chosen = (name for name, step in declared.items() if values.get(step.get("when", "always"), True))
    return [_declared(name, declared[name], values) for name in chosen]


def _values(run: Path, plan: ShipPlan) -> dict[str, Any]:
    """Values of the names in ``steps.toml`` that it does not define: the plan's settings, files, options."""
    work, other = run / "ship", plan.other
    found = find_model_folder(other).resolve() if other else None
    shares = tuple(map(str, plan.share or (0.5,))) if other and not plan.last else ()
    return vars(plan) | {
        "own": run / "model" if (run / "model").is_dir() else run,
        "chosen": work / "model",
        "called": plan.name or run.name,
        "found": found,
        "with": work / "with" / model_name(found) if found else None,
        "shares": shares,
        "measured": [f"{work}/averages/{share}{end}" for share in shares for end in ("", ".json")],
        "is_alone": not (plan.last or other),
        "is_one": len(shares) == 1,
        "is_several": len(shares) > 1,
        "given_minimum": () if plan.minimum in ("keep", "choose") else ("--minimum", plan.minimum),
        "root": ROOT,
        "assets": plan.into.parent,
        "work": work,
        "errors": ERRORS,
        "answering": ANSWERS,
        "verdicts": VERDICTS_FILE,
        "everyday": EVERYDAY,
        "own_sets": (OWN_SETS / "sets", *sorted(OWN_SETS.glob("*.csv"))),
        "questions": QUESTIONS,
        "shown": SHOWN,
        "names_of_documents": DOCUMENTS,
        "choose": plan.minimum == "choose",
        "limit": ("--limit", plan.rows) if plan.rows else (),
        "head_limit": ("--limit", plan.head_pairs) if plan.head_pairs else (),
        # Only edits are asked, and about two thirds of the sentences have an error: twice as many are read.
        # Roles are counted in all of them.
        "sentences_of_answers": 2 * plan.answers,
    }


def _declared(name: str, step: dict[str, Any], values: dict[str, Any]) -> Step:
    """A step of ``steps.toml`` with its values put in."""
    each = [{**values, "each": one} for one in values[step["each"]]] if "each" in step else [values]
    outputs = dict.fromkeys(path for own in each for path in _filled(step["to"], own))
    commands = [_filled(line, own) for own in each for line in step["run"]]
    commands += [_filled(line, values) for line in step.get("then", ())]
    return Step(
        step.get("name", name),
        step["purpose"].format_map(values),
        tuple(map(Path, _filled(step["from"], values))),
        tuple(map(Path, outputs)),
        tuple((PYTHON, *(words if words[0].endswith(".py") else ("-m", *words))) for words in commands),
        step.get("once", False),
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
