"""All settings of the address: what pages share and what a page alone has stands here, those of a view in its file."""

from collections.abc import Mapping
from functools import cache

import assets
from engine import own_model
from ui.look import examples
from ui.shell.settings import AnySetting, Flag, Number, Ordinal, Subject, Text

PART = Ordinal("part", of="text", is_step=True)  # which sentence of several; empty: the first that changed
EDIT = Ordinal("edit", of="text", is_step=True)  # which change of the sentence; empty: the whole sentence
SHARED: tuple[AnySetting, ...] = (
    Text("lang", "ko", of="visitor"),
    Text("class", of="visitor"),  # the code of the classroom that one is in; empty: none
    Flag("lecture", of="visitor"),  # larger type and fewer controls
    Text("sentence", examples.load()[0].text),  # all that is typed, one sentence or several
    Text("model", own_model() or "transformer"),
    Text("confidence"),  # the lowest of the changes that are made; empty: the model's own
    PART,
    EDIT,
    # Proposals that are made although the network is unsure, or left undone although it is sure: 2,3; from 1.
    Text("accepted", of="text", is_step=True),
    Text("rejected", of="text", is_step=True),
    *(Text(name, first, is_step=True) for name, first in assets.FIRST_MAP.items()),  # kind, layer and head
    Text("cell", of="sentence"),  # the chosen cell of an attention map, "row,column" in tokens, from 0
)
POSITIONS = Number("positions", 2, 512, start=64)
DIMENSIONS = Number("dimensions", 2, 512, start=128, step=2)
OF_PAGES: tuple[AnySetting, ...] = (
    Text("q", "0,10,0"),  # the classroom's queries, keys and values: rows end at ";", cells at ","
    Text("k", "10,0,0;0,10,0;0,0,10;0,0,10"),
    Text("v", "1,0;10,0;100,5;1000,6"),
    Flag("unscaled"),  # the classroom's products are not divided by the root of the width
    Text("heads_by", "leading"),  # what the map of all heads shows: a role, or an effect
    Text("heads_at", "copied"),  # at which characters: copied or edited
    Text("snapshot"),  # the training step of the page on growing up; empty: the last
    Text("grown_role", "own"),  # which role of its heads it follows: a name of model.analysis.roles
    Flag("film"),  # it shows one snapshot after the other
    Text("batch", "손니미 왔는데 방이 업써요.\n갠찬아요!\n이제 집에 갈께요."),  # of the masks, one a line
    Ordinal("batch_row"),  # which of these sentences is looked into; empty: the shortest
    Text("masks_kind", "decoder_attention"),
    POSITIONS,
    DIMENSIONS,
    Text("curves", "10,11,30,31"),
    Text("moved"),  # the position of the character that its page moves, from 0; empty: the first that changed
)


@cache
def settings() -> Mapping[str, AnySetting]:
    """Each setting by its name. A view adds its own by declaring them."""
    from ui.views import ALL_SETTINGS  # later than the lines above, since views read and change the address

    return {setting.name: setting for setting in (*SHARED, *ALL_SETTINGS, *OF_PAGES)}


@cache
def defaults() -> dict[str, str]:
    """Name -> the value that a setting has if the address does not mention it.

    >>> defaults()["mass"], defaults()["step"]
    ('60', '')
    """
    return {name: setting.default for name, setting in settings().items()}


@cache
def steps() -> tuple[str, ...]:
    """The settings whose changes the browser's Back takes back, one by one."""
    return tuple(name for name, setting in settings().items() if setting.is_step)


def names_of(subject: Subject) -> tuple[str, ...]:
    """The names of the settings that are about the text, or about one sentence. Those about a sentence are about the text, too.

    >>> set(names_of("sentence")) < set(names_of("text"))
    True
    """
    subjects = {"text": ("text", "sentence")}.get(subject, (subject,))
    return tuple(name for name, setting in settings().items() if setting.of in subjects)
