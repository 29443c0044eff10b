"""``see-attention app``: starts the app from any folder.

Its options are those of ``streamlit run``: ``see-attention app --server.port 8502``.
"""

import click
from streamlit.web import cli

import assets


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def main(options: tuple[str, ...]) -> None:
    """Open the app in a browser; OPTIONS are those of `streamlit run`."""
    cli.main(["run", str(assets.FOLDER.with_name("app.py")), *options], prog_name="streamlit")


if __name__ == "__main__":
    main()
