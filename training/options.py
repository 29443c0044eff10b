"""Commands, with options from the fields of settings dataclasses.

A knob is a field that is also an option of a command. Its default, its help text and the way its text is read
are declared once, at the field:

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Oven:
...     degrees: int = knob(180, "How hot.")
...     dishes: tuple[str, ...] = knob((), "What is baked.", parse=lambda text: tuple(text.split()))
>>> [option.opts for option in options_of(Oven)]
[['--degrees'], ['--dishes']]
>>> read_options(Oven, {"degrees": 200, "dishes": "bread cake"})
Oven(degrees=200, dishes=('bread', 'cake'))
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, field, fields
from functools import partial, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from model.stored.folder import ModelFolderError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Types of options.
PATH = click.Path(exists=True, path_type=Path)  # of a file or a folder
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)  # may have to be made
SHARE, COUNT = click.FloatRange(0, 1), click.IntRange(min=1)

S = TypeVar("S", bound="DataclassInstance")


def knob(
    default: Any,
    help: str = "",
    *,
    parse: Callable[[Any], Any] | None = None,
    option: str | None = None,
    **attributes: Any,
) -> Any:
    """A dataclass field that is an option, too.

    Args:
        default: A value, or a function that makes one that can be changed.
        help: The text of ``--help``.
        parse: From the option's text to the field's value; raises ValueError. The option stays the text that
            was typed until ``read_options`` reads it, so a command can be told as it was given; an option
            that is not given is read from an empty text.
        option: Its name; None for the field's name with dashes.
        attributes: Those of ``click.Option``, as ``type`` or ``multiple``.
    """
    made = {"default_factory": default} if callable(default) else {"default": default}
    return field(**made, metadata={"help": help, "parse": parse, "option": option, "attributes": attributes})


def options_of(settings: type) -> list[click.Option]:
    """The options of a settings dataclass, in the order of its fields; fields that are no knobs have none.

    Example: see the module's ``>>>`` lines.
    """
    return [_option(settings, each) for each in fields(settings) if "option" in each.metadata]


class UnusableError(ValueError):
    """A file or a setting that a command cannot use; the message says why, and the command ends with it."""


class _Command(click.Command):
    def invoke(self, ctx: click.Context) -> Any:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # no log lines of TensorFlow
        try:
            return super().invoke(ctx)
        except (UnusableError, ModelFolderError) as error:
            raise click.ClickException(str(error)) from error
        except UnicodeDecodeError as error:
            raise click.ClickException(f"texts should be in UTF-8: {error}") from error


def command(name: str, **settings: type[Any]) -> Callable[[Callable[..., Any]], click.Command]:
    """A decorator that makes a function a command.

    Args:
        name: As it is typed.
        settings: Dataclasses by the function's arguments that get them; their options follow its own.
            Settings that raise ValueError end the command with a message.
    """

    def decorate(run: Callable[..., Any]) -> click.Command:
        def with_settings(**given: Any) -> Any:
            try:
                asked = {argument: read_options(of, given) for argument, of in settings.items()}
            except ValueError as error:
                raise click.UsageError(str(error)) from error
            own = given.keys() - {each.name for each in options}
            return run(**{argument: given[argument] for argument in own}, **asked)

        options = [each for of in settings.values() for each in options_of(of)]
        made = click.command(name, cls=_Command)(update_wrapper(with_settings, run))
        made.params.extend(options)
        return made

    return decorate


def read_options(settings: type[S], options: Mapping[str, Any]) -> S:
    """The settings that a command's ``options`` describe.

    Raises ValueError for unreadable or inconsistent values.
    """
    values = {}
    for each in fields(settings):
        if "option" in each.metadata:
            parse = each.metadata["parse"]
            values[each.name] = parse(options[each.name]) if parse else options[each.name]
    return settings(**values)


def part(settings: type[S], whole: Any) -> S:
    """The fields of ``whole`` that ``settings``, one of its base classes, has."""
    return settings(**{each.name: getattr(whole, each.name) for each in fields(settings)})


def _option(settings: type, each: Field[Any]) -> click.Option:
    attributes = dict(each.metadata["attributes"])
    if each.metadata["parse"]:
        attributes.setdefault("default", () if attributes.get("multiple") else "")
        attributes["callback"] = partial(_check, settings, each)
    else:
        attributes["default"] = None if each.default is MISSING else each.default
        attributes["show_default"] = attributes["default"] is not None
    return click.Option(
        [each.metadata["option"] or f"--{each.name.replace('_', '-')}", each.name],
        help=each.metadata["help"] or None,
        **attributes,
    )


def _check(
    settings: type, each: Field[Any], _context: click.Context, _option: click.Parameter, text: Any
) -> Any:
    """The text as it is.

    One that cannot be read, or not be the value of this field, ends the command with a message.
    """
    try:
        settings(**{each.name: each.metadata["parse"](text)})
    except ValueError as error:
        raise click.BadParameter(f"{text!r}: {error}") from error
    return text
