"""Component of the corrected text: changed words are buttons that choose one change.

All pictures of the page show the chosen change.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.analysis.kinds import joint_kinds
from model.text.changes import Change, by_word
from ui.asking.loaders import Correction
from ui.components.component import component, heard
from ui.wording import say
from viz.browser.document import read_script
from viz.labels import visible_token

# Actions of a visitor; "own" leaves a word alone, "test" opens the tested explanation, "none" and "all" are
# about the whole text.
WHAT = ("choose", "accept", "reject", "open", "own", "test", "none", "all")

_SCRIPT = read_script("correction", "dom.js", "copying.js", "correction.js", folder=Path(__file__).parent)
_COMPONENT = component("correction", html=_SCRIPT.html, css=_SCRIPT.css, js=_SCRIPT.js, sent_once=True)


@dataclass(frozen=True)
class Proposal:
    """A change that the network proposed, and whether it was made. ``number`` counts all proposals from 0."""

    number: int
    change: Change  # offsets in the whole source
    made: bool
    share: str  # the confidence in digits
    kinds: tuple[str, ...] = ()  # of the mistakes: "layout" or some of SCHOOL_KINDS
    why: str = ""
    article: str = ""  # of the norm, whose content is ``why``
    sure: str = ""  # the confidence in words and digits
    note: str = ""  # the network's own text, where another one was proposed

    def card(self) -> dict:
        """What its card shows, as JSON."""
        texts = {name: getattr(self, name) for name in ("why", "article", "sure", "note")}
        return texts | {"kinds": list(map(kind_name, self.kinds))}


def kind_name(kind: str) -> str:
    return say("correction_layout" if kind == "layout" else f"mistake_{kind}")


def correction(data: dict, key: str, on_asked: Callable[[str, int], None]) -> None:
    """Show ``data`` of ``correction_data``; ``on_asked`` receives one of WHAT and a number before the page
    runs again."""

    def answer() -> None:
        asked = heard(key, "asked")
        if not isinstance(asked, dict):
            return
        what, number = asked.get("what"), asked.get("number")
        if what in WHAT and isinstance(number, int) and not isinstance(number, bool):
            on_asked(what, number)

    _COMPONENT(key=key, data=data, on_asked_change=answer)


def correction_data(
    correction: Correction,
    proposals: Sequence[Proposal],
    *,
    chosen: int | None,
    opened: int,
    rest: str = "",
) -> dict:
    """The data of ``correction.js``, but for the ``words`` that it names.

    Typed text is not escaped, because the browser writes it as text, not as HTML.

    ``chosen`` is the number of the proposal in focus, ``opened`` that of the sentence whose pictures are
    shown, from 0. ``rest`` is text behind the corrected one that was not read.
    """
    parts: dict[int, dict] = {}
    pieces, done = [], 0
    starts = {sentence.start: number for number, sentence in enumerate(correction.sentences)}
    several = len(starts) > 1
    for start, end, inside in _words(correction.source, proposals):
        pieces += _plain(correction.source, done, start, starts if several else {})
        done = end
        if several and start in starts:
            pieces.append({"sentence": starts[start]})
        made = [each for each in inside if each.made]
        if len(made) > 1:
            parts |= {
                each.number: _part(correction.source[start:end], each.change.moved(-start, 0))
                for each in made
            }
        kinds = joint_kinds(each.kinds for each in made)
        pieces.append(_word(correction.source, start, end, inside) | {"kinds": list(map(kind_name, kinds))})
    pieces += _plain(correction.source, done, len(correction.source), starts if several else {})
    pieces += [{"rest": rest}] * bool(rest)
    return {
        "pieces": pieces,
        "proposals": {
            str(each.number): each.card() | parts.get(each.number, {}) for each in proposals if each.made
        },
        "chosen": chosen,
        "opened": opened,
        "text": correction.text + rest,
    }


def written_data(correction: Correction, *, opened: int, words: dict[str, str], language: str) -> dict:
    """``correction_data`` of a text that is no correction: it stays as it was written, and only its sentences
    can be pressed."""
    pieces: list[dict] = []
    several, done = len(correction.sentences) > 1, 0
    for number, sentence in enumerate(correction.sentences):
        pieces.append({"text": correction.source[done : sentence.start]})  # white space between two sentences
        pieces += [{"sentence": number}] * several
        pieces.append({"text": sentence.text})
        done = sentence.start + len(sentence.source)
    return {
        "pieces": pieces,
        "proposals": {},
        "chosen": None,
        "opened": opened,
        "words": words,
        "language": language,
    }


def _part(word: str, change: Change) -> dict:
    """Which of the changes of ``word`` a card is about: its place as typed and as written."""
    before, after = word[: change.source_start][-1:], word[change.source_end :][:1]
    sides = (before + side + after for side in (change.wrong, change.right))
    typed, part = (visible_token(side, len(side)) for side in sides)
    return {"typed": typed, "part": part}


def _plain(source: str, start: int, end: int, starts: dict[int, int]) -> list[dict]:
    """Text that stays as it is, with a mark at the beginning of each sentence."""
    pieces: list[dict] = []
    done = start
    for place in sorted(place for place in starts if start <= place < end):
        pieces += [{"text": source[done:place]}, {"sentence": starts[place]}]
        done = place
    return [*pieces, {"text": source[done:end]}]


def offered_with(source: str, proposals: Sequence[Proposal], number: int) -> set[int]:
    """The numbers of the changes that are offered together with ``number``: all of its word."""
    words = [{each.number for each in inside if not each.made} for *_, inside in _words(source, proposals)]
    return next((numbers for numbers in words if number in numbers), {number})


def _words(source: str, proposals: Sequence[Proposal]) -> Iterator[tuple[int, int, list[Proposal]]]:
    """(start, end, proposals) of the words that proposals touch; words that share a proposal become one, but
    an offer joins no two corrected words."""
    for start, end, numbers in by_word(source, [each.change for each in proposals]):
        inside = [proposals[number] for number in numbers]
        made = [each for each in inside if each.made]
        places = by_word(source, [each.change for each in made])
        if len(places) > 1:
            yield from ((first, last, [made[number] for number in those]) for first, last, those in places)
        else:
            yield start, end, inside


def _word(source: str, start: int, end: int, inside: list[Proposal]) -> dict:
    made = [each.change for each in inside if each.made]
    return {
        "typed": _side(source, start, end, made, old=True),
        "now": _side(source, start, end, made, old=False),
        "made": [each.number for each in inside if each.made],
        "offer": _offer(source, start, end, inside),
    }


def _offer(source: str, start: int, end: int, inside: list[Proposal]) -> dict | None:
    """The word with all its changes, where some are not made; ``shown`` has its blanks visible."""
    offered = [each for each in inside if not each.made]
    if not offered:
        return None
    text = "".join(part for part, _ in _side(source, start, end, [each.change for each in inside], old=False))
    least = min(offered, key=lambda each: each.change.confidence if each.change.is_weighed else 0.0)
    return {
        "number": offered[0].number,
        "text": text,
        "shown": visible_token(text, len(text)),
        "share": least.share,
        "accept": "accept_layout" if least.change.is_english_layout else "accept",
    }


def _side(source: str, start: int, end: int, changes: list[Change], *, old: bool) -> list[tuple[str, bool]]:
    """(text, whether it differs) for the parts of the word, before or after these changes.

    A removed space leaves an empty part that differs, so that its place can be marked. Other removals leave
    no part.
    """
    parts, done = [], start
    for change in sorted(changes, key=lambda change: change.source_start):
        side = change.wrong if old else change.right
        parts.append((source[done : change.source_start], False))
        if side or change.wrong.isspace():
            parts.append((side, True))
        done = change.source_end
    return [part for part in [*parts, (source[done:end], False)] if part[0] or part[1]]
