"""Commands ``pack`` and ``recipe``: packed training files, and training by stages.

``python -m training pack`` makes the files of a training small enough to carry to another machine. ``python
-m training recipe`` trains from nothing, stage by stage, as ``recipe.toml`` says.
"""

import json
import lzma
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click

from model.correction.morphemes import MorphemeTable, join, join_key, load_kiwi, usual_cuts, words_of
from model.stored.folder import write_atomically
from training.corpus.corpus import CHECKED, Pair, Sentence, read_corpus
from training.corpus.selection import spacing_faults
from training.noise import everyday
from training.options import FOLDER, PATH, UnusableError, command
from training.run.stream import StreamSettings

CORPUS_FILE, PAIRS_FILE, DEV_FILE = (f"{name}.jsonl.xz" for name in ("corpus", "pairs", "dev"))
TABLE_FILE = "morphemes.json.xz"
_CHUNK = 2000  # sentences that a process cuts at a time


def packed_row(row: Sentence | Pair) -> str:
    """One line of a packed file: a row of the corpus, marked as checked."""
    if isinstance(row, Pair):
        pair = {"wrong": row.source, "right": row.target, "source": row.collection}
        return json.dumps(pair, ensure_ascii=False)
    values: dict[str, object] = {"text": row.text, CHECKED: 1}
    values |= {"source": row.source} if row.source else {}
    values |= {"mt": 1} if row.machine_translated else {}
    return json.dumps(values, ensure_ascii=False)


def _everyday_joins() -> dict[str, str]:
    """Everything that ``noise.everyday`` can ask Kiwi to join: particles to nouns, and endings to stems."""
    asked = set()
    for said in everyday.predicates():
        if said.particle:
            tag = everyday.PARTICLES[said.particle]
            asked |= {((noun, "NNG"), (said.particle, tag)) for noun in said.nouns}
        endings = {each.joined for at in ("middle", "final") for some in said.endings(at) for each in some}
        for ending, tag in product(endings, ("ETM", "EC")):
            asked.add(((said.stem, said.tag), (ending, tag)))
    return {join_key(morphemes): join(morphemes) for morphemes in sorted(asked)}


class Analysed(NamedTuple):
    """Kiwi's morphemes of some sentences."""

    cuts: Counter[tuple[str, tuple[Any, ...]]]  # how often each (word, cut) was met
    misspaced: list[bool]  # of each sentence


def _analyse(texts: list[str]) -> Analysed:
    cuts: Counter[tuple[str, tuple[Any, ...]]] = Counter()
    misspaced = []
    for text in texts:
        tokens = load_kiwi().tokenize(text)
        cuts.update(words_of(text, [(token.tag, token.start, token.end) for token in tokens]))
        misspaced.append(any(spacing_faults(text, tokens)))
    return Analysed(cuts, misspaced)


def analyse(texts: list[str], workers: int) -> Analysed:
    """Cut and check sentences in several processes, because Kiwi takes one to two milliseconds for each."""
    whole = Analysed(Counter(), [])
    chunks = [texts[i : i + _CHUNK] for i in range(0, len(texts), _CHUNK)]
    with ProcessPoolExecutor(workers) as pool, click.progressbar(length=len(texts)) as bar:
        for chunk, found in zip(chunks, pool.map(_analyse, chunks), strict=True):
            whole.cuts.update(found.cuts)
            whole.misspaced.extend(found.misspaced)
            bar.update(len(chunk))
    return whole


def _rows(paths: Iterable[Path]) -> list[Sentence | Pair]:
    """The rows of the files that a training would read, without those that are too long."""
    return [row for path in paths for row in read_corpus(path).up_to(StreamSettings.max_length).rows]


