"""The methods of ``model.analysis.contributions``. Each file here declares one as METHOD; a file in this folder is found by itself."""

from importlib import import_module
from pkgutil import iter_modules

from model.analysis.method import AttributionMethod

_FILES = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
DECLARED: tuple[AttributionMethod, ...] = tuple(
    sorted((file.METHOD for file in _FILES), key=lambda each: each.place)
)
