"""Which model a page is about: the choice, and what cannot be chosen."""

from ui import controls, loaders, markup
from ui.texts import say

NAMED = ("transformer", "seq2seq", "growing-up")  # the shipped models that have a name in every language


def choose() -> loaders.ModelEntry | None:
    """The chosen one of the models that can be used; None where there is none. Asks only if there are several.

    What cannot be used is named with its reason.
    """
    entries = loaders.list_entries()
    usable = {loaders.model_id(entry): entry for entry in entries if entry.problem is None}
    first = [name for name in NAMED if name in usable]  # the shipped ones as named, then the own ones
    usable = {id_: usable[id_] for id_ in (*first, *(id_ for id_ in usable if id_ not in first))}
    names = {id_: name_of(entry) for id_, entry in usable.items()}
    chosen = next(iter(usable), None)
    if len(usable) > 1:
        chosen = controls.pick("model", list(usable), names.get, otherwise=chosen)
    for entry in entries:
        if entry.problem is not None:
            markup.paragraph(say("model_unusable", name=name_of(entry), reason=entry.problem), "note")
    return usable.get(chosen)


def name_of(entry: loaders.ModelEntry) -> str:
    """What the visitor calls the model: a shipped one in words, an own one by its folder."""
    shipped = loaders.model_id(entry) in NAMED
    return say(f"model_name_{entry.name.replace('-', '_')}") if shipped else entry.name
