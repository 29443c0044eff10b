"""Experiment *teach it*: model editing with a visitor's pairs of sentences.

The pairs and the options are settings, so a link and a class show the same edit, and nothing is stored.
"""

from collections.abc import Sequence
from functools import cached_property

import streamlit as st

import viz
from engine import questions as declared
from model.analysis.edit_effects import EditedText, EditOutcome
from model.analysis.model_editing import MOST_PAIRS, Refusal
from ui.sentence.state import SentenceState
from ui.shell import address, controls, markup
from ui.shell.settings import Choice, Number, Text
from ui.views.drawings import before_after
from ui.views.view import Figures, View, needs_answer, open_head
from ui.wording import head_name, percent, plain_markdown, say

# Mistakes that the network does not mend; of the last one it learns the sentence, and hardly the mistake.
EXAMPLES = (
    ("신발이 헤졌다.", "신발이 해졌다."),
    ("전화 안 받는구만.", "전화 안 받는구먼."),
    ("집밖에 나갔다.", "집 밖에 나갔다."),
)
BETWEEN, AROUND = "→", "\n"  # the sides of a pair in the address, and pairs
PAIRS = Text("taught", BETWEEN.join(EXAMPLES[0]))
LAYER = Choice("taught_layer", ("4", "3", "2", "1"))
WHITENING = Number("taught_whitening", 0, 100, start=100, step=10)
STRENGTH = Number("taught_strength", 0, 200, start=100, step=10)  # 0: unlearned
LONGEST = 100  # characters of each side
MOST_HEADS, MOST_ROWS = 3, 12
FORMULA = r"\Delta = C^{-1} K^\top (K C^{-1} K^\top)^{-1} V \qquad C = (1 - w) I + w\, \mathbb{E}[k k^\top]"


def _pairs() -> tuple[tuple[str, str], ...]:
    """The pairs of the address; a side may be empty while the visitor writes."""
    lines = (line.partition(BETWEEN) for line in address.get(PAIRS.name).split(AROUND))
    found = ((wrong.strip()[:LONGEST], wanted.strip()[:LONGEST]) for wrong, _, wanted in lines)
    return tuple(pair for pair in found if any(pair))[:MOST_PAIRS]


def _put(pairs: Sequence[tuple[str, str]]) -> None:
    address.put(PAIRS.name, AROUND.join(BETWEEN.join(pair) for pair in pairs if any(pair)))


def _write_pairs() -> None:
    """Two lines of text for each pair, and an empty one for the next."""
    pairs = list(_pairs())
    for number, pair in enumerate([*pairs, ("", "")][:MOST_PAIRS]):
        with st.container(horizontal=True, gap="small", key=f"teach_pair_{number}"):
            for side, text in zip(("wrong", "wanted"), pair, strict=True):
                key, start = controls.seed(f"teach_{side}_{number}", text)
                st.text_input(
                    say(f"teach_{side}"),
                    value=start or "",
                    max_chars=LONGEST,
                    key=key,
                    placeholder=say(f"teach_{side}"),
                    label_visibility="collapsed",
                    on_change=_keep_pairs,
                    args=(len(pairs) + 1,),
                )
    with controls.line():
        st.menu_button(
            say("teach_examples"),
            list(range(len(EXAMPLES))),
            format_func=lambda number: EXAMPLES[number][0],
            key="teach_examples",
            on_click=_take_example,
        )
        learned = address.get(STRENGTH.name) != "0"
        text, strength = ("teach_unlearn", "0") if learned else ("teach_again", STRENGTH.default)
        controls.button(say(text), "teach_unlearn", address.put, STRENGTH.name, strength)
        controls.button(say("teach_clear"), "teach_clear", _put, [], disabled=not pairs)


def _keep_pairs(count: int) -> None:
    keys = [[f"teach_{side}_{number}" for side in ("wrong", "wanted")] for number in range(count)]
    told = [[st.session_state.get(key, "") for key in pair] for pair in keys]
    _put([(wrong.replace(BETWEEN, "-"), wanted.replace(BETWEEN, "-")) for wrong, wanted in told])


def _take_example() -> None:
    """The chosen example behind the visitor's own pairs; in place of the last one where there is no room."""
    pairs = [pair for pair in _pairs() if pair != EXAMPLES[st.session_state["teach_examples"]]]
    _put([*pairs[: MOST_PAIRS - 1], EXAMPLES[st.session_state["teach_examples"]]])


def _is_news(found: EditOutcome) -> bool:
    """Whether the sentence of the page is another one than those that were taught."""
    return found.tried is not None and found.tried.pair.wrong not in {each.pair.wrong for each in found.pairs}


def _side(found: EditOutcome, each: EditedText) -> tuple[str, str, str, str]:
    """For ``markup.before_and_after``: the name of a text, the text now, the text before, and a verdict."""
    before = say("teach_before", text=_text(each.before))
    if each is found.tried:
        verdict = "unchanged" if each.before == each.after else "changed"
        return say("teach_tried"), _text(each.after), before, say(f"teach_{verdict}")
    return each.pair.wrong, _text(each.after), before, say(f"teach_{each.outcome}")


def _text(written: str | None) -> str:
    return say("without_no_end") if written is None else written


def _layers(state: SentenceState) -> list[str]:
    """The layers that the network has, the last one first."""
    return [layer for layer in LAYER.options if int(layer) <= state.trace.num_layers]


