"""Model Context Protocol server: ``correct`` a text, ``explain`` a change by tested claims.

A program that speaks the protocol, such as an assistant or an editor, starts ``see-attention mcp`` and speaks
with it over standard input and output. Nothing leaves the machine.

Reference:
    https://modelcontextprotocol.io/specification
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from model.analysis.claims import Claim, Fact, verified_explanation
from model.analysis.contrasts import Edit
from model.trace.interventions import Node
from package import __version__
from service.checker import KeepingCorrector
from service.languagetool import LONGEST, Rule
from service.matches import Match, matches
from viz.browser.texts import table

Language = Literal["ko", "en"]


@dataclass(frozen=True)
class FoundChange:
    """A wrong word, with its right form and the reason by the norm or the kind of mistake."""

    number: int  # by which ``explain`` knows it, from 1
    start: int  # in characters
    end: int
    wrong: str
    right: str
    reason: str
    is_sure: bool  # whether it is made in the corrected text
    confidence: float | None  # 0..1

    @classmethod
    def of(cls, number: int, match: Match, language: Language) -> "FoundChange":
        reason = Rule.of(match, language).description
        place = match.start, match.end, match.wrong, match.right
        return cls(number, *place, reason, match.is_sure, match.confidence)


@dataclass(frozen=True)
class CorrectedText:
    """A text with its sure changes made, and all changes."""

    text: str
    changes: list[FoundChange]


@dataclass(frozen=True)
class TestedClaim:
    """A claim about the network's decision, with a measurement before and after its intervention."""

    claim: str
    holds: bool
    before: float
    after: float
    unit: str  # "score": the logit difference in nats; "look": a weight of attention
    facts: dict[str, str | float | int]  # nodes, characters and numbers that the claim names

    @classmethod
    def of(cls, claim: Claim, language: Language) -> "TestedClaim":
        facts = {name: _as_fact(fact) for name, fact in claim.facts.items()}
        about = table(language)[f"receipt_{claim.name}_short"]
        before, after = round(float(claim.before), 3), round(float(claim.after), 3)
        return cls(about, bool(claim.holds), before, after, claim.measured, facts)


@dataclass(frozen=True)
class ExplainedChange:
    """A change, the network's two alternatives, and every claim about it, those that failed, too."""

    change: FoundChange
    alternatives: tuple[str, str]  # the token that was written, and the one of the typed text
    score: float  # of the first against the second, in nats
    claims: list[TestedClaim]
    how_to_read: str


def _as_fact(fact: Fact) -> str | float | int:
    """A fact for JSON; layers and heads count from 1."""
    if isinstance(fact, Node):
        head = "" if fact.head is None else f", head {fact.head + 1}"
        return f"{fact.kind}, layer {fact.layer + 1}{head}"
    return round(float(fact), 3) if isinstance(fact, float) else fact


def tool_server(load: Callable[[], KeepingCorrector]) -> MCPServer:
    """The server of both tools; the corrector is loaded when it is first needed."""
    server = MCPServer(
        "see-attention",
        version=__version__,
        instructions="Corrects Korean spelling and spacing on this machine, and explains each change by "
        "tests inside of the network that made it. Show claims that do not hold as such.",
    )
    loaded, turn = cache(load), Lock()  # a corrector answers one caller at a time

    def found(text: str) -> tuple[str, tuple[Match, ...]]:
        if len(text) > LONGEST:
            raise ToolError(f"a text may have {LONGEST:,} characters")
        correction = loaded().correct(text)
        return correction.text, matches(correction, offers=True)

    @server.tool()
    def correct(text: str, language: Language = "ko") -> CorrectedText:
        """Correct a Korean text. Changes with is_sure=false are only suggestions and are not made.

        Args:
            text: of at most 60,000 characters.
            language: of the reasons.
        """
        with turn:
            corrected, changes = found(text)
        listed = [FoundChange.of(number, match, language) for number, match in enumerate(changes, start=1)]
        return CorrectedText(corrected, listed)

    @server.tool()
    def explain(text: str, number: int = 1, language: Language = "ko") -> ExplainedChange:
        """Explain one change of a text: which characters and parts of the network decided it. Each claim was
        tested by changing what it names and measuring again.

        Args:
            text: as it was given to correct.
            number: of the change, from 1.
            language: of the reasons.
        """
        with turn:
            _, changes = found(text)
            if not 1 <= number <= len(changes):
                raise ToolError(f"the text has {len(changes)} changes, received number {number}")
            match = changes[number - 1]
            edit = Edit(match.sentence.source, match.sentence.text, match.changes[0])
            try:
                explanation = verified_explanation(loaded(), edit)
            except ValueError as error:  # a network, or a change, that no claim is about
                raise ToolError(str(error)) from error
        contrast, say = explanation.contrast, table(language)
        return ExplainedChange(
            FoundChange.of(number, match, language),
            (contrast.written_token, contrast.instead_token),
            round(float(explanation.score), 3),
            [TestedClaim.of(claim, language) for claim in explanation.claims],
            f"{say['receipt_note']} {say['receipt_limits']}",
        )

    return server
