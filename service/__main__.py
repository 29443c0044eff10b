"""Commands ``serve`` for editors, ``mcp`` for assistants, and ``check`` for files."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from model.stored.folder import (
    DEFAULT_MODEL,
    ModelFolderError,
    find_model_folder,
    read_config,
    write_atomically,
)
from model.terminal import hide_log_lines

if TYPE_CHECKING:
    from service.checks import Finding


@click.group()
def main() -> None:
    """Check Korean where people write it: in editors, and in the files of a repository."""


_own_words = click.option(
    "--words",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file of words that are right, one a line; * stands for any letters.",
)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address that it listens on.")
@click.option("--port", default=8081, show_default=True, type=click.IntRange(0, 65_535))
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
@_own_words
@click.option(
    "--links", help="The page that opens a change: an app, or the browser's own page with # at its end."
)
@click.option("--allow-host", "hosts", multiple=True, help="A name under which this machine is asked.")
@click.option(
    "--allow-origin", "origins", multiple=True, help="A site whose pages may ask: https://example.org"
)
def serve(host: str, port: int, hosts: tuple[str, ...], origins: tuple[str, ...], **named: Any) -> None:
    """Answer LanguageTool's HTTP API at http://127.0.0.1:8081/v2 until Ctrl-C.

    Nothing is logged or stored. Each match links to the page that shows its cause, which is served from here,
    too; it starts with the first visit.
    \f

    Raises:
        click.ClickException: for a folder that holds no model.
    """
    import uvicorn

    from service.checker import KeepingCorrector
    from service.languagetool import app_link
    from service.server import AppOnDemand, Guard, Service, address_of, application

    options, links = _options(named["model"], named["words"]), named["links"]
    address = address_of(host)
    if host != "localhost" and not (address and address.is_loopback):
        click.echo(f"warning: everybody who reaches {host} can ask, and texts travel unencrypted", err=True)
    here = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    service = Service(lambda: KeepingCorrector.load(**options), app_link(links or f"{here}/"))
    guard = Guard(frozenset(map(str.lower, hosts)), frozenset(origins))
    pages = AppOnDemand() if links is None else None
    click.echo(f"answers at {here}/v2 (LanguageTool's HTTP API); Ctrl-C ends it")
    uvicorn.run(
        application(service, guard, pages),
        host=host,
        port=port,
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
    )


@main.command()
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
@_own_words
def mcp(model: str, words: Path | None) -> None:
    """Answer the Model Context Protocol on standard input and output: correct a text, explain a change.
    \f

    Raises:
        click.ClickException: for a folder that holds no model.
    """
    from service.checker import KeepingCorrector
    from service.tools import tool_server

    options = _options(model, words)
    tool_server(lambda: KeepingCorrector.load(**options)).run("stdio")


@main.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--format", "report", type=click.Choice(["text", "json", "sarif", "github"]), default="text")
@click.option("--fix", is_flag=True, help="Correct the files in place; all else in them stays.")
@click.option(
    "--changes",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --fix: a CSV file for the list of the corrections.",
)
@click.option("--suggest", is_flag=True, help="Also report changes that were not sure enough.")
@_own_words
@click.option("--ignore", "ignored", multiple=True, help="A pattern of paths, such as 'docs/*.json'.")
@click.option("--jobs", type=click.IntRange(min=1), default=min(os.cpu_count() or 1, 2), show_default=True)
@click.option("--model", default=DEFAULT_MODEL, show_default=True, help="A folder in assets/, or a path.")
def check(
    paths: tuple[Path, ...],
    report: str,
    fix: bool,
    changes: Path | None,
    suggest: bool,
    ignored: tuple[str, ...],
    jobs: int,
    **named: Any,
) -> None:
    """Report wrong words in files, and in those of folders; the status is 1 where one is left.

    Markdown (code, front matter and links are left alone), .txt, .po, .json and .xml string tables, .srt and
    .ipynb are read, and where they are named, DOCX and HWPX documents; every other file that is named is a
    text. With --fix the sure ones are corrected.
    \f

    Raises:
        click.UsageError: for --changes without --fix.
        click.ClickException: for a named file that cannot be read.
    """
    from service.checks import Checking, UnreadableFileError
    from service.files import files_in
    from service.reports import REPORTS, as_csv

    if changes is not None and not fix:
        raise click.UsageError("--changes needs --fix")
    if changes is not None and not changes.parent.is_dir():
        raise click.UsageError(f"--changes: no folder {changes.parent}")

    options = _options(named["model"], named["words"])
    files = list(files_in(paths, ignored))
    times = [path.stat().st_mtime_ns for path in files]

    def skip(path: Path, error: UnreadableFileError) -> None:
        if path in paths:
            raise error
        click.echo(f"skipped: {error}", err=True)

    try:
        found = list(Checking(tuple(options.items()), suggest, jobs).findings(files, skip))
    except (ValueError, ModelFolderError) as error:  # of a file, or of the words
        raise click.ClickException(str(error)) from error
    left = list["Finding"]()  # of files that could not be written
    if fix:
        for number, (path, mine) in enumerate(zip(files, found, strict=True)):
            if any(each.is_sure for each in mine) and not _is_written(path, times[number], mine):
                left, found[number] = [*left, *mine], []
        corrected = [sum(each.is_sure for each in mine) for mine in found]
        click.echo(f"{sum(corrected)} corrected in {sum(map(bool, corrected))} files", err=True)
        if changes is not None:
            made = as_csv([each for mine in found for each in mine if each.is_sure])
            write_atomically(changes, lambda file: file.write(made))
        found = [[each for each in mine if not each.is_sure] for mine in found]
    shown = [*left, *(each for mine in found for each in mine)]
    if shown or report in ("json", "sarif"):
        click.echo(REPORTS[report](shown))
    sys.exit(any(each.is_sure for each in shown))


def _is_written(path: Path, time: int, found: Iterable["Finding"]) -> bool:
    """Correct a file, unless it was changed after ``time`` or cannot be written; that is told."""
    from service.checks import read

    try:
        if path.stat().st_mtime_ns == time:
            corrected = read(path).corrected(found)
            write_atomically(path, lambda file: file.write(corrected))
            return True
        reason = "it was changed meanwhile"
    except OSError as error:
        reason = str(error.strerror)
    click.echo(f"not corrected: {path}: {reason}", err=True)
    return False


def _options(model: str, words: Path | None) -> dict[str, Any]:
    """The options of ``Corrector.load`` for a model and a file of words.

    Raises:
        click.ClickException: for a folder that holds no model.
    """
    try:
        read_config(find_model_folder(model))
    except ModelFolderError as error:
        raise click.ClickException(str(error)) from error
    try:
        lines = () if words is None else map(str.strip, words.read_text("utf-8-sig").splitlines())
    except UnicodeDecodeError as error:
        raise click.ClickException(f"--words: {words} is not UTF-8") from error
    return {"model": model, "words": tuple(line for line in lines if line and not line.startswith("#"))}


if __name__ == "__main__":
    hide_log_lines()
    main(prog_name="python -m service")
