"""Finds the reason why a sentence with an error did not come out right."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from training.measure.metrics import edits

if TYPE_CHECKING:
    from model import Correction
    from training.measure.report import Outcome

RIGHT, UNSURE, WRONG_MADE, WRONG_PROPOSED, UNSEEN = (
    "right",
    "unsure",
    "wrong_made",
    "wrong_proposed",
    "unseen",
)
CAUSES = (RIGHT, UNSURE, WRONG_MADE, WRONG_PROPOSED, UNSEEN)


def cause(correction: "Correction", right: str) -> str:
    """The first of these that holds:

    * ``right``: the text came out right;
    * ``unsure``: the proposals are just the edits that are needed, but some were not sure enough to be made;
    * ``wrong_made``: an edit was made that is not needed, or not in this way;
    * ``wrong_proposed``: such an edit was proposed, but not made;
    * ``unseen``: an error has no proposal.
    """
    if correction.text == right:
        return RIGHT
    needed = edits(correction.source, right)
    proposed, made = (
        {(each.source_start, each.source_end, each.right) for each in changes}
        for changes in (correction.proposed, correction.changes)
    )
    if proposed == needed:
        return UNSURE
    if made - needed:
        return WRONG_MADE
    return WRONG_PROPOSED if proposed - needed else UNSEEN


def count_causes(outcomes: Iterable["Outcome"]) -> dict[str, int]:
    """How many sentences with an error have which cause; those without an error are not counted."""
    found = Counter(
        cause(each.correction, each.pair.right) for each in outcomes if each.pair.wrong != each.pair.right
    )
    return {name: found[name] for name in CAUSES}