def _refusal(refusal: Refusal) -> str:
    wrong, wanted, characters = map(plain_markdown, (*refusal.pair, refusal.characters))
    return say(f"teach_refused_{refusal.reason}", wrong=wrong, wanted=wanted, characters=characters)


def _show_heads(state: SentenceState, found: EditOutcome) -> None:
    """The heads whose attention is another one now; a press opens the map of one."""
    if not found.heads:
        markup.paragraph(say("teach_no_heads" if found.size else "teach_unlearned"), "note")
        return
    with controls.line(key="teach_heads"):
        markup.paragraph(say("teach_heads"), "label")
        for each in found.heads[:MOST_HEADS]:
            text, key = f"{head_name(each.head)} · {percent(each.change)}", "_".join(map(str, each.head))
            controls.button(text, f"teach_head_{key}", open_head, state, each.head)


def _table(texts: Sequence[EditedText], label: str, *names: str) -> None:
    """The texts by their wrong sentences; ``names``: columns, of ``before``, ``after`` and ``outcome``."""

    def cells(each: EditedText) -> list[str]:
        told = {"before": _text(each.before), "after": _text(each.after)}
        told["outcome"] = say(f"teach_{each.outcome}")
        return [told[name] for name in names]

    columns = [say(f"teach_column_{name}") for name in names]
    markup.table(columns, [(each.pair.wrong, cells(each)) for each in texts[:MOST_ROWS]], say(label))


def _right(texts: Sequence[EditedText]) -> tuple[int, int]:
    """How many texts are right before and after."""
    both = [(each.before == each.pair.wanted, each.after == each.pair.wanted) for each in texts]
    return sum(was for was, _ in both), sum(now for _, now in both)


class Teach(View):
    """The pairs, the texts before and after, the options, and where else something changed."""

    name, page, order = "teach", "laboratory", 100
    settings = (PAIRS, LAYER, WHITENING, STRENGTH)
    drawn = (LAYER, WHITENING, STRENGTH)
    noted = ("teach_note", "teach_elsewhere_note", "teach_limits")
    formulas = (FORMULA,)
    has_map = False
    intervenes = True
    lacks = staticmethod(needs_answer(declared.edited_network, "lacks_residual"))

    @cached_property
    def outcome(self) -> EditOutcome:
        """The outcome of the edit with the pairs that are complete. Raises EngineError without an answer."""
        layer = min(int(self.values[LAYER.name]), self.state.trace.num_layers) - 1
        complete = tuple(pair for pair in _pairs() if all(pair))
        strengths = self.values[WHITENING.name], self.values[STRENGTH.name]
        asked = declared.Teaching(complete, layer, *strengths, self.state.sentence.source)
        return self.state.ask(declared.edited_network, asked)

    def show(self) -> None:
        _write_pairs()
        found = self.outcome
        for refusal in found.refused:
            st.warning(_refusal(refusal))
        shown = [*found.pairs, *([found.tried] if _is_news(found) and found.tried else [])]
        markup.before_and_after([_side(found, each) for each in shown])
        with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="teach_options"):
            controls.slide(STRENGTH)
            controls.slide(WHITENING)
            controls.choose(LAYER.name, _layers(self.state), lambda layer: say(f"{LAYER.name}_{layer}"))
        self.draw_figures(*self.opened)
        _show_heads(self.state, found)
        for name, texts in (("elsewhere", found.elsewhere), ("behind", found.behind)):
            if texts:
                expanded = name == "elsewhere" or not found.elsewhere
                with st.expander(say(f"teach_{name}_list", count=len(texts)), expanded=expanded):
                    _table(texts, f"teach_{name}", "after", "outcome")
        if found.others:
            with st.expander(say("teach_others_list", count=len(found.others))):
                _table(found.others, "teach_others", "before", "after", "outcome")

    @cached_property
    def figures(self) -> Figures:
        """The share of right texts before and after: the pairs, these behind other words, the same mistake
        elsewhere, the others."""
        found = self.outcome
        healed = [each.outcome for each in found.others]
        kept = found.others_right + healed.count("mended") - healed.count("forgotten")
        counts = {
            "pairs": (*_right(found.pairs), len(found.pairs)),
            "behind": (*_right(found.behind), len(found.behind)),
            "elsewhere": (*_right(found.elsewhere), len(found.elsewhere)),
            "others": (found.others_right, kept, found.num_others),
        }
        rows = [
            viz.Measured(say(f"teach_{name}_short", count=count), 100 * before / count, 100 * after / count)
            for name, (before, after, count) in counts.items()
            if count
        ]
        names = (say("teach_column_before"), say("teach_column_after"))
        return {"teach": (before_after(self.state, rows, say("teach_share"), names), say("teach_label"))}

    def reading(self) -> str:
        found = self.outcome
        if not found.pairs:
            return say("teach_none")
        told = [say("teach_reading", pairs=len(found.pairs), mended=_right(found.pairs)[1])]
        for name, texts in (("behind", found.behind), ("elsewhere", found.elsewhere)):
            if texts:
                told.append(say(f"teach_reading_{name}", count=len(texts), learned=_right(texts)[1]))
        if not found.elsewhere:
            told.append(say("teach_reading_nowhere"))
        others = {"others": found.num_others, "changed": len(found.others), "size": percent(found.size, 1)}
        return " ".join([*told, say("teach_reading_others", **others)])

    def paragraphs(self) -> list[str]:
        sides = [_side(self.outcome, each) for each in self.outcome.pairs]
        return [f"{label} → {text}: {verdict}" for label, text, _, verdict in sides]
