"""Screen texts of figures by language, and descriptions of an attention map and of a change."""

import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Protocol

import numpy as np

import assets
from viz.attention import MapTexts
from viz.theme import FAINT

FIRST = "ko"  # the app opens in it
_INSTEAD = ("ko", "en")  # languages whose text replaces a missing one; the later one is preferred

Say = Callable[..., str]  # (key, **values) -> the text with its placeholders filled


@cache
def own_texts(language: str) -> dict[str, str]:
    """Key -> text of the folder ``language`` alone. Raises ValueError for a file that is
    no JSON, and for a repeated key.

    Example:
        >>> own_texts("en")["language_name"]
        'English'
    """
    texts: dict[str, str] = {}
    for path in sorted((assets.TEXTS / language).glob("*.json")):
        try:
            part = json.loads(path.read_text("utf-8-sig"))  # some editors write a mark in front
        except ValueError as error:
            raise ValueError(f"{language}/{path.name} is no JSON: {error}") from error
        if twice := sorted(texts.keys() & part.keys()):
            raise ValueError(f"{language}/{path.name} says again what another file says: {twice}")
        texts |= part
    return texts


@cache
def table(language: str) -> dict[str, str]:
    """Key -> text of one of LANGUAGES; a missing text comes from another one.

    Example:
        >>> table("en")["language_name"]
        'English'
    """
    texts: dict[str, str] = {}
    for each in (*_INSTEAD, language):
        texts |= own_texts(each)
    return texts


def languages() -> dict[str, str]:
    """Code -> the language's own name, in the order of the menu, of all folders in ``assets/texts``."""
    codes = sorted(
        path.name for path in assets.TEXTS.iterdir() if re.fullmatch(r"[a-z]{2,3}(-\w+)?", path.name)
    )
    codes.sort(key=lambda code: code != FIRST)
    return {code: own_texts(code).get("language_name", code) for code in codes}


LANGUAGES = languages()  # as they are when the app starts


def map_texts(
    say: Say, kind: str, *, difference: bool = False, by_words: bool = False, masked: str = "masked"
) -> MapTexts:
    """Of a map of ``kind``; ``masked`` is the text that says why a cell holds nothing."""
    of = "words_" if by_words else ""
    return MapTexts(
        query_axis=say(f"query_{of}{kind}"),
        key_axis=say(f"key_{kind}"),
        query=say("hover_query"),
        key=say("hover_key"),
        weight=say("heatmap_hover_difference" if difference else "hover_weight"),
        masked=say(masked),
        padded=say("padded"),
        faint=say("heatmap_faint_difference" if difference else "heatmap_faint", floor=FAINT),
        selected=say("heatmap_selected"),
    )


def grid_words(say: Say) -> dict[str, Any]:
    """The words of ``head_grid``, as its arguments."""
    return {
        "layer_title": say("layer_label"),
        "head_title": say("head_label"),
        "weight_title": say("hover_weight"),
    }


def kind_names(say: Say, kinds: Iterable[str]) -> dict[str, str]:
    """The name of each kind of attention."""
    return {kind: say(f"kind_{kind}") for kind in kinds}


class Trace(Protocol):
    """The part of ``model.AttentionTrace`` that pictures read; its docstring has the shapes."""

    @property
    def source_tokens(self) -> tuple[str, ...]:
        """(S,) source tokens."""

    @property
    def target_tokens(self) -> tuple[str, ...]:
        """(T,) produced tokens."""

    @property
    def decoder_input_tokens(self) -> tuple[str, ...]:
        """(T,) tokens that the decoder reads."""

    @property
    def log_probabilities(self) -> np.ndarray | None:
        """(T,) of the produced tokens, in nats."""

    @property
    def alternatives(self) -> tuple[tuple[str, ...], ...]:
        """(T, K) most probable tokens of each step."""

    @property
    def alternative_probabilities(self) -> np.ndarray | None:
        """(T, K) probabilities of the alternatives."""

    @property
    def prefix(self) -> int: ...

    @property
    def prompt(self) -> int: ...

    @property
    def windows(self) -> tuple[int, ...]: ...

    @property
    def encoder_masked(self) -> np.ndarray | None:
        """(L, S, S) bool."""

    @property
    def decoder_masked(self) -> np.ndarray | None:
        """(L, T, T) bool."""

    @property
    def cross_masked(self) -> np.ndarray | None:
        """(L, T, S) bool."""

    @property
    def kinds(self) -> tuple[str, ...]: ...

    def attention(self, kind: str) -> np.ndarray:
        """(L, H, Q, K) weights."""

    def axes(self, kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(Q,) query tokens and (K,) key tokens."""

    def padding(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """(Q,) and (K,) bool."""

    def padded(self, kind: str) -> np.ndarray:
        """(Q, K) bool."""

    def masked(self, kind: str, layer: int | None = None) -> np.ndarray | None:
        """(Q, K) bool, of one layer or of all."""

    def sink(self, kind: str) -> np.ndarray | None:
        """(L, H, Q) weights of the attention sink."""

    def check(self) -> None:
        """Raises:
        ValueError: arrays that are no attention.
        """


class DrawnChange(Protocol):
    """The part of ``model.Change`` that pictures read."""

    @property
    def wrong(self) -> str: ...

    @property
    def right(self) -> str: ...

    @property
    def source_start(self) -> int: ...

    @property
    def source_end(self) -> int: ...

    @property
    def target_start(self) -> int: ...

    @property
    def target_end(self) -> int: ...

    @property
    def fix_probability(self) -> float | None: ...

    @property
    def keep_probability(self) -> float | None: ...


def visible(text: str) -> str:
    """Blanks and line ends as signs.

    Example:
        >>> visible("가 나")
        '가␣나'
    """
    return text.replace(" ", "␣").replace("\n", "↵")


def what_happened(change: DrawnChange) -> str:
    """The suffix of a text's key: "replaced", "inserted" or "deleted"."""
    return "replaced" if change.wrong and change.right else "inserted" if change.right else "deleted"


def change_label(say: Say, change: DrawnChange) -> str:
    """A change in a few characters: both texts, blanks and line ends as signs."""
    name = f"steps_change_{what_happened(change)}"
    return say(name, wrong=visible(change.wrong), right=visible(change.right))
