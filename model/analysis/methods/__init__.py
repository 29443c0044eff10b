"""The methods of ``model.analysis.contributions``: each file here declares one as METHOD, and is found by lying here."""

from importlib import import_module
from pkgutil import iter_modules

from model.analysis.method import Method

_FILES = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
DECLARED: tuple[Method, ...] = tuple(sorted((file.METHOD for file in _FILES), key=lambda each: each.place))
