"""The lens of the settings at hand, made without drawing anything: what a phone shows that follows, and what a teacher asks about."""

from dataclasses import replace

from ui.asking import loaders, models, questions
from ui.look.lens import Lens
from ui.look.proposals import Decisions, shown
from ui.look.sentence import MAX_CHARACTERS
from ui.look.stage import chosen_map, chosen_view, of_one_head
from ui.shell import address, controls
from ui.views import EXPERIMENTS, VIEWS
from ui.views.view import View

PAGES = {"attention": (VIEWS, "view"), "laboratory": (EXPERIMENTS, "experiment")}  # those with views


def lens() -> Lens | None:
    """What the main page would show now; None where there is no model, no sentence, or one that is too long."""
    corrector = corrector_of_page()
    text = address.get("sentence")
    if corrector is None or not text.strip() or len(text) > MAX_CHARACTERS:
        return None
    found = Decisions.read().applied(questions.correct(text, corrector), corrector.minimum_confidence)
    sentence, change = shown(found)
    if sentence is None or sentence.too_long:
        return None
    trace = sentence.trace
    return Lens(corrector, sentence, trace, chosen_map(trace), change, controls.theme())


def corrector_of_page() -> loaders.EngineCorrector | None:
    """The chosen model. Raises StillLoading while it is being loaded."""
    entry = models.chosen()
    return None if entry is None else loaders.load_corrector(entry.path)


def view_of(page: str, seen: Lens) -> tuple[View, Lens]:
    """The open view of ``page``, one of PAGES, with the lens that it looks through."""
    views, setting = PAGES[page]
    view, selection = chosen_view(seen.trace, views, setting)
    return view, of_one_head(view, replace(seen, selection=selection))
