"""Command ``python -m deploy.site OUT``: build the static site as a folder or one file."""

from pathlib import Path

import click

from deploy.site import build
from deploy.site.bundle import PackagesMissing
from deploy.site.extension import write_extension
from model import ModelFolderError
from model.stored.folder import DEFAULT_MODEL


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--one-file", is_flag=True, help="OUT is one HTML file, which needs no host and no network.")
@click.option("--extension", is_flag=True, help="OUT is the folder of an extension for Chromium and Firefox.")
@click.option(
    "--model", default=DEFAULT_MODEL, show_default=True, help="A model by its name in assets/, or a folder."
)
def main(out: Path, one_file: bool, extension: bool, model: str) -> None:
    """Write the network for the visitor's own browser to OUT."""
    if one_file and extension:
        raise click.UsageError("--extension makes a folder, --one-file a file")
    try:
        site = build.make(model)
    except (ModelFolderError, ValueError, PackagesMissing) as error:
        raise click.ClickException(str(error)) from error
    if one_file:
        out.write_bytes(build.page(site.content, site.parts, alone=True))
    elif extension:
        write_extension(site, out)
    else:
        build.write_folder(site, out)
    size = sum(path.stat().st_size for path in (out, *out.rglob("*")) if path.is_file())
    click.echo(f"{out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
