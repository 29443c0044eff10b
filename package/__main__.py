"""Command ``see-attention``: app, correction, file checks, services, survey, site, training.

Also ``python -m see_attention``.
"""

import sys
from importlib.util import find_spec

# The extra that brings a library; "app" brings all others.
EXTRAS = {"mcp": "mcp", "onnx": "train", "ray": "ray", "starlette": "serve", "uvicorn": "serve"}
PLACES = {
    "app": ("ui.__main__", "main"),
    "correct": ("model.__main__", "correct"),
    "check": ("service.__main__", "check"),
    "serve": ("service.__main__", "serve"),
    "mcp": ("service.__main__", "mcp"),
    "heads": ("model.__main__", "heads"),
    "export": ("model.__main__", "export"),
    "site": ("deploy.site.__main__", "main"),
    "workers": ("engine.__main__", "main"),
}


def main() -> None:
    """Run one command, whose module is imported only then.

    A missing library is named in one sentence, with the extra that brings it.
    """
    try:
        import click

        from package import __version__
        from training.__main__ import COMMANDS, LazyGroup

        group = LazyGroup(PLACES | COMMANDS, name="see-attention", help="See a Transformer think.")
        click.version_option(__version__)(group)(prog_name="see-attention")
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if not library or find_spec(library):  # a module of a package that is there
            raise
        extra = EXTRAS.get(library, "app")
        sys.exit(f'see-attention: {library} is not installed: pip install "see-attention[{extra}]"')


if __name__ == "__main__":
    main()
