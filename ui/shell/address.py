"""What the address bar holds: the view of one session, so that its link opens the same view elsewhere.

Streamlit's own binding writes the labels of options into the address, and labels change with the language.
Here every setting is a short string that means the same in all languages. The address is read once, when a
session starts; afterwards the session leads and the address follows. What a visitor chooses is a step of the browser's
history, what is typed is none.
"""

import re
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine import own_model
from ui.components import live_text
from ui.look import examples

DEFAULTS = {
    "lang": "ko",
    "lecture": "",  # 1: larger type and fewer controls
    "sentence": examples.load()[0].text,
    "model": own_model() or "transformer",
    "confidence": "",  # the lowest of the changes that are made; empty: the model's own
    "part": "",  # which sentence of several, counted from 1; empty: the first that changed
    "kind": "cross_attention",
    "layer": "3",  # of four: where the shipped model aligns what it writes with what it reads
    "head": "mean",
    "view": "heatmap",  # of the sentence: a name of ui/views
    "experiment": "without",  # the open one of the laboratory
    "off": "zero",  # what a head that is switched off puts out: zero or mean
    "instead": "uniform",  # what stands there in place of a head's weights
    "switched_off": "",  # the heads that are off, such as cross_attention.2.3; from 1; none; empty: the strongest
    "painted": "",  # the keys that the visitor gave shares of the weight to, such as 2,3,3; from 1
    "sources_step": "",  # which written character is asked about, counted from 1; empty: where the change begins
    "fork_step": "",  # where the roads part, counted from 1; empty: where the change begins
    "fork_token": "",  # what is written there instead; empty: what was typed, or the likeliest other token
    "twin": "typed",  # what the sentence is compared with: typed, pair or model
    "twin_sentence": "친구의 가치",
    "twin_model": "",
    "twin_difference": "",  # 1 where the second map is shown minus the first
    "step": "",  # of decoding, counted from 1; empty: where the change, or else the first one, begins
    "edit": "",  # which change of the sentence, counted from 1; empty: the whole sentence
    "accepted": "",  # proposals of the whole text that are made although the network is unsure, such as 2,3; from 1
    "rejected": "",  # proposals that are left undone although it is sure
    "marks": "",  # positions in the source that the visitor expects to matter, such as 3,4,5
    "revealed": "",  # 1 once the attention is shown beside the marks
    "around": "12",  # how many tokens left and right of a change can be marked, or all
    "heads": "",  # which heads are drawn as lines, such as 1.2,3.4 (layer.head); empty: those of layer and head
    "mass": "60",  # percent of each row's weight that its lines carry together
    "order": "place",  # of the heads in the overview: place, entropy, distance or edit
    "shown": "weights",  # in the heatmap: weights, or their difference from a plain copy
    "unit": "syllable",  # of its axes: syllable or word
    "unmarked": "",  # 1 where the marks <s> and </s> are left out of it
    "fitted": "",  # 1 where its strongest colour is its largest weight instead of 1
    "logarithmic": "",  # 1 where its colours follow the logarithm of the weight
    "wrote_as": "parts",  # who wrote a character: all parts, or the selected head's map in nats
    "wrote_order": "size",  # of the parts: by size, or in the network's order
    "decided_as": "grid",  # when it was decided: all characters, one character's curve, or jamo
    "decided_part": "final",  # of the syllable
    "decided_side": "decoder",  # or encoder
    "cell": "",  # the chosen cell of an attention map, "row,column" in characters; empty: none
    "q": "0,10,0",  # the classroom's queries, keys and values: rows end at ";", cells at ","
    "k": "10,0,0;0,10,0;0,0,10;0,0,10",
    "v": "1,0;10,0;100,5;1000,6",
    "unscaled": "",  # 1 where the classroom's products are not divided by the root of the width
    "heads_by": "leading",  # what the map of all heads shows: a role, or the effect of taking a head away
    "heads_at": "copied",  # at which characters: copied or edited
    "snapshot": "",  # the training step of the page on growing up; empty: the last
    "grown_role": "own",  # which role of its heads it follows: a name of model.analysis.roles
    "film": "",  # 1 while it shows one snapshot after the other
    "batch": "손니미 왔는데 방이 업써요.\n갠찬아요!\n이제 집에 갈께요.",  # sentences of the masks, one a line
    "batch_row": "",  # which of them is looked into, counted from 1; empty: the shortest
    "masks_kind": "decoder_attention",
    "positions": "64",
    "dimensions": "128",
    "curves": "10,11,30,31",
    "moved": "",  # the position of the character that the page of positions moves; empty: the first that changed
}
LONGEST = 2_000

# What a visitor chooses: the browser's Back takes these back, one by one. The others only change the last step.
STEPS = ("view", "experiment", "kind", "layer", "head", "part", "edit", "accepted", "rejected")
OF_THE_VISITOR = ("lang", "lecture")  # these are no choices about the picture: Back leaves them alone
_CHOSEN_TEXTS = "chosen_texts"  # how many texts were chosen instead of typed
_PAGE = "published_page"  # where the session was last
_FOLLOWED = (
    "followed_back"  # how many times it followed Back or Forward, and the query to which they led last
)

