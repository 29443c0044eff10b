"""``Result``: analyses saved as folders: arrays, settings, versions, ids of the data.

A folder holds ``result.json`` and ``arrays.npz``. JSON names the class of each part of a result below this
package, so that any version of it opens the folder; nothing is unpickled.
"""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

RESULT, ARRAYS = "result.json", "arrays.npz"
SEED = 0  # of all random draws of this package
_ROOT = __name__.removesuffix(".analysis.saving")  # "model", or "see_attention.model" in a wheel


class Fingerprinted(Protocol):
    """A network whose weights have a fingerprint."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...


class Result:
    """Base class of results, which are dataclasses."""

    def save(
        self,
        folder: str | Path,
        network: Fingerprinted | None = None,
        texts: Sequence[tuple[str, str]] = (),
        **settings: object,
    ) -> None:
        """Write a folder that ``load`` opens.

        Args:
            folder: made where it is missing; files of an earlier result are replaced.
            network: whose name and fingerprint are kept.
            texts: (source, target) of the data, of which ids are kept, not the texts.
            settings: the arguments of the analysis, in JSON or as parts of results.

        Raises:
            ValueError: for a part that is neither an array nor plain data.

        Example:
            >>> from tempfile import TemporaryDirectory
            >>> from model.analysis import find_circuit
            >>> circuit = find_circuit(corrector, *edits_of("머거요", "먹어요"))
            >>> with TemporaryDirectory() as folder:
            ...     circuit.save(folder, corrector, [("머거요", "먹어요")], goal=0.9)
            ...     load(folder).members == circuit.members
            True
        """
        arrays: dict[str, np.ndarray] = {}
        about = {
            "result": _plain(self, arrays),
            "settings": {name: _plain(each, arrays) for name, each in settings.items()},
            "seed": SEED,
            "network": None
            if network is None
            else {"name": network.name, "fingerprint": network.fingerprint},
            "data": [data_id(*each) for each in texts],
            "versions": {"python": platform.python_version(), "numpy": np.__version__},
        }
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(place / ARRAYS, **arrays)  # type: ignore[arg-type]
        (place / RESULT).write_text(json.dumps(about, ensure_ascii=False, indent=1), "utf-8")


def load(folder: str | Path) -> Any:
    """Read a result that ``Result.save`` wrote.

    Raises:
        ValueError: for a folder that names anything but results of this package.
    """
    about = json.loads((Path(folder) / RESULT).read_text("utf-8"))
    with np.load(Path(folder) / ARRAYS, allow_pickle=False) as arrays:
        return _made(about["result"], arrays)


def data_id(source: str, target: str) -> str:
    """16 hexadecimal digits that two texts share in each saved result.

    >>> data_id("머거요", "먹어요") == data_id("머거요", "먹어요") != data_id("머거요", "머거요")
    True
    """
    return hashlib.sha256(f"{source}\0{target}".encode()).hexdigest()[:16]


def _plain(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """``value`` in JSON. Its arrays are put into ``arrays``, and named in their places."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):  # JSON has no such number
        return {"number": str(value)}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray):
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, Mapping):
        return {"dict": [[_plain(each, arrays) for each in item] for item in value.items()]}
    names = [each.name for each in fields(value)] if is_dataclass(value) else getattr(value, "_fields", None)
    module = type(value).__module__
    if names is not None and module.startswith(f"{_ROOT}."):
        parts = {name: _plain(getattr(value, name), arrays) for name in names}
        return {"class": f"{module.removeprefix(_ROOT)}:{type(value).__name__}", "fields": parts}
    if isinstance(value, tuple | list):
        return {type(value).__name__: [_plain(each, arrays) for each in value]}
    raise ValueError(f"a result should hold arrays and plain data, received {type(value).__name__}")


def _made(value: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The value that ``_plain`` turned into JSON."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return arrays[value["array"]]
    if "number" in value:
        return float(value["number"])
    if "dict" in value:
        return {_made(key, arrays): _made(each, arrays) for key, each in value["dict"]}
    if "class" not in value:
        ((kind, parts),) = value.items()
        return (tuple if kind == "tuple" else list)(_made(each, arrays) for each in parts)
    module, _, name = value["class"].partition(":")
    found: Any = getattr(import_module(f"{_ROOT}{module}"), name, None) if module.startswith(".") else None
    if not (is_dataclass(found) or hasattr(found, "_fields")):
        raise ValueError(f"a result should name classes of this package, received {value['class']}")
    return found(**{each: _made(part, arrays) for each, part in value["fields"].items()})
