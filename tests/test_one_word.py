"""One word, one meaning: no class and no type alias of the product has the name of another one."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = (
    "app.py",
    "classroom",
    "engine",
    "model",
    "seeing",
    "training",
    "ui",
    "viz",
    "deploy",
    "benchmarks",
    "docs",
)
MAKERS = {
    "TypeVar",
    "NewType",
}  # each makes a type, too; so do Union and Callable where they stand behind a name


def files() -> list[Path]:
    found = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))] + [ROOT / "app.py"]
    return [path for path in found if "tests" not in path.relative_to(ROOT).parts]


def types_of(tree: ast.Module) -> Iterator[str]:
    """The classes of a file, also those inside of functions, and the aliases at its top level: ``Spans = tuple[…]``."""
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.strip("_")[:1].isupper() and not name.isupper():
                yield name


def test_no_two_types_have_one_name():
    where = defaultdict(list)
    for path in files():
        for name in types_of(ast.parse(path.read_text("utf-8"))):
            where[name.strip("_")].append(str(path.relative_to(ROOT)))
    assert len(where) > 400
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}