_BAR = st.components.v2.component("address_bar", js=Path(__file__).with_name("address.js").read_text("utf-8"))


def get(name: str) -> str:
    """The setting ``name`` of this session. Raises KeyError for a name that is not in DEFAULTS."""
    return _view()[name]


def put(name: str, value: str) -> None:
    """Change the setting ``name``. Raises KeyError for a name that is not in DEFAULTS.

    In a run that only asks how far a model is (``ui/asking/loading.py``), or lets it read ahead (``ui/components/ahead.py``), nothing
    changes: nobody decided anything. The browser says with each question where its controls stand, and where the
    session has just moved one of them and the browser has not heard of it, the old place looks like a choice.
    """
    if name not in DEFAULTS:
        raise KeyError(f"no setting {name!r}, there are {sorted(DEFAULTS)}")
    if not _runs_a_part():
        _view()[name] = value


def put_head(layer: int, head: int, kind: str | None = None) -> None:
    """Look at this head from now on, of ``kind`` where one is given; both count from 0."""
    if kind is not None:
        put("kind", kind)
    put("layer", str(layer + 1))
    put("head", str(head + 1))


def get_number(name: str, lowest: int, highest: int) -> int:
    """The setting as a whole number; one that is none, or is out of range, falls back to the default."""
    for text in (get(name), DEFAULTS[name]):
        if is_number(text) and lowest <= int(text) <= highest:
            return int(text)
    return lowest


def is_number(text: str) -> bool:
    """Whether ``text`` is a short row of ASCII digits; in a link it may be anything."""
    return text.isascii() and text.isdecimal() and len(text) <= 4


def get_share(name: str) -> float | None:
    """The setting as a number from 0 to 1; None for anything else."""
    text = get(name)
    return float(text) if re.fullmatch(r"0|1|[01]?\.[0-9]{1,4}", text) and float(text) <= 1 else None


def get_option(name: str, options: list[str], otherwise: str | None = None) -> str:
    """The setting as one of ``options``; else the default, ``otherwise`` or the first, whichever is one."""
    return next(text for text in (get(name), DEFAULTS[name], otherwise, options[0]) if text in options)


def told() -> dict[str, str]:
    """What differs from the defaults, in their order: the address of this view.

    A value of more than LONGEST characters stays out: no server would answer a reload of such an address.
    """
    return {
        name: value for name, value in _view().items() if value != DEFAULTS[name] and len(value) <= LONGEST
    }


def publish(page: str) -> None:
    """Write what differs from the defaults into the address bar. ``page`` makes a change of page count."""
    context = get_script_run_ctx(suppress_warning=True)
    st.session_state[_PAGE] = context and context.page_script_hash
    times, query = st.session_state.get(_FOLLOWED, (0, ""))
    given = told()
    data = {
        # Pairs, not a mapping: whether one is a table, Streamlit asks of every mapping, and imports pandas to find out.
        "settings": tuple((name, given.get(name)) for name in DEFAULTS),
        "language": DEFAULTS["lang"],
        "step": [page, st.session_state.get(_CHOSEN_TEXTS, 0), *map(get, STEPS)],
        "session": context and context.session_id,
        "followed": {"times": times, "query": query},
    }
    _BAR(key="address_bar", data=data)


def follow() -> None:
    """Take over the settings of the address to which the browser's Back or Forward led, if that is on the same page.

    To another page the session brings its settings along. This has to come before anything is drawn: whatever is
    drawn may end this run in favour of the next one, which does not know of Back.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not context.is_history_navigation:
        return
    times, _ = st.session_state.get(_FOLLOWED, (0, ""))
    st.session_state[_FOLLOWED] = times + 1, context.query_string
    if context.page_script_hash != st.session_state.get(_PAGE):
        return
    given = st.query_params.to_dict()
    before = get("sentence")
    _view().update({name: given.get(name, DEFAULTS[name]) for name in DEFAULTS if name not in OF_THE_VISITOR})
    if get("sentence") != before:
        live_text.replace()


def note_choice() -> None:
    """The text was chosen, not typed: that is a step to which Back returns."""
    st.session_state[_CHOSEN_TEXTS] = st.session_state.get(_CHOSEN_TEXTS, 0) + 1


def _runs_a_part() -> bool:
    """Whether this run is one of a fragment, in which nobody decides anything."""
    context = get_script_run_ctx(suppress_warning=True)
    return bool(context and context.fragment_ids_this_run)


def _view() -> dict[str, str]:
    try:  # every text of a page asks for its language: a look beforehand would double what that takes
        return st.session_state["view"]
    except KeyError:
        given = st.query_params.to_dict()
        view = {name: given.get(name, default) for name, default in DEFAULTS.items()}
        st.session_state["view"] = view
        return view
