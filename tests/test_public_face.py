"""What notebooks import: every name is documented, and every signature is complete, so that a type checker sees it."""

import inspect
import re
from pathlib import Path

import pytest

import model
import model.analysis
import viz

ROOT = Path(__file__).parents[1]
DOCUMENTS = [path for place in ("*.md", "docs/*.md", "examples/*.ipynb") for path in sorted(ROOT.glob(place))]
PUBLIC = [(room, name) for room in (model, model.analysis, viz) for name in room.__all__]


def signatures(thing) -> dict[str, inspect.Signature]:
    """Of a function itself; of a class, of its public methods."""
    if inspect.isfunction(thing):
        return {thing.__name__: inspect.signature(thing)}
    if not inspect.isclass(thing):
        return {}
    plain = {
        name: getattr(each, "__func__", getattr(each, "fget", each)) for name, each in vars(thing).items()
    }
    return {
        name: inspect.signature(each)
        for name, each in plain.items()
        if inspect.isfunction(each) and not name.startswith("_")
    }


@pytest.mark.parametrize(("room", "name"), PUBLIC, ids=[f"{room.__name__}.{name}" for room, name in PUBLIC])
def test_it_is_typed_and_documented(room, name):
    thing = getattr(room, name)
    for method, signature in signatures(thing).items():
        assert signature.return_annotation is not inspect.Signature.empty, method
        for parameter in signature.parameters.values():
            assert parameter.name in ("self", "cls") or parameter.annotation is not parameter.empty, method
    if inspect.isfunction(thing) or inspect.isclass(thing):
        assert (thing.__doc__ or "").strip()


@pytest.mark.parametrize("document", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_documents_import_it_by_the_name_that_nothing_hides(document):
    """A student's own ``model.py`` would be imported by ``from model import …``."""
    code = re.findall(
        r"^ *\"?(?:>>> )?((?:from|import) (?:model|viz)\b.*)$", document.read_text("utf-8"), re.MULTILINE
    )
    assert not code