def _write(path: Path, rows: Iterable[Sentence | Pair]) -> None:
    text = "".join(f"{packed_row(row)}\n" for row in rows).encode()
    write_atomically(path, lambda file: file.write(lzma.compress(text)))
    click.echo(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")


@command("pack")
@click.argument("out", type=FOLDER)
@click.option("--corpus", multiple=True, required=True, type=PATH, help="As for train.")
@click.option("--dev", type=PATH, help="As for train.")
@click.option("--workers", default=1, show_default=True, help="Processes that ask Kiwi.")
def pack_command(out: Path, corpus: tuple[Path, ...], dev: Path | None, workers: int) -> None:
    """Write into OUT the files that ``train`` needs where neither the corpus nor Kiwi's model can be brought.

    The sentences are checked here once, and compressed to an eighth. Those in which by Kiwi's morphemes a
    space is missing or too many are left out: a network learns to leave a misspelling that it often reads.
    The third file stands in for Kiwi: train --corpus OUT/corpus.jsonl.xz --dev OUT/dev.jsonl.xz --morphemes
    OUT/morphemes.json.xz
    """
    out.mkdir(parents=True, exist_ok=True)
    rows = _rows(corpus)
    said = analyse([row.text if isinstance(row, Sentence) else row.target for row in rows], workers)
    kept = [row for row, misspaced in zip(rows, said.misspaced, strict=True) if not misspaced]
    click.echo(f"{len(rows) - len(kept):,} of {len(rows):,} are misspaced and left out")
    for name, kind in ((CORPUS_FILE, Sentence), (PAIRS_FILE, Pair)):  # a file holds rows of one kind
        if some := [row for row in kept if isinstance(row, kind)]:
            _write(out / name, some)
    if dev:
        _write(out / DEV_FILE, _rows([dev]))
    MorphemeTable(usual_cuts(said.cuts), _everyday_joins()).write(out / TABLE_FILE)
    click.echo(f"{out / TABLE_FILE}: {(out / TABLE_FILE).stat().st_size / 2**20:.1f} MiB")


RECIPE = Path(__file__).with_name("recipe.toml")


def stage_arguments(
    recipe: dict[str, Any],
    folder: Path,
    out: Path,
    workers: int = 1,
    changed: Mapping[str, str] | None = None,
) -> list[list[str]]:
    """For each stage the arguments of ``python -m training``.

    Args:
        recipe: The content of a recipe.
        folder: Holds the files of its data.
        out: Gets a folder for each stage.
        workers: Processes that make pairs.
        changed: Options in place of those of each stage; an empty value leaves the option out.

    Raises:
        KeyError, TypeError, AttributeError: for another file.
    """
    data = recipe["data"]
    files = [f"--corpus={folder / name}" for name in data["corpus"]]
    files += [f"--weight={name}={weight}" for name, weight in recipe.get("weights", {}).items()]
    files += [f"--dev={folder / data['dev']}"]
    arguments: list[list[str]] = []
    before: Path | None = None
    for stage in recipe["stage"]:
        options = {**recipe.get("all", {}), **stage}
        own = out / options.pop("name")
        if before:
            options = {"init": before, **options}
        options |= changed or {}
        given = [f"--{name}={value}" for name, value in options.items() if value != ""]
        arguments.append(["train", *files, f"--out={own}", f"--workers={workers}", *given])
        before = own
    return arguments


def with_packed(recipe: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The recipe with the files that ``pack`` wrote into the folder, if it did; else as it is.

    >>> with_packed({"data": {"corpus": ["train.jsonl"]}}, Path("no such folder"))
    {'data': {'corpus': ['train.jsonl']}}
    """
    if not (folder / CORPUS_FILE).exists():
        return recipe
    corpus = [name for name in (CORPUS_FILE, PAIRS_FILE) if (folder / name).exists()]
    table = {"morphemes": folder / TABLE_FILE}
    return {**recipe, "data": {"corpus": corpus, "dev": DEV_FILE}, "all": {**recipe.get("all", {}), **table}}


def chosen_stages(recipe: dict[str, Any], names: Collection[str], share: float) -> dict[str, Any]:
    """The recipe with these stages alone, or all for none, and that share of the steps of each, 1 at least.

    Raises KeyError for another name, KeyError and TypeError for another file.

    >>> chosen_stages({"stage": [{"name": "begin", "steps": 9}, {"name": "cool", "steps": 4}]}, ["cool"], 0.5)
    {'stage': [{'name': 'cool', 'steps': 2}]}
    """
    if unknown := set(names) - ({stage["name"] for stage in recipe["stage"]} if names else set()):
        raise KeyError(*sorted(unknown))
    stages = [stage for stage in recipe["stage"] if not names or stage["name"] in names]
    return {**recipe, "stage": [{**each, "steps": max(1, round(each["steps"] * share))} for each in stages]}


@command("recipe")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", required=True, type=FOLDER, help="For all stages.")
@click.option("--recipe", "path", default=RECIPE, type=PATH, help="Another one.")
@click.option("--only", multiple=True, metavar="STAGE", help="Only this stage; may be given several times.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Of every stage; NAME= leaves one out."
)
@click.option(
    "--share", default=1.0, type=click.FloatRange(0, min_open=True), help="Of the steps, to rehearse."
)
@click.option("--workers", default=1, show_default=True, help="Processes that make pairs.")
@click.option("--show", is_flag=True, help="Print the commands and run none.")
def recipe_command(folder: Path, out: Path, path: Path, **options: Any) -> None:
    """Train on the files in FOLDER, packed or not, stage by stage.

    Run the same command again to continue after a stop.
    """
    changed = dict(each.partition("=")[::2] for each in options["settings"])
    try:
        recipe = with_packed(tomllib.loads(path.read_text("utf-8")), folder)
        recipe = chosen_stages(recipe, options["only"], options["share"])
        stages = stage_arguments(recipe, folder, out, options["workers"], changed)
    except tomllib.TOMLDecodeError as error:
        raise UnusableError(f"{path}: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        told = "a recipe has data, stages, and their names and steps; missing or odd"
        raise UnusableError(f"{path}: {told}: {error}") from error
    for arguments in stages:
        click.echo(f"python -m training {shlex.join(arguments)}")
        if options["show"]:
            continue
        if subprocess.run([sys.executable, "-m", "training", *arguments], check=False).returncode:
            raise click.ClickException("this stage ended early; the stages after it were not begun")
