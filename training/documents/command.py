"""``python -m training documents``: write the measured numbers into README, model card and studies."""

from importlib import import_module
from pathlib import Path

import click

from model.stored.folder import ASSETS
from training.documents.block import BLOCKS, content
from training.documents.marks import DOCUMENTS, MarkError, rewrite
from training.documents.past import keep_all
from training.documents.sources import MissingNumbersError, Sources

# Each of these registers its blocks.
for each in (
    "answers",
    "attention",
    "heard",
    "lessons.written",
    "scores",
    "sets",
    "stories",
    "weighing",
):
    import_module(f"training.documents.{each}")

ROOT = ASSETS.parent


def written(text: str, sources: Sources) -> str:
    """A document with its generated parts as the data files have them.

    Raises MarkError for a part that nothing writes, and MissingNumbersError where a data file is not there.
    """

    def of(name: str) -> str:
        if name.partition(".")[0] not in BLOCKS:
            raise MarkError(f"nothing writes the part {name}; there are {', '.join(sorted(BLOCKS))}")
        return content(sources, name)

    return rewrite(text, of)


@click.command("documents")
@click.option(
    "--root",
    default=ROOT,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Holds README.md, docs and benchmarks.",
)
@click.option(
    "--model",
    default=ASSETS / "transformer",
    type=click.Path(file_okay=False, path_type=Path),
    help="The shipped model's folder.",
)
@click.option(
    "--check", is_flag=True, help="Change nothing, and fail where a document is not as the data files are."
)
@click.option("--past", is_flag=True, help="Only keep the shipped weights' numbers among the earlier ones.")
def command(root, model, check, past):
    """Write every generated part of the documents from the data files: the tables between
    <!-- generated: NAME --> and <!-- end -->."""
    sources = Sources(root, model)
    if past:
        keep_all(sources)
        return
    odd = {}
    for name in DOCUMENTS:
        before = (root / name).read_text("utf-8")
        try:
            after = written(before, sources)
        except (MarkError, MissingNumbersError) as error:
            raise click.ClickException(f"{name}: {error}") from error
        if after != before:
            odd[name] = after
    if check and odd:
        raise click.ClickException(
            f"not as the data files are: {', '.join(odd)}; python -m training documents"
        )
    for name, after in odd.items():
        (root / name).write_text(after, encoding="utf-8")
    click.echo(f"written: {', '.join(odd) or 'nothing, all is as it should be'}")
