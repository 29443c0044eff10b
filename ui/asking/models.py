"""The control that chooses the model of a page. A model that cannot be used is named with its reason."""

from ui.asking import loaders
from ui.shell import address, controls, markup
from ui.wording.texts import say

LIVE = "traced"  # the architecture of a TracedModel
NAMED = ("transformer", "seq2seq", "growing-up")  # the shipped models that have a name in every language


def chosen() -> loaders.ModelEntry | None:
    """The model that the page is about; None if none can be used."""
    found = usable()
    return found[address.get_option("model", list(found), otherwise=next(iter(found)))] if found else None


def choose() -> loaders.ModelEntry | None:
    """Let the visitor choose a model, if there are several, and return it. Models that cannot be used are named with the reason."""
    found = usable()
    if len(found) > 1:
        names = {id_: name_of(entry) for id_, entry in found.items()}
        controls.pick("model", list(found), names.__getitem__, otherwise=next(iter(found)))
    for entry in loaders.list_entries():
        if entry.problem is not None:
            markup.paragraph(say("model_unusable", name=name_of(entry), reason=entry.problem), "note")
    return chosen()


def choose_confidence(corrector: loaders.EngineCorrector | loaders.StandIn) -> None:
    """The control for the minimum confidence: less sure changes are left undone. Not shown for a model that does not say how
    sure it is.
    """
    if corrector.config.architecture == LIVE:
        return
    controls.slide_share("confidence", corrector.minimum_confidence)
    markup.paragraph(say("confidence_meaning"), "note")


def usable() -> dict[str, loaders.ModelEntry]:
    """Id -> model: the live one, the shipped ones as named, then those on disk."""
    found = {loaders.model_id(entry): entry for entry in loaders.list_entries() if entry.problem is None}
    first = [
        *(id_ for id_, entry in found.items() if loaders.is_live(entry)),
        *(n for n in NAMED if n in found),
    ]
    return {id_: found[id_] for id_ in (*first, *(id_ for id_ in found if id_ not in first))}


def name_of(entry: loaders.ModelEntry) -> str:
    """What the visitor calls the model: words for a shipped one, the folder's name for an own one."""
    shipped = loaders.model_id(entry) in NAMED
    return say(f"model_name_{entry.name.replace('-', '_')}") if shipped else entry.name
