"""A generated part of a document: a function that writes Markdown from measured numbers, registered under a name."""

from collections.abc import Callable

from training.documents.sources import Sources

WriteBlock = Callable[[Sources, str], str]  # (what was measured, language) to Markdown
BLOCKS: dict[str, WriteBlock] = {}


def block(name: str) -> Callable[[WriteBlock], WriteBlock]:
    """Register the function below as the content of ``<!-- generated: NAME -->``; ``NAME.ko`` asks it for Korean."""

    def register(write: WriteBlock) -> WriteBlock:
        if name in BLOCKS:
            raise ValueError(f"two blocks are called {name}")
        BLOCKS[name] = write
        return write

    return register


def content(sources: Sources, name: str) -> str:
    """What stands in the part ``name`` of a document. Raises KeyError for a name that no block has."""
    key, _, language = name.partition(".")
    return BLOCKS[key](sources, language or "en")
