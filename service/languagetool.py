"""LanguageTool's HTTP API: fields of a request, and the JSON of an answer.

Reference:
    https://languagetool.org/http-api/ (version 1 of the interface, read in November 2026).
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from model.text.hangul import is_hangul
from model.text.tokenizer import normalise
from package import __version__
from service.annotated import Annotated, Piece, utf16_length
from service.matches import LAYOUT, Match
from viz.browser.texts import table

LANGUAGE = {"name": "Korean", "code": "ko", "longCode": "ko-KR"}
LONGEST = 60_000  # characters of one text, its markup included
MOST_FIELDS = 50
MOST_PIECES = 20_000  # of an annotated text
CONTEXT = 40  # characters on each side of a match
LONGEST_LINKED = 2_000  # characters of a sentence in an address, as ``ui.shell.address``
SHOWN_RULES = 2  # of pronunciation, in a description


class RequestError(ValueError):
    """A request that cannot be answered; the message is the reason, without any of its text."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


_RAW = re.compile(r"text=(?P<text>.*)&language=(?P<language>[\w-]+)", re.DOTALL)


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True)
class Filter:
    """The rules and categories that a client switches on and off."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    enabled_only: bool = False

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> "Filter":
        """The filter of a request.

        Raises:
            RequestError: for ``enabledOnly`` without anything enabled, as LanguageTool does.
        """
        enabled, disabled = (
            _names(fields.get(f"{which}Rules", "")) | _names(fields.get(f"{which}Categories", ""))
            for which in ("enabled", "disabled")
        )
        only = fields.get("enabledOnly", "").lower() in ("true", "yes")
        if only and not enabled:
            raise RequestError("enabledOnly needs enabledRules or enabledCategories")
        return cls(enabled, disabled, only)

    def passes(self, rule: "Rule") -> bool:
        """Whether matches of a rule are sent."""
        names = {rule.id, rule.kind, rule.category}
        return not names & self.disabled and (not self.enabled_only or bool(names & self.enabled))


@dataclass(frozen=True)
class CheckRequest:
    """A request to check a document."""

    document: Annotated
    filter: Filter
    is_picky: bool  # whether changes that were not sure enough are sent, too
    language: str  # of the messages

    @classmethod
    def of(cls, body: bytes) -> "CheckRequest":
        """The request in a form, under any content type: LTeX+ calls a form JSON. LibreOffice 7.4
        sends a text as it is, without encoding.

        Example:
            >>> CheckRequest.of(b"language=ko&text=%EB%B0%A5").document.text
            '밥'

        Raises:
            RequestError: for a form that is none, a text that is too long, and another language.
        """
        try:
            form = body.decode()
            raw = None if body.isascii() else _RAW.fullmatch(form)
            pairs = parse_qsl(form, keep_blank_values=True, max_num_fields=MOST_FIELDS) if raw is None else []
        except (UnicodeDecodeError, ValueError) as error:
            raise RequestError("the body should be a form in UTF-8") from error
        fields = dict(pairs) if raw is None else raw.groupdict()
        language = fields.get("language", "").lower()
        if language not in ("ko", "ko-kr", "auto"):
            raise RequestError("language should be ko, ko-KR or auto")
        if ("text" in fields) == ("data" in fields):
            raise RequestError("either text or data is needed")
        document = annotated(fields["data"]) if "data" in fields else Annotated.plain(fields["text"])
        if max(len(document.document), len(document.text)) > LONGEST:
            raise RequestError(f"a text may have {LONGEST:,} characters", 413)
        mother_tongue = fields.get("motherTongue", "ko").lower()
        return cls(
            document,
            Filter.of(fields),
            fields.get("level") == "picky",
            "ko" if mother_tongue.startswith("ko") else "en",
        )


def annotated(data: str) -> Annotated:
    """The document of the field ``data``.

    Example:
        >>> annotated('{"annotation": [{"text": "밥 "}, {"markup": "<br>", "interpretAs": "\\\\n"}]}').text
        '밥 \\n'

    Raises:
        RequestError: for anything but LanguageTool's annotations.
    """
    try:
        read = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RequestError("data should be JSON") from error
    if isinstance(read, dict) and isinstance(read.get("text"), str):
        return Annotated.plain(read["text"])
    parts = read.get("annotation") if isinstance(read, dict) else None
    if not isinstance(parts, list) or len(parts) > MOST_PIECES:
        raise RequestError(f"data should hold an annotation of at most {MOST_PIECES:,} parts")
    document, pieces, length = [], [], 0
    for part in parts:
        markup, text, read_as = (
            part.get(name, "") if isinstance(part, dict) else None
            for name in ("markup", "text", "interpretAs")
        )
        if not (isinstance(markup, str) and isinstance(text, str) and isinstance(read_as, str)):
            raise RequestError("a part of data should hold a text, or a markup and interpretAs")
        typed = markup or text
        document.append(typed)
        pieces.append(Piece(length, length + len(typed), read_as if markup else text))
        length += len(typed)
    return Annotated.of("".join(document), pieces)


class Rule(NamedTuple):
    """The rule of a match: our kind of mistake, or the kind of the norm whose article it breaks."""

    id: str  # KO_DOE_DWAE
    kind: str  # DWAE, of SCHOOL_KINDS
    category: str  # of LanguageTool, by which clients choose a colour
    name: str  # of the kind, in words
    description: str

    @classmethod
    def of(cls, match: Match, language: str) -> "Rule":
        """The rule of a match, in words of a language, as the app's card has them."""
        say, article = table(language), match.reason.article
        kind = match.reason.kinds[0]
        name = say["correction_layout" if kind == LAYOUT else f"mistake_{kind}"]
        if article is not None:
            description = ": ".join(article.told(language))
        else:
            is_joined = kind == "spacing" and len(match.right) < len(match.wrong)
            rules = ", ".join(say[f"rule_{rule}"] for rule in match.reason.rules[:SHOWN_RULES])
            description = say["mistake_joined_why" if is_joined else match.reason.why].format(rules=rules)
        is_spacing = all(each.kinds == ("spacing",) for each in match.reasons)
        category = "TYPOGRAPHY" if is_spacing else "TYPOS"
        rule = f"KO_{article.kind if article else kind}".upper()
        return cls(rule, kind.upper(), category if match.is_sure else "STYLE", name, description)


Link = Callable[[Match], str | None]  # a match -> the address of the page that shows its cause


def app_link(base: str) -> Link:
    """Addresses of the app's page for the sentence and the change of a match.

    Args:
        base: the app's address, or that of the browser's own page with a # at its end.

    Example:
        >>> from service.matches import matches
        >>> [found] = matches(corrector.correct("밥을 머거요."))
        >>> app_link("http://127.0.0.1:8081/")(found).partition("?")[2]
        'sentence=%EB%B0%A5%EC%9D%84+%EB%A8%B8%EA%B1%B0%EC%9A%94.&edit=1&view=wrote'
    """

    def link(match: Match) -> str | None:
        accepted = {} if match.offered is None else {"accepted": match.offered + 1}
        if len(match.sentence.source) > LONGEST_LINKED:
            return None
        try:
            if base.endswith("#"):
                return base + urlencode({"text": match.sentence.source, **accepted})
            place = {"sentence": match.sentence.source, "edit": match.edit, "view": "wrote", **accepted}
            return f"{base}?{urlencode(place)}"
        except UnicodeEncodeError:  # half of an emoji
            return None

    return link


def answer(request: CheckRequest, found: tuple[Match, ...], link: Link) -> dict[str, Any]:
    """The answer to a request, ready for JSON."""
    hangul = sum(map(is_hangul, request.document.text))
    letters = sum(map(str.isalpha, request.document.text))
    language = {"name": LANGUAGE["name"], "code": LANGUAGE["longCode"]}
    detected = language | {"confidence": round(hangul / letters, 2) if letters else 0.0}
    rules = [(match, Rule.of(match, request.language)) for match in found]
    return {
        "software": information()["software"],
        "warnings": {"incompleteResults": False},
        "language": language | {"detectedLanguage": detected},
        "matches": [
            _match(match, rule, request.document.document, link)
            for match, rule in rules
            if request.filter.passes(rule)
        ],
    }


def _match(match: Match, rule: Rule, document: str, link: Link) -> dict[str, Any]:
    first, last = max(match.start - CONTEXT, 0), min(match.end + CONTEXT, len(document))
    before, after = document[first : match.start], document[match.end : last]
    url = link(match)
    share = "" if match.is_sure or match.confidence is None else f" ({match.confidence:.0%})"
    return {
        "message": f"{normalise(match.wrong)} → {match.right}{share}. {rule.description}",
        "shortMessage": rule.name,
        "offset": match.utf16_start,
        "length": match.utf16_length,
        "replacements": [{"value": match.right}],
        "context": {
            "text": f"{before}{match.wrong}{after}".replace("\n", " "),
            "offset": utf16_length(before),
            "length": match.utf16_length,
        },
        "sentence": match.sentence.source,
        "type": {"typeName": "UnknownWord" if match.is_sure else "Hint"},
        "rule": {
            "id": rule.id,
            "description": rule.description,
            "issueType": "misspelling" if match.is_sure else "style",
            "category": {"id": rule.category, "name": rule.name},
            **({"urls": [{"value": url}]} if url else {}),
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def information() -> dict[str, Any]:
    """The answer of ``/v2/info``."""
    software = {
        "name": "see-attention",
        "version": __version__,
        "buildDate": None,
        "apiVersion": 1,
        "premium": False,
        "status": "",
    }
    return {"software": software}
